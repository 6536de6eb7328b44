package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// step is one step of one exchange in the making: what was read, what is to
// be written, and what must follow once it is committed. A step is computed
// again from the start when another one came first.
type step struct {
	host *Host
	now  time.Time
	x    store.Exchange
	set  store.WriteSet
	// opening is the exchange's opening act, read when it is first needed.
	opening *envelope.Envelope
	// after runs once the step is committed.
	after []func()
	ended bool
	// answered takes the place of the handler: the effect was had before.
	answered *draft
}

// errNothing is what a plan returns when there is nothing to commit.
var errNothing = errors.New("nothing to do")

// maxConflicts bounds how often a step is computed again. Each conflict means
// that some other step went through, so only a defect reaches it.
const maxConflicts = 1000

// step computes and commits one step of the exchange k at the given time. The
// plan may be run several times; it must have no effects but on its step.
func (h *Host) step(ctx context.Context, k store.Key, now time.Time, plan func(*step) error) (*step, error) {
	for range maxConflicts {
		if _, err := h.live(); err != nil {
			return nil, err
		}
		s := &step{host: h, now: now}
		var err error
		if s.x, err = h.store.Exchange(ctx, k); errors.Is(err, store.ErrNotFound) {
			s.x = store.Exchange{Key: k, OpenedAt: now}
		} else if err != nil {
			return nil, fmt.Errorf("reading exchange %s with %s: %w", k.Conversation, k.Peer, err)
		}
		if err := plan(s); errors.Is(err, errNothing) {
			return s, nil
		} else if err != nil {
			return nil, err
		}
		if err := s.finish(ctx); err != nil {
			return nil, err
		}
		// Whoever waits may be gone by now. The step is taken all the same: were
		// it given up half-way, what must follow from it would not.
		err = h.store.Commit(context.WithoutCancel(ctx), s.set)
		if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrDuplicate) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("committing a step of %s with %s: %w", k.Conversation, k.Peer, err)
		}
		for _, f := range s.after {
			f()
		}
		h.watches.wake(k)
		h.bus.tell(k, nil)
		h.report(ctx, Stepped, k, nil, slog.Int64("version", s.set.Exchange.Version+1), slog.String("state", string(s.set.Exchange.State.State)))
		if len(s.set.Outbox) > 0 || s.timed() {
			h.poke()
		}
		return s, nil
	}
	return nil, fmt.Errorf("step of %s with %s: %w", k.Conversation, k.Peer, store.ErrConflict)
}

func (s *step) timed() bool { return len(s.x.State.Timers()) > 0 }

// apply moves the exchange by one input, logs it and carries out in this same
// step whatever acts follow from it.
func (s *step) apply(ctx context.Context, in protocol.Input, entry store.Entry) error {
	before := s.x.State
	next, outputs, err := protocol.Advance(before, s.now, in)
	if err != nil {
		return err
	}
	s.x.State = next
	entry.From, entry.To = before.State, next.State
	s.log(entry)
	for _, o := range outputs {
		switch o.Do {
		case protocol.Utter:
			if err := s.utter(ctx, draft{act: o.Act, err: o.Error}); err != nil {
				return err
			}
		case protocol.Work:
			if s.answered != nil {
				if err := s.utter(ctx, *s.answered); err != nil {
					return err
				}
				continue
			}
			s.work()
		case protocol.Stop:
			s.stop(in)
		case protocol.Absorb:
			s.host.counts.add("absorbed")
		case protocol.End:
			s.ended = true
			s.x.EndedAt = s.now
			s.x.Final = entry.MessageID
		}
	}
	return nil
}

// work starts the handler once the step is committed, unless the step itself
// ends the exchange.
func (s *step) work() {
	k := s.x.Key
	s.after = append(s.after, func() {
		if !s.ended {
			s.host.startJob(k)
		}
	})
}

func (s *step) stop(in protocol.Input) {
	k, cause := s.x.Key, errStop
	if in == protocol.Fire(protocol.TimerReplyBy) {
		cause = errLapsed
	}
	s.after = append(s.after, func() { s.host.jobs.stop(k, cause) })
}

func (s *step) log(e store.Entry) {
	e.Owner, e.Conversation, e.Peer, e.At = s.x.Owner, s.x.Conversation, s.x.Peer, s.now
	s.set.Entries = append(s.set.Entries, e)
}

// entryOf is the log entry of a message.
func entryOf(kind store.EntryKind, on protocol.Event, e *envelope.Envelope) store.Entry {
	return store.Entry{Kind: kind, Event: on, MessageID: e.ID(), Digest: e.Digest(), Envelope: e.WithoutAuth().Bytes()}
}

// tick applies a timer.
func (s *step) tick(ctx context.Context, t protocol.Timer) error {
	return s.apply(ctx, protocol.Fire(t), store.Entry{Kind: store.Fired, Event: t.Firing()})
}

// finish completes the write set: an exchange that ended settles its inbox row
// and its effect.
func (s *step) finish(ctx context.Context) error {
	x := s.x
	s.set.Exchange = &x
	if !s.ended || x.State.Role != protocol.Participant || x.State.Opening == "" {
		return nil
	}
	k := store.InboxKey{Recipient: x.Owner, Sender: x.Peer, MessageID: x.State.Opening}
	if !s.accepts(k) {
		row, err := s.host.store.Inbox(ctx, k)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("reading the inbox row of %s: %w", k.MessageID, err)
		}
		if err == nil && row.Status == store.InProgress {
			s.set.Settle = append(s.set.Settle, store.Settlement{InboxKey: k, Fence: row.Attempt})
		}
	}
	return s.settleEffect(ctx)
}

// accepts reports whether this very step accepts the message: its row is then
// written as settled from the start.
func (s *step) accepts(k store.InboxKey) bool {
	for i := range s.set.Accept {
		if s.set.Accept[i].InboxKey == k {
			s.set.Accept[i].Status = store.Settled
			return true
		}
	}
	return false
}

// open reads the opening act of the exchange.
func (s *step) open(ctx context.Context) (*envelope.Envelope, error) {
	if s.opening != nil {
		return s.opening, nil
	}
	e, err := s.host.openingOf(ctx, s.x)
	if err != nil {
		return nil, err
	}
	s.opening = e
	return e, nil
}

func (h *Host) openingOf(ctx context.Context, x store.Exchange) (*envelope.Envelope, error) {
	kind := store.Received
	if x.State.Role == protocol.Initiator {
		kind = store.Sent
	}
	return h.message(ctx, x.Key, kind, x.State.Opening)
}

// message reads a message back from the log.
func (h *Host) message(ctx context.Context, k store.Key, kind store.EntryKind, id string) (*envelope.Envelope, error) {
	entry, err := h.store.Message(ctx, k, kind, id)
	if err != nil {
		return nil, fmt.Errorf("reading message %s: %w", id, err)
	}
	e, err := envelope.Decode(entry.Envelope)
	if err != nil {
		return nil, fmt.Errorf("message %s in the log of %s: %w", id, k.Owner, err)
	}
	return e, nil
}
