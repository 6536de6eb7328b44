package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// multiparty reports whether a conversation of the protocol has several
// participants.
func multiparty(name string) bool {
	return name == protocol.ContractNetV1 || name == protocol.GatherV1
}

// assembly is what a host remembers of a live multi-party conversation that one
// of its agents opened, so that no answer of a member makes it read those of
// all others. It says nothing that the store does not: after a restart it is
// made anew.
type assembly struct {
	// key is the conversation, without a peer.
	key     store.Key
	binding protocol.Binding

	// deciding is held while the conversation as a whole is decided on, ending
	// while an exchange of it ends.
	deciding, ending sync.Mutex

	mu sync.Mutex
	// waiting are the members whose answer is awaited, live those whose
	// exchange has not ended.
	waiting, live map[string]bool
	// given counts the contributions of a gather.
	given int
	// reduced is what a gather came to, nil until it is fenced; owing are the
	// members whose receipt of the fence is needed and not there yet.
	reduced *protocol.Reduction
	owing   map[string]bool
	// moved are the members whose exchange moved since it was last asked.
	moved map[string]bool
	// changed is closed, and replaced, when there is something to look at.
	changed chan struct{}
}

// The states of an initiator's row on which decisions depend.
const (
	stateCalled      protocol.State = "called"
	stateProposed    protocol.State = "proposed"
	stateExpired     protocol.State = "expired"
	stateOpen        protocol.State = "open"
	stateContributed protocol.State = "contributed"
	stateAbstained   protocol.State = "abstained"
	stateMissing     protocol.State = "missing"
)

// assemblies are those of the live conversations.
type assemblies struct {
	mu   sync.Mutex
	live map[store.Key]*assembly
}

func conversationKey(k store.Key) store.Key {
	k.Peer = ""
	return k
}

// assembly is that of the conversation that k belongs to, read from the store
// if it is not known.
func (h *Host) assembly(ctx context.Context, k store.Key) (*assembly, error) {
	k = conversationKey(k)
	h.parties.mu.Lock()
	defer h.parties.mu.Unlock()
	if a := h.parties.live[k]; a != nil {
		return a, nil
	}
	a, err := h.assemble(ctx, k)
	if err != nil {
		return nil, fmt.Errorf("reading conversation %s: %w", k.Conversation, err)
	}
	if h.parties.live == nil {
		h.parties.live = map[store.Key]*assembly{}
	}
	if len(a.live) > 0 {
		h.parties.live[k] = a
	}
	return a, nil
}

// dismiss forgets the assembly of a conversation that is over.
func (h *Host) dismiss(a *assembly) {
	h.parties.mu.Lock()
	defer h.parties.mu.Unlock()
	if h.parties.live[a.key] == a {
		delete(h.parties.live, a.key)
	}
}

// initiated are the exchanges of a conversation that its owner opened. Whoever knows
// its id can open others under it, which are no part of what the owner is about.
func (h *Host) initiated(ctx context.Context, k store.Key) ([]store.Exchange, error) {
	all, err := h.store.Exchanges(ctx, k.Owner, k.Conversation)
	if err != nil {
		return nil, fmt.Errorf("reading conversation %s: %w", k.Conversation, err)
	}
	return slices.DeleteFunc(all, func(x store.Exchange) bool { return x.State.Role != protocol.Initiator }), nil
}

// assemble makes the assembly of a conversation from the store.
func (h *Host) assemble(ctx context.Context, k store.Key) (*assembly, error) {
	ctx = context.WithoutCancel(ctx)
	exchanges, err := h.initiated(ctx, k)
	if err != nil {
		return nil, err
	}
	log, err := h.store.Log(ctx, k.Owner, k.Conversation, 0)
	if err != nil {
		return nil, err
	}
	a := &assembly{key: k, waiting: map[string]bool{}, live: map[string]bool{}, moved: map[string]bool{}, changed: make(chan struct{})}
	if err := a.recall(log); err != nil {
		return nil, err
	}
	for _, x := range exchanges {
		a.live[x.Peer] = true
		a.note(x.Peer, x.State)
		a.moved[x.Peer] = true
	}
	return a, nil
}

// recall reads what the log says of the conversation as a whole.
func (a *assembly) recall(log []store.Entry) error {
	for _, e := range log {
		switch e.Kind {
		case store.Bound:
			if err := json.Unmarshal(e.Note, &a.binding); err != nil {
				return fmt.Errorf("entry %d: %w", e.Index, err)
			}
		case store.Reduced:
			var r protocol.Reduction
			if err := json.Unmarshal(e.Note, &r); err != nil {
				return fmt.Errorf("entry %d: %w", e.Index, err)
			}
			a.reduce(r)
		}
	}
	return nil
}

// reduce notes what a gather came to.
func (a *assembly) reduce(r protocol.Reduction) {
	a.reduced, a.owing = &r, map[string]bool{}
	for _, member := range r.Answered {
		a.owing[member] = true
	}
}

// note keeps what the state of one exchange means for the whole.
func (a *assembly) note(member string, x protocol.Exchange) {
	switch x.State {
	case stateOpen, stateCalled:
		a.waiting[member] = true
	default:
		delete(a.waiting, member)
	}
	if x.State == stateContributed {
		a.given++
	}
	if x.Done() {
		delete(a.live, member)
		delete(a.owing, member)
	}
}

