package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/store"
)

// An exchange whose peer reads what is said to it is a mailbox (see
// store.Exchange): committing an act there is delivering it, and what brings it
// to the peer is a carrier's to say. These are what such a carrier needs.

// taskKey names a task among the watches.
func taskKey(owner, task string) store.Key { return store.Key{Owner: owner, Conversation: task} }

// Follow tells of the next step that is taken under a task: moved is closed
// then. Take it before reading, so that no step falls between, and release it
// afterwards. As long as somebody waits, the peer of a subscription counts as
// present.
func (h *Host) Follow(owner, task string) (moved <-chan struct{}, release func()) {
	return h.tasks.next(taskKey(owner, task))
}

// Heard notes a sign of life of the exchange's peer, such as that it reads what
// is said to it: without any, a subscription ends with its lease. It returns when
// that is durable, which it seldom needs to be.
func (h *Host) Heard(ctx context.Context, x store.Exchange) error {
	if x.State.LeaseBy.IsZero() || x.State.LeaseBy.Sub(h.seam.now()) > renewWhen {
		return nil
	}
	return h.renew(ctx, x.Key)
}

// Posed has f called whenever one of the host's agents asks back a peer that reads
// what is said to it, before the agent waits for the answer: also by the run after
// a crash that comes to the question again. It is for a carrier that may have the
// answer already. about is the exchange that the question is about, and ctx ends
// when the answer is no longer wanted. f may be called at once by several
// goroutines, and the agent waits for it. It is told of what is asked from now on.
func (h *Host) Posed(f func(ctx context.Context, about store.Key)) {
	h.beside.mu.Lock()
	defer h.beside.mu.Unlock()
	h.beside.posed = append(h.beside.posed, f)
}

// posing is what is done when a question was opened: opened, if it is not nil,
// and what carriers have to say.
func (h *Host) posing(ctx context.Context, about store.Key, opened func(conversation string)) func(string) {
	return func(conversation string) {
		if opened != nil {
			opened(conversation)
		}
		h.beside.mu.Lock()
		tell := slices.Clone(h.beside.posed)
		h.beside.mu.Unlock()
		for _, f := range tell {
			f(ctx, about)
		}
	}
}

// ErrEnded: the exchange has ended.
var ErrEnded = errors.New("the exchange has ended")

// Note keeps what the peer of an exchange said beside the protocol, under an id
// of its own: it moves nothing, and stands in the log. The note is canonical
// JSON. A second call with the id is store.ErrDuplicate, one on an exchange that
// has ended ErrEnded. There is room for as many as for messages that are left, and
// for 4 MiB of them; then it is a *Decision(capacity, budget).
func (h *Host) Note(ctx context.Context, k store.Key, messageID string, note []byte) error {
	_, err := h.step(ctx, k, h.seam.now(), func(s *step) error {
		if s.x.Version == 0 {
			return store.ErrNotFound
		}
		if s.x.State.Done() {
			return ErrEnded
		}
		switch _, err := h.store.Message(ctx, k, store.Noted, messageID); {
		case err == nil:
			return store.ErrDuplicate
		case !errors.Is(err, store.ErrNotFound):
			return err
		}
		have, may, err := s.messages(ctx)
		if err != nil {
			return err
		}
		notes, size, err := s.notes(ctx)
		if err != nil {
			return err
		}
		if have+notes >= may-lastActs || size+len(note) > maxNoted {
			return Fail(envelope.CodeCapacity, guard.ReasonBudget)
		}
		s.log(store.Entry{Kind: store.Noted, MessageID: messageID, Note: note, From: s.x.State.State, To: s.x.State.State})
		return nil
	})
	if err != nil {
		return fmt.Errorf("noting message %s: %w", messageID, err)
	}
	return nil
}

// maxNoted bounds the bytes of what is noted in an exchange: whoever reads it reads
// all of them.
const maxNoted = 4 << 20

// notes counts what was noted in the exchange, and its bytes.
func (s *step) notes(ctx context.Context) (n, size int, err error) {
	log, err := s.host.store.Log(ctx, s.x.Owner, s.x.Conversation, 0)
	if err != nil {
		return 0, 0, fmt.Errorf("reading the log of %s: %w", s.x.Conversation, err)
	}
	for _, e := range log {
		if e.Kind == store.Noted && e.Peer == s.x.Peer {
			n++
			size += len(e.Note)
		}
	}
	return n, size, nil
}

// Assign records what a server calls an exchange that was opened there. The
// first name stays: calling with another one is an error.
func (h *Host) Assign(ctx context.Context, k store.Key, task string) error {
	_, err := h.step(ctx, k, h.seam.now(), func(s *step) error {
		switch {
		case s.x.Version == 0:
			return store.ErrNotFound
		case s.x.Task == task:
			return errNothing
		case s.x.Task != "":
			return fmt.Errorf("it is called %s already", s.x.Task)
		}
		s.x.Task = task
		return nil
	})
	if err != nil {
		return fmt.Errorf("naming exchange %s with %s: %w", k.Conversation, k.Peer, err)
	}
	return nil
}
