package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// Tender is a proposal that stands.
type Tender[Bid any] struct {
	// Bidder is the URI of whoever proposed it.
	Bidder string
	Bid    Bid
	// Until is when it lapses.
	Until time.Time
}

// AuctionTerms say who gets the award. Pick must be set.
type AuctionTerms[Call, Bid any] struct {
	// Pick ranks the proposals of the last round, best first. They come in
	// order of the bidders' URIs. The first ones get the award; those after them
	// stand by, and one of them gets it instead if a proposal has lapsed or was
	// withdrawn by then; whoever is left out is rejected at once. An error rejects
	// all. It is called once, and in a handler what it returned is recorded.
	Pick func(ctx context.Context, bids []Tender[Bid]) ([]Tender[Bid], error)
	// Again, if it is set, may call for better proposals while the auction has
	// rounds left: it gets the number of the round that has ended and its
	// proposals, and returns the next call, or nil to let Pick decide. A new call
	// rejects the proposals before it.
	Again func(ctx context.Context, round int, bids []Tender[Bid]) (*Call, error)
	// Awards is how many bidders get the award. Default: 1.
	Awards int
	// DeliverWithin is how long whoever gets the award may take. Default: 30 s.
	DeliverWithin time.Duration
}

// Delivered is what an award brought.
type Delivered[Bid, Result any] struct {
	Tender[Bid]
	Result Result
}

// Auctioned is what an auction came to.
type Auctioned[Bid, Result any] struct {
	Conversation string
	// Delivered are the awards that were fulfilled, in order of rank.
	Delivered []Delivered[Bid, Result]
	// Failed are the awards that were not, with the typed error of their outcome.
	Failed map[string]error
	// Others are the bidders that got no award, with the typed error of how their
	// exchange ended: refused, rejected and so on; nil if it has not ended yet.
	Others map[string]error
}

// CallForProposals calls several agents for proposals, gives the award to the
// best and waits for what they deliver: a contract net (FIPA SC00029). The
// proposals are due within the time that Within says, 30 s by default; whoever
// answers later is turned down. Each award carries an idempotency key: that of
// Key with the bidder's name, or one derived from the conversation.
//
// When fewer awards than asked for were fulfilled, it returns what there is with
// a *protocol.UnmetError; Failed says why. An award whose outcome is not known is
// never given to somebody else. It returns when the awards are settled: that
// rejected bidders have heard of it is not waited for. Errors of the list of
// bidders are *MembersError.
//
// When ctx ends first, every exchange is cancelled and ctx's cause returned.
// When the host stops, ErrStopped is: proposals that nobody decides on are then
// cancelled at their deadline. Inside a handler, conversation, hop and remaining
// time come from ctx; a second run of the handler meets the first one's auction,
// its recorded choice and its awards.
func CallForProposals[Call, Bid, Result any](ctx context.Context, from *Agent, bidders []string, c protocol.Auction[Call, Bid, Result], call Call,
	terms AuctionTerms[Call, Bid], opts ...AskOption) (Auctioned[Bid, Result], error) {
	none := Auctioned[Bid, Result]{}
	if terms.Pick == nil {
		return none, fmt.Errorf("auction %s: AuctionTerms.Pick is nil", c.Name())
	}
	q, err := pose(from, "", c, call, opts)
	if err != nil {
		return none, err
	}
	k, err := q.convene(ctx, bidders, protocol.Binding{Awards: max(1, terms.Awards), Rounds: c.MaxRounds()})
	if err != nil {
		return none, err
	}
	v := &auction[Call, Bid]{question: q, party: k, terms: terms, rows: map[string]store.Exchange{}}
	out := Auctioned[Bid, Result]{Conversation: k.Conversation, Failed: map[string]error{}, Others: map[string]error{}}
	won, err := v.hold(ctx)
	if err != nil {
		if ctx.Err() != nil {
			q.host.disband(q.host.running, k)
		}
		return none, err
	}
	for bidder, x := range v.rows {
		if x.State.Award == "" {
			out.Others[bidder] = x.State.Err()
		}
	}
	for _, t := range won {
		x := v.rows[t.Bidder]
		if err := x.State.Err(); err != nil {
			out.Failed[t.Bidder] = err
			continue
		}
		final, err := q.host.message(context.WithoutCancel(ctx), x.Key, store.Received, x.Final)
		if err != nil {
			return none, err
		}
		r, err := schema.Decode[Result](q.contract.Read(q.contract.Result), final.Content())
		if err != nil {
			return none, err
		}
		out.Delivered = append(out.Delivered, Delivered[Bid, Result]{Tender: t, Result: r})
	}
	if len(out.Delivered) < max(1, terms.Awards) {
		return out, v.unmet()
	}
	return out, nil
}

