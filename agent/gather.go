package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// GatherTerms say when a gather has what it needs and what is made of it. The
// zero value waits for every member and lists the contributions.
type GatherTerms struct {
	// Policy says what the gather needs. Default: protocol.PolicyAll.
	Policy protocol.Policy
	// Quorum is how many contributions protocol.PolicyQuorum needs.
	Quorum int
	// Reducer makes one value of the contributions. Default:
	// protocol.ReducerOrderedList, under PolicyFirstSuccess
	// protocol.ReducerFirstByCanonicalOrder.
	Reducer protocol.Reducer
}

// Contributed is what one member said.
type Contributed[Contribution any] struct {
	// Member is its URI, Message the id of its message.
	Member, Message string
	Value           Contribution
}

// Gathered is what a gather came to. It says who said what, and nothing about
// whether that is true or allowed: neither a majority nor silence is assent.
type Gathered[Contribution any] struct {
	Conversation string
	// Terminal is how the gather ended.
	Terminal protocol.Terminal
	// Contributions and Dissent are in canonical order: by member, not by
	// arrival.
	Contributions, Dissent []Contributed[Contribution]
	// Abstained are the members that answered without contributing, Missing
	// those that did not answer, or were not waited for. What they would have
	// said is not made up.
	Abstained, Missing []string
	// Value is what the reducer made of the contributions, canonical JSON, and
	// ValueDigest the lower hex sha256 of it, which the fence told the members.
	Value       json.RawMessage
	ValueDigest string
}

// Gather asks every member the same and waits until the gather is closed: its
// policy is met, every member has answered, or the deadline has passed (Within,
// 30 s by default); then each member is sent the fence, and those whose answer
// counted have acknowledged it or have had 10 s to. Members that were not
// needed are told to stop.
//
// Who takes part is fixed before the first message. What did not meet its
// policy gives what there is, together with a *protocol.UnmetError; so does a
// gather of which a needed receipt of the fence is missing. Where nothing can be
// written any more, *protocol.UnknownError comes 25 s after the deadline. What is wrong with
// the terms, such as FIRST_SUCCESS for contributions that have effects, is a
// *protocol.GatherError, and what is wrong with the list of members a
// *MembersError, before anything is sent.
//
// When ctx ends first, the gather is cancelled and ctx's cause returned. When
// the host stops, ErrStopped is: the gather goes on in its next life and is
// fenced there. Inside a handler, conversation, hop and remaining time come from
// ctx, and a second run of the handler meets the first one's gather.
func Gather[In, Contribution any](ctx context.Context, from *Agent, members []string, g protocol.Gathering[In, Contribution], in In, terms GatherTerms, opts ...AskOption) (Gathered[Contribution], error) {
	none := Gathered[Contribution]{}
	q, err := pose(from, "", g, in, opts)
	if err != nil {
		return none, err
	}
	k, err := q.convene(ctx, members, protocol.Binding{Gather: terms.frozen(q.contract.Effects)})
	if err != nil {
		return none, err
	}
	out, err := gathering[Contribution](ctx, q, k)
	if ctx.Err() != nil && out.Terminal == "" {
		q.host.disband(q.host.running, k)
	}
	return out, err
}

// ResumeGather waits for a gather that the agent opened earlier, perhaps before
// a restart, and returns as Gather does; when ctx ends first, the gather goes
// on. It must be given the contract that the gather is about: until then nobody
// here knows what a contribution must look like, and those that come are asked
// to come again. A gather that the store does not have, or that the agent did
// not open, gives store.ErrNotFound.
func ResumeGather[In, Contribution any](ctx context.Context, from *Agent, conversation string, g protocol.Gathering[In, Contribution]) (Gathered[Contribution], error) {
	none := Gathered[Contribution]{}
	bound, err := bindAsked(from, g)
	if err != nil {
		return none, err
	}
	if _, err := from.host.live(); err != nil {
		return none, err
	}
	k := store.Key{Owner: from.URI(), Conversation: conversation}
	exchanges, err := from.host.initiated(ctx, k)
	if err == nil && len(exchanges) == 0 {
		err = store.ErrNotFound
	}
	for _, x := range exchanges {
		if err == nil {
			err = asks(x, bound)
		}
	}
	if err != nil {
		return none, fmt.Errorf("resuming gather %s: %w", conversation, from.host.cause(ctx, err))
	}
	from.host.asked.put(k.Owner, bound)
	return gathering[Contribution](ctx, &question{host: from.host, from: from, contract: bound}, k)
}

// gathering waits for a gather and reads what it came to.
func gathering[Contribution any](ctx context.Context, q *question, k store.Key) (Gathered[Contribution], error) {
	none := Gathered[Contribution]{}
	terminal, reduction, err := q.host.gathered(ctx, k)
	if err != nil {
		return none, err
	}
	out := Gathered[Contribution]{Conversation: k.Conversation, Terminal: terminal,
		Abstained: reduction.Abstained, Missing: reduction.Missing, Value: reduction.Value, ValueDigest: reduction.ValueDigest}
	log, err := q.host.logOf(context.WithoutCancel(ctx), k)
	if err != nil {
		return none, err
	}
	if out.Contributions, err = contributed[Contribution](q, log, reduction.Inputs); err == nil {
		out.Dissent, err = contributed[Contribution](q, log, reduction.Dissent)
	}
	if err != nil {
		return none, err
	}
	if terminal != protocol.TerminalCompleted && terminal != protocol.TerminalDissentRecorded {
		return out, &protocol.UnmetError{Conversation: k.Conversation, Terminal: terminal, Missing: reduction.Missing}
	}
	return out, nil
}