// next is closed at the next change. Take it before looking, so that no change
// falls between.
func (a *assembly) next() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.changed
}

// signal wakes whoever waits for a change.
func (a *assembly) signal() {
	a.mu.Lock()
	defer a.mu.Unlock()
	close(a.changed)
	a.changed = make(chan struct{})
}

// moved notes steps of the exchanges of a conversation, and decides on a gather
// when that may be due.
func (h *Host) moved(ctx context.Context, all []*step) {
	telling := func(s *step) bool { return s.decide || s.ended }
	if !slices.ContainsFunc(all, telling) {
		return
	}
	a, err := h.assembly(ctx, all[0].x.Key)
	if err != nil {
		h.report(ctx, StoreFailed, all[0].x.Key, err)
		return
	}
	a.mu.Lock()
	decide := false
	for _, s := range all {
		if !telling(s) {
			continue
		}
		if s.x.State.State != stateContributed || a.waiting[s.x.Peer] {
			a.note(s.x.Peer, s.x.State)
		}
		a.moved[s.x.Peer] = true
		decide = decide || s.decide
	}
	over := len(a.live) == 0
	a.mu.Unlock()
	a.signal()
	if over {
		h.dismiss(a)
		return
	}
	if decide {
		if err := h.reduce(ctx, a, all[0].now); err != nil && h.running.Err() == nil {
			h.report(ctx, WorkFailed, a.key, err)
		}
	}
}

// take returns the members that moved since it was last called.
func (a *assembly) take() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := make([]string, 0, len(a.moved))
	for member := range a.moved {
		list = append(list, member)
	}
	clear(a.moved)
	slices.Sort(list)
	return list
}

// conclude appends the entry that says how the conversation ended.
func (s *step) conclude(c protocol.Conclusion) error {
	terminal, over := c.Terminal()
	if !over {
		return nil
	}
	return s.note(store.Concluded, "", protocol.Closing{Terminal: terminal})
}

// note appends an entry that belongs to the conversation as a whole.
func (s *step) note(kind store.EntryKind, id string, v any) error {
	data, err := canonical(v)
	if err != nil {
		return fmt.Errorf("writing what the conversation came to: %w", err)
	}
	s.set.Entries = append(s.set.Entries, store.Entry{Owner: s.x.Owner, Conversation: s.x.Conversation, At: s.now, Kind: kind, MessageID: id, Note: data})
	return nil
}

// concluding commits steps of which at least one ends an exchange. When none
// of the conversation's is left, it is concluded in the same transaction.
func (h *Host) concluding(ctx context.Context, all []*step, set store.WriteSet) error {
	a, err := h.assembly(ctx, all[0].x.Key)
	if err != nil {
		return err
	}
	a.ending.Lock()
	defer a.ending.Unlock()
	a.mu.Lock()
	left := len(a.live)
	for _, s := range all {
		if s.ended && a.live[s.x.Peer] {
			left--
		}
	}
	a.mu.Unlock()
	if left == 0 {
		c, err := h.conclusion(ctx, a, all)
		if err != nil {
			return err
		}
		last := &step{host: h, now: all[0].now, x: all[0].x}
		if err := last.conclude(c); err != nil {
			return err
		}
		set.Entries = append(set.Entries, last.set.Entries...)
	}
	if err := h.store.Commit(ctx, set); err != nil {
		return err
	}
	// Noted here and not when the steps are followed: by then another step may
	// have ended the conversation, and whoever waits would never hear of these.
	a.mu.Lock()
	for _, s := range all {
		if s.ended {
			a.note(s.x.Peer, s.x.State)
			a.moved[s.x.Peer] = true
		}
	}
	a.mu.Unlock()
	a.signal()
	return nil
}

// learn reads from the store what a gather came to, if it does not know: the
// step that fenced it may have been written though it seemed to fail.
func (h *Host) learn(ctx context.Context, a *assembly) error {
	a.mu.Lock()
	known := a.reduced != nil || a.binding.Gather == nil
	a.mu.Unlock()
	if known {
		return nil
	}
	fresh, err := h.assemble(ctx, a.key)
	if err != nil {
		return fmt.Errorf("reading conversation %s: %w", a.key.Conversation, err)
	}
	a.mu.Lock()
	a.reduced, a.owing = fresh.reduced, fresh.owing
	a.mu.Unlock()
	a.signal()
	return nil
}

// conclusion is what the terminal of the conversation follows from once the
// steps are taken.
func (h *Host) conclusion(ctx context.Context, a *assembly, all []*step) (protocol.Conclusion, error) {
	if err := h.learn(ctx, a); err != nil {
		return protocol.Conclusion{}, err
	}
	a.mu.Lock()
	c := protocol.Conclusion{Awards: a.binding.Awards, Reduction: a.reduced}
	a.mu.Unlock()
	exchanges, err := h.initiated(ctx, a.key)
	if err != nil {
		return c, err
	}
	for _, x := range exchanges {
		if i := slices.IndexFunc(all, func(s *step) bool { return s.x.Key == x.Key }); i >= 0 {
			x = all[i].x
		}
		c.Exchanges = append(c.Exchanges, x.State)
	}
	return c, nil
}
