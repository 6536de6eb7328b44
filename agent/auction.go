package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

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
	defer aside(ctx)()
	running, err := v.host.live()
	if err != nil {
		return err
	}
	for first := len(v.rows) == 0; ; first = false {
		changed := a.next()
		if err := v.refresh(ctx, a, first); err != nil {
			return v.host.cause(ctx, err)
		}
		if done() {
			return nil
		}
		late, err := v.host.await(ctx, running, changed, v.lastWord())
		if late {
			err = unheard(v.party)
		}
		if err != nil {
			return err
		}
	}
}

// lastWord is when an auction that does not go on is given up: by then the
// timers of its exchanges have ended them, unless nothing can be written any
// more.
func (v *auction[Call, Bid]) lastWord() time.Time {
	var last time.Time
	for _, x := range v.rows {
		if by := lastWord(x).Add(protocol.Grace); !x.State.Done() && by.After(last) {
			last = by
		}
	}
	return last
}

func (v *auction[Call, Bid]) refresh(ctx context.Context, a *assembly, all bool) error {
	ctx = context.WithoutCancel(ctx)
	moved := a.take()
	if all {
		exchanges, err := v.host.initiated(ctx, v.party)
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