// frozen is the gather that the terms make; convene fills in its members and
// its deadline.
func (t GatherTerms) frozen(effects bool) *protocol.Gather {
	g := &protocol.Gather{Policy: t.Policy, Quorum: t.Quorum, Reducer: t.Reducer, Effects: effects}
	if g.Policy == "" {
		g.Policy = protocol.PolicyAll
	}
	if g.Reducer == "" {
		g.Reducer = protocol.ReducerOrderedList
		if g.Policy == protocol.PolicyFirstSuccess {
			g.Reducer = protocol.ReducerFirstByCanonicalOrder
		}
	}
	return g
}

// contributed reads the contributions with the given message ids.
func contributed[Contribution any](q *question, log []store.Entry, ids []string) ([]Contributed[Contribution], error) {
	entries := map[string]store.Entry{}
	for _, e := range log {
		if e.Kind == store.Received {
			entries[e.MessageID] = e
		}
	}
	list := make([]Contributed[Contribution], 0, len(ids))
	for _, id := range ids {
		e, err := envelope.Decode(entries[id].Envelope)
		if err != nil {
			return nil, fmt.Errorf("message %s in the log of %s: %w", id, q.from.URI(), err)
		}
		v, err := schema.Decode[Contribution](q.contract.Read(q.contract.Contribution), e.Content())
		if err != nil {
			return nil, err
		}
		list = append(list, Contributed[Contribution]{Member: e.Sender(), Message: id, Value: v})
	}
	return list, nil
}

// gathered waits until the gather is fenced and the receipts that it needs are
// there, or have had their time.
func (h *Host) gathered(ctx context.Context, k store.Key) (protocol.Terminal, protocol.Reduction, error) {
	defer aside(ctx)()
	a, err := h.assembly(ctx, k)
	if err != nil {
		return "", protocol.Reduction{}, h.cause(ctx, err)
	}
	running, err := h.live()
	if err != nil {
		return "", protocol.Reduction{}, err
	}
	for {
		changed := a.next()
		a.mu.Lock()
		r, owing := a.reduced, len(a.owing)
		a.mu.Unlock()
		if r != nil && owing == 0 {
			exchanges, err := h.initiated(context.WithoutCancel(ctx), k)
			if err != nil {
				return "", *r, h.cause(context.WithoutCancel(ctx), err)
			}
			return closed(exchanges, r), *r, nil
		}
		late, err := h.await(ctx, running, changed, a.lastWord())
		if late {
			err = unheard(k)
		}
		if err != nil {
			return "", protocol.Reduction{}, err
		}
	}
}

// lastWord is when a gather that is not closed is given up by whoever waits: by
// then its timers have closed it, unless nothing can be written any more.
func (a *assembly) lastWord() time.Time {
	return a.binding.Deadline.Add(protocol.AckWindow + protocol.CancelWindow + ackWindow)
}

// unheard is the error of whoever gave up waiting for a conversation.
func unheard(k store.Key) error {
	return &protocol.UnknownError{Ending: protocol.Ending{Conversation: k.Conversation, Peer: k.Peer,
		Code: envelope.CodeDeadline, Reason: guard.ReasonLate}}
}

// closed is the terminal of a gather once the receipts that it needs are in:
// what the other members still do does not change it.
func closed(exchanges []store.Exchange, r *protocol.Reduction) protocol.Terminal {
	var needed []protocol.Exchange
	for _, x := range exchanges {
		if slices.Contains(r.Answered, x.Peer) {
			needed = append(needed, x.State)
		}
	}
	if len(needed) == 0 {
		return r.Proposed
	}
	terminal, _ := protocol.Conclusion{Exchanges: needed, Reduction: r}.Terminal()
	return terminal
}