// auction is one auction being held.
type auction[Call, Bid any] struct {
	*question
	// party is the conversation.
	party store.Key
	terms AuctionTerms[Call, Bid]
	// rows are the exchanges as they were last read.
	rows map[string]store.Exchange
}

// hold takes the auction from the calls to the settled awards and returns whom
// it was awarded to, in order of rank.
func (v *auction[Call, Bid]) hold(ctx context.Context) ([]Tender[Bid], error) {
	a, err := v.host.assembly(ctx, v.party)
	if err != nil {
		return nil, v.host.cause(ctx, err)
	}
	for {
		if err := v.await(ctx, a, func() bool { return v.count(stateCalled) == 0 }); err != nil {
			return nil, err
		}
		again, err := v.again(ctx)
		if err != nil {
			return nil, err
		}
		if !again {
			break
		}
	}
	ranking, err := v.pick(ctx)
	if err != nil {
		return nil, errors.Join(err, v.reject(ctx, nil))
	}
	if err := v.reject(ctx, ranking); err != nil {
		return nil, err
	}
	return v.settle(ctx, a, ranking)
}

// await reads the exchanges that moved until they are as wanted.
func (v *auction[Call, Bid]) await(ctx context.Context, a *assembly, done func() bool) error {
	running, err := v.host.live()
	if err != nil {
		return err
	}
	for first := len(v.rows) == 0; ; first = false {
		if err := v.refresh(ctx, a, first); err != nil {
			return v.host.cause(ctx, err)
		}
		if done() {
			return nil
		}
		select {
		case <-a.changed:
		case <-running.Done():
			return ErrStopped
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (v *auction[Call, Bid]) refresh(ctx context.Context, a *assembly, all bool) error {
	ctx = context.WithoutCancel(ctx)
	moved := a.take()
	if all {
		exchanges, err := v.host.store.Exchanges(ctx, v.party.Owner, v.party.Conversation)
		if err != nil {
			return err
		}
		for _, x := range exchanges {
			v.rows[x.Peer] = x
		}
		return nil
	}
	for _, member := range moved {
		x, err := v.host.store.Exchange(ctx, v.row(member))
		if err != nil {
			return err
		}
		v.rows[member] = x
	}
	return nil
}

func (v *auction[Call, Bid]) row(member string) store.Key {
	return store.Key{Owner: v.party.Owner, Conversation: v.party.Conversation, Peer: member}
}

func (v *auction[Call, Bid]) count(s protocol.State) int {
	n := 0
	for _, x := range v.rows {
		if x.State.State == s {
			n++
		}
	}
	return n
}

// standing are the proposals that may be accepted now, by bidder.
func (v *auction[Call, Bid]) standing(ctx context.Context) ([]Tender[Bid], int, error) {
	var list []Tender[Bid]
	round := 0
	for member, x := range v.rows {
		round = max(round, x.State.Round)
		if x.State.State != stateProposed {
			continue
		}
		t, err := v.tender(ctx, member, x.State.Trigger)
		if err != nil {
			return nil, 0, err
		}
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b Tender[Bid]) int { return strings.Compare(a.Bidder, b.Bidder) })
	return list, round, nil
}

// tender reads a proposal.
func (v *auction[Call, Bid]) tender(ctx context.Context, member, id string) (Tender[Bid], error) {
	e, err := v.host.message(context.WithoutCancel(ctx), v.row(member), store.Received, id)
	if err != nil {
		return Tender[Bid]{}, err
	}
	bid, err := schema.Decode[Bid](v.contract.Read(v.contract.Bid), e.Content())
	return Tender[Bid]{Bidder: member, Bid: bid, Until: e.ReplyBy()}, err
}

// again opens the next round, if there is one.
func (v *auction[Call, Bid]) again(ctx context.Context) (bool, error) {
	bids, round, err := v.standing(ctx)
	if err != nil || v.terms.Again == nil || len(bids) == 0 || round >= v.contract.Rounds || v.awards() > 0 {
		return false, err
	}
	next, err := chosen(ctx, v.party, fmt.Sprintf("again %d", round), func(ctx context.Context) (*Call, error) { return v.terms.Again(ctx, round, bids) })
	if err != nil || next == nil {
		return false, err
	}
	content, err := schema.Encode(v.contract.Input, *next)
	if err != nil {
		return false, fmt.Errorf("calling again for %s: %w", v.contract.Name, err)
	}
	salt, group := v.host.seam.bytes(saltBytes), v.group(fmt.Sprintf("call %d", round+1), bids)
	err = v.each(ctx, bids, "!cfp", func(s *step) error {
		return s.utter(ctx, draft{act: protocol.Utterance{Performative: envelope.CFP}, content: content, group: group, salt: salt, replyBy: v.by(s.now, v.within)})
	})
	return true, err
}

// by is the deadline of what is asked for at now: within the given time and
// what the asking work has left.
func (v *auction[Call, Bid]) by(now time.Time, within time.Duration) time.Time {
	by := now.Add(within)
	if v.parent != nil {
		if last := v.parent.remaining(now); last.Before(by) {
			by = last
		}
	}
	return by
}

func (v *auction[Call, Bid]) group(what string, bids []Tender[Bid]) *envelope.Group {
	members := make([]string, len(bids))
	for i, t := range bids {
		members[i] = t.Bidder
	}
	return &envelope.Group{ID: derivedID(what, v.party.Owner, v.party.Conversation), Size: len(bids), MembersDigest: membersDigest(members)}
}

// each takes a step in the exchanges of the tenders, all together, as far as
// the step is still possible there; their rows are read anew.
func (v *auction[Call, Bid]) each(ctx context.Context, bids []Tender[Bid], on protocol.Event, plan func(*step) error) error {
	if len(bids) == 0 {
		return nil
	}
	read := func() ([]store.Exchange, error) {
		var list []store.Exchange
		for _, t := range bids {
			x, err := v.host.store.Exchange(ctx, v.row(t.Bidder))
			if err != nil {
				return nil, fmt.Errorf("reading the exchange with %s: %w", t.Bidder, err)
			}
			v.rows[t.Bidder] = x
			if p, err := protocol.Lookup(x.State.Protocol); err == nil && p.Table(protocol.Initiator).Judge(x.State, on) == nil {
				list = append(list, x)
			}
		}
		return list, nil
	}
	ctx = context.WithoutCancel(ctx)
	all, err := v.host.steps(ctx, v.host.seam.now(), read, func(all []*step) error {
		for _, s := range all {
			if err := plan(s); err != nil {
				return err
			}
		}
		return nil
	})
	for _, s := range all {
		v.rows[s.x.Peer] = s.x
	}
	return err
}

// pick ranks the proposals that stand.
func (v *auction[Call, Bid]) pick(ctx context.Context) ([]Tender[Bid], error) {
	bids, _, err := v.standing(ctx)
	if err != nil {
		return nil, err
	}
	if len(bids) == 0 && v.awards() == 0 {
		return nil, nil
	}
	order, err := chosen(ctx, v.party, "pick", func(ctx context.Context) ([]string, error) {
		ranking, err := v.terms.Pick(ctx, slices.Clone(bids))
		if err != nil {
			return nil, err
		}
		return names(bids, ranking)
	})
	if err != nil {
		return nil, fmt.Errorf("picking a proposal for %s: %w", v.contract.Name, err)
	}
	// What an earlier run chose may not stand any more.
	known, err := v.known(ctx)
	if err != nil {
		return nil, err
	}
	ranking := make([]Tender[Bid], 0, len(order))
	for _, name := range order {
		if i := slices.IndexFunc(known, func(t Tender[Bid]) bool { return t.Bidder == name }); i >= 0 {
			ranking = append(ranking, known[i])
		}
	}
	return ranking, nil
}

// names are the bidders of a ranking, each of whom must be among the bids, once.
func names[Bid any](bids, ranking []Tender[Bid]) ([]string, error) {
	list := make([]string, 0, len(ranking))
	for _, t := range ranking {
		if slices.Contains(list, t.Bidder) || !slices.ContainsFunc(bids, func(b Tender[Bid]) bool { return b.Bidder == t.Bidder }) {
			return nil, fmt.Errorf("%q is picked, which proposed nothing or is picked twice", t.Bidder)
		}
		list = append(list, t.Bidder)
	}
	return list, nil
}

// known are all proposals that the log has, the latest of each bidder.
func (v *auction[Call, Bid]) known(ctx context.Context) ([]Tender[Bid], error) {
	log, err := v.host.logOf(context.WithoutCancel(ctx), v.party)
	if err != nil {
		return nil, err
	}
	last := map[string]string{}
	for _, e := range log {
		if e.Kind == store.Received && e.Event == "?propose" {
			last[e.Peer] = e.MessageID
		}
	}
	var list []Tender[Bid]
	for member, id := range last {
		t, err := v.tender(ctx, member, id)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b Tender[Bid]) int { return strings.Compare(a.Bidder, b.Bidder) })
	return list, nil
}

// awards is how many awards were given.
func (v *auction[Call, Bid]) awards() int {
	n := 0
	for _, x := range v.rows {
		if x.State.Award != "" {
			n++
		}
	}
	return n
}

// chosen is a choice of the caller. In a handler it is made once and recorded,
// so that a second run follows the first.
func chosen[T any](ctx context.Context, k store.Key, what string, choose func(context.Context) (T, error)) (T, error) {
	if jobOf(ctx) == nil {
		return choose(ctx)
	}
	return Once(ctx, what+" "+k.Conversation, choose, ReadOnly)
}

// reject turns down the proposals that are not in the ranking.
func (v *auction[Call, Bid]) reject(ctx context.Context, ranking []Tender[Bid]) error {
	bids, _, err := v.standing(ctx)
	if err != nil {
		return err
	}
	bids = slices.DeleteFunc(bids, func(t Tender[Bid]) bool {
		return slices.ContainsFunc(ranking, func(r Tender[Bid]) bool { return r.Bidder == t.Bidder })
	})
	return v.each(ctx, bids, "!refuse", func(s *step) error {
		return s.utter(ctx, draft{act: protocol.Utterance{Performative: envelope.Refuse}, err: envelope.NewError(envelope.CodePermanent, "not-chosen")})
	})
}

// settle gives the awards and waits for what comes of them. Whoever stands by
// gets the award of one whose proposal was no longer there.
func (v *auction[Call, Bid]) settle(ctx context.Context, a *assembly, ranking []Tender[Bid]) ([]Tender[Bid], error) {
	for {
		next := v.next(ranking)
		if len(next) > 0 {
			if err := v.award(ctx, next); err != nil {
				return nil, err
			}
			continue
		}
		pending := v.pending(ranking)
		if pending == 0 {
			break
		}
		if err := v.await(ctx, a, func() bool { return v.pending(ranking) < pending }); err != nil {
			return nil, err
		}
	}
	if err := v.reject(ctx, nil); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(ranking, func(t Tender[Bid]) bool { return v.rows[t.Bidder].State.Award == "" }), nil
}

// next are those who should get an award now: the best that still stand, as
// many as awards are left to give.
func (v *auction[Call, Bid]) next(ranking []Tender[Bid]) []Tender[Bid] {
	left, now := max(1, v.terms.Awards), v.host.seam.now()
	var stand []Tender[Bid]
	for _, t := range ranking {
		switch x := v.rows[t.Bidder]; {
		case x.State.Award != "" && !gone(x):
			left--
		case x.State.State == stateProposed && now.Before(t.Until):
			stand = append(stand, t)
		}
	}
	return stand[:min(max(left, 0), len(stand))]
}

// gone reports whether an award found no proposal any more: it was withdrawn,
// had lapsed or its bidder had given up waiting, and nothing was done. Any other award is never given to somebody
// else.
func gone(x store.Exchange) bool {
	switch x.State.Outcome() {
	case protocol.Withdrawn:
		return true
	case protocol.Failed:
		e := x.State.Error
		return e != nil && (e.Code == envelope.CodeDeadline && e.Reason == "lapsed" || e.Reason == guard.ReasonPostTerminal)
	}
	return false
}

// pending is how many awards nothing has come of yet.
func (v *auction[Call, Bid]) pending(ranking []Tender[Bid]) int {
	n := 0
	for _, t := range ranking {
		if x := v.rows[t.Bidder]; x.State.Award != "" && !x.State.Done() {
			n++
		}
	}
	return n
}

// award accepts the proposals.
func (v *auction[Call, Bid]) award(ctx context.Context, to []Tender[Bid]) error {
	within := v.terms.DeliverWithin
	if within == 0 {
		within = askWithin
	}
	return v.each(ctx, to, "!agree", func(s *step) error {
		return s.utter(ctx, draft{act: protocol.Utterance{Performative: envelope.Agree}, key: v.awardKey(s.x.Peer), replyBy: v.by(s.now, within)})
	})
}

// awardKey is the identity of what the award brings about.
func (v *auction[Call, Bid]) awardKey(bidder string) string {
	switch {
	case v.question.key != "":
		return derivedID("award", v.question.key, bidder)
	case v.parent != nil:
		return derivedID(append(v.parent.business(), "awarded", v.identity, bidder)...)
	}
	return derivedID("award", v.party.Owner, v.party.Conversation, bidder)
}

// unmet is the error of an auction that brought less than it was held for.
func (v *auction[Call, Bid]) unmet() error {
	c := protocol.Conclusion{Awards: max(1, v.terms.Awards)}
	err := &protocol.UnmetError{Conversation: v.party.Conversation, Terminal: protocol.TerminalBlocked}
	for member, x := range v.rows {
		if x.State.State == stateCalled || x.State.State == stateExpired {
			err.Missing = append(err.Missing, member)
			// It has not ended yet, but it has not answered in time.
			x.State.State, x.State.Error = "done:timed_out", envelope.NewError(envelope.CodeDeadline, "lapsed")
		}
		c.Exchanges = append(c.Exchanges, x.State)
	}
	slices.Sort(err.Missing)
	if terminal, over := c.Terminal(); over {
		err.Terminal = terminal
	}
	return err
}
