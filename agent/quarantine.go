package agent

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/store"
)

const (
	// maxQuarantined is how many contradictory messages of one sender each agent
	// keeps. The oldest gives way to the next.
	maxQuarantined = 100
	// maxLetters is how many dead letters of an agent are looked through.
	maxLetters = 10_000
)

// quarantine knows which contradictory messages are kept, so that a flood of
// them costs no more room than a few, nor a look through all of them each time.
type quarantine struct {
	mu sync.Mutex
	// kept are the keys by recipient and sender, oldest first, read are the
	// recipients whose letters were read from the store.
	kept map[[2]string][]store.DeadKey
	read map[string]bool
}

// admit makes room for a letter and returns the keys of those that give way;
// it reports false when the letter is known.
func (q *quarantine) admit(k store.DeadKey) (evicted []store.DeadKey, fresh bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	pair := [2]string{k.Owner, k.Peer}
	list := q.kept[pair]
	if slices.Contains(list, k) {
		return nil, false
	}
	n := max(0, len(list)-maxQuarantined+1)
	q.kept[pair] = append(slices.Clone(list[n:]), k)
	return list[:n], true
}

// forget takes a letter off that is not kept, or not any more.
func (q *quarantine) forget(k store.DeadKey) {
	q.mu.Lock()
	defer q.mu.Unlock()
	pair := [2]string{k.Owner, k.Peer}
	q.kept[pair] = slices.DeleteFunc(q.kept[pair], func(other store.DeadKey) bool { return other == k })
}

// unwritten takes a letter back that could not be written, and keeps those that
// were to give way.
func (q *quarantine) unwritten(k store.DeadKey, evicted []store.DeadKey) {
	q.forget(k)
	q.mu.Lock()
	defer q.mu.Unlock()
	pair := [2]string{k.Owner, k.Peer}
	q.kept[pair] = slices.Concat(evicted, q.kept[pair])
}

// recall reads what is kept for the owner, if that was not done yet.
func (q *quarantine) recall(ctx context.Context, s store.Store, owner string) error {
	q.mu.Lock()
	known := q.read[owner]
	q.mu.Unlock()
	if known {
		return nil
	}
	letters, err := s.DeadLetters(ctx, owner, maxLetters)
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.read[owner] {
		return nil
	}
	if q.read == nil {
		q.read, q.kept = map[string]bool{}, map[[2]string][]store.DeadKey{}
	}
	q.read[owner] = true
	for _, l := range slices.Backward(letters) { // they come newest first
		if l.Source == store.DeadQuarantine {
			pair := [2]string{l.Owner, l.Peer}
			q.kept[pair] = append(q.kept[pair], l.DeadKey)
		}
	}
	return nil
}

// isolate keeps an authentic message that contradicts another one of its
// sender, as evidence.
func (h *Host) isolate(ctx context.Context, v *guard.Violation, e *envelope.Envelope) {
	k := store.DeadKey{Owner: e.Receiver(), Source: store.DeadQuarantine, Peer: e.Sender(), MessageID: e.ID(), Digest: e.Digest()}
	err := h.quarantine.recall(ctx, h.store, k.Owner)
	if err == nil {
		evicted, fresh := h.quarantine.admit(k)
		if !fresh {
			if _, err := h.store.DeadLetter(ctx, k); !errors.Is(err, store.ErrNotFound) {
				return
			}
			h.quarantine.forget(k) // it was dropped or swept meanwhile
			evicted, _ = h.quarantine.admit(k)
		}
		l := store.DeadLetter{DeadKey: k, Conversation: e.Conversation(), Reason: v.Reason, LastError: v.Error(),
			At: h.seam.now(), Envelope: e.WithoutAuth().Bytes()}
		if err = h.store.Commit(ctx, store.WriteSet{Bury: []store.DeadLetter{l}, Unbury: evicted}); err == nil {
			h.buried(ctx, l)
			return
		}
		h.quarantine.unwritten(k, evicted)
	}
	if h.running.Err() == nil {
		h.report(ctx, StoreFailed, keyOf(e), err, slog.String("message", e.ID()))
	}
}