// reduce decides on a gather at now, if it can be decided, and fences it: all
// in one step.
func (h *Host) reduce(ctx context.Context, a *assembly, now time.Time) error {
	if !a.ripe(now) {
		return nil
	}
	a.deciding.Lock()
	defer a.deciding.Unlock()
	if !a.ripe(now) {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	var reduction protocol.Reduction
	read := func() ([]store.Exchange, error) { return h.initiated(ctx, a.key) }
	fenced, before := false, false
	// A receipt of the fence may be back before this returns: it waits.
	a.ending.Lock()
	defer a.ending.Unlock()
	_, err := h.steps(ctx, now, read, func(all []*step) error {
		fenced, before = false, all[0].x.State.Fence != ""
		if before {
			return errNothing
		}
		d, err := h.decision(ctx, a, now)
		if err != nil {
			return err
		}
		asked := slices.ContainsFunc(all, func(s *step) bool { return s.x.State.CancelAsked })
		if d.Proposed(asked) == "" {
			return errNothing
		}
		result, err := a.binding.Gather.Reduce(d)
		if err != nil {
			return err
		}
		reduction = d.Reduction(result, asked)
		fenced = true
		return h.fence(ctx, a, all, d, reduction)
	})
	if before && err == nil {
		return h.learn(ctx, a)
	}
	if err != nil || !fenced {
		return err
	}
	a.mu.Lock()
	a.reduce(reduction)
	a.mu.Unlock()
	a.signal()
	return nil
}

// ripe reports whether the gather may be decided: nobody is waited for, the
// policy may be met, or the time is over.
func (a *assembly) ripe(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	g := a.binding.Gather
	if a.reduced != nil || g == nil {
		return false
	}
	return len(a.waiting) == 0 || !now.Before(g.Deadline) ||
		g.Policy == protocol.PolicyQuorum && a.given >= g.Quorum || g.Policy == protocol.PolicyFirstSuccess && a.given > 0
}

// decision looks at what the log has accepted.
func (h *Host) decision(ctx context.Context, a *assembly, now time.Time) (protocol.Decision, error) {
	log, err := h.logOf(ctx, a.key)
	if err != nil {
		return protocol.Decision{}, err
	}
	var accepted []protocol.Contribution
	for _, e := range log {
		if e.Kind != store.Received || e.From != stateOpen || e.To != stateContributed && e.To != stateAbstained {
			continue
		}
		m, err := envelope.Decode(e.Envelope)
		if err != nil {
			return protocol.Decision{}, fmt.Errorf("message %s in the log of %s: %w", e.MessageID, a.key.Owner, err)
		}
		accepted = append(accepted, protocol.Contribute(m))
	}
	return a.binding.Gather.Decide(accepted, now), nil
}

// fence writes what the gather came to and sends the fence to every member.
// Who is still waited for is no longer needed: at the deadline it is missing,
// before that it is told to stop.
func (h *Host) fence(ctx context.Context, a *assembly, all []*step, d protocol.Decision, r protocol.Reduction) error {
	id := envelope.DerivedID("fence", a.key.Owner, a.key.Conversation)
	group := &envelope.Group{ID: id, Size: len(all), MembersDigest: membersDigest(a.binding.Members)}
	salt := h.seam.bytes(saltBytes)
	if err := all[0].note(store.Reduced, envelope.DerivedID("result", id), r); err != nil {
		return err
	}
	for _, s := range all {
		late := s.x.State.Received > 0 && !s.now.Before(s.x.State.ReplyBy) &&
			(s.x.State.State == stateMissing || s.x.State.State == stateOpen)
		if s.x.State.State == stateOpen {
			if err := s.dispense(ctx); err != nil {
				return err
			}
		}
		content, err := canonical(d.Note(r.Result, r.Proposed, s.x.Peer, late))
		if err != nil {
			return fmt.Errorf("writing the fence of %s: %w", a.key.Conversation, err)
		}
		err = s.utter(ctx, &draft{
			act: protocol.Utterance{Performative: envelope.Inform, Status: envelope.Final}, content: content, group: group, salt: salt,
			gather: &envelope.Gather{ID: a.binding.Gather.ID}, fence: &envelope.Fence{ID: id, Proposed: string(r.Proposed)},
		})
		if err != nil {
			return err
		}
		s.decide = false // it is decided
	}
	fencesLast(all)
	return nil
}

// fencesLast puts the fences behind everything else that the steps log: after a
// fence nothing counts any more.
func fencesLast(all []*step) {
	var before, fences []store.Entry
	for _, s := range all {
		for _, e := range s.set.Entries {
			if e.Event == "!fence" {
				fences = append(fences, e)
			} else {
				before = append(before, e)
			}
		}
		s.set.Entries = nil
	}
	all[0].set.Entries = append(before, fences...)
}

// dispense ends the wait for a member: by its timer when that is due, else by a
// cancel.
func (s *step) dispense(ctx context.Context) error {
	if !s.now.Before(s.x.State.ReplyBy) {
		return s.tick(ctx, protocol.TimerGatherBy)
	}
	return s.utter(ctx, &draft{act: protocol.Utterance{Performative: envelope.Cancel}})
}

// disband cancels a multi-party conversation that nobody waits for any more.
func (h *Host) disband(ctx context.Context, k store.Key) {
	h.cancelFailed(ctx, k, h.withdrawAll(ctx, k))
}

// withdrawAll sends cancel in every exchange of a conversation that can be
// cancelled.
func (h *Host) withdrawAll(ctx context.Context, k store.Key) error {
	read := func() ([]store.Exchange, error) {
		exchanges, err := h.initiated(ctx, k)
		return slices.DeleteFunc(exchanges, func(x store.Exchange) bool { return !cancellable(x.State) }), err
	}
	_, err := h.steps(ctx, h.seam.now(), read, func(all []*step) error {
		for _, s := range all {
			if err := s.utter(ctx, &draft{act: protocol.Utterance{Performative: envelope.Cancel}}); err != nil {
				return err
			}
			s.decide = true
		}
		return nil
	})
	return err
}
