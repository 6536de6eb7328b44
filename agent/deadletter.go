package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// The reasons for which a message is given up.
const (
	// reasonExhausted: it was sent as often as its author allows.
	reasonExhausted = "exhausted"
	// reasonExpired: its time was over before it was received.
	reasonExpired = "expired"
	// reasonReturned: its receiver refused it for good.
	reasonReturned = "returned"
	// reasonPoison: its work ended the host again and again.
	reasonPoison = "poison"
)

// maxRuns is how many hosts work may end if the configuration says nothing.
const maxRuns = 5

// deadKey names the dead letter of an outgoing message.
func deadKey(row store.Outbox) store.DeadKey {
	return store.DeadKey{Owner: row.Owner, Source: store.DeadOutbox, Peer: row.Receiver, MessageID: row.MessageID}
}

// letter is the dead letter of an outgoing message that is given up now.
func (h *Host) letter(ctx context.Context, row store.Outbox, d store.Delivery, reason string) (store.DeadLetter, error) {
	entry, err := h.store.Message(ctx, row.Key(), store.Sent, row.MessageID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return store.DeadLetter{}, fmt.Errorf("reading message %s: %w", row.MessageID, err)
	}
	return store.DeadLetter{DeadKey: deadKey(row), Conversation: row.Conversation, Reason: reason, LastError: d.LastError,
		Attempts: d.Attempt, At: h.seam.now(), Envelope: entry.Envelope}, nil
}

// buried tells the operator of a dead letter.
func (h *Host) buried(ctx context.Context, l store.DeadLetter) {
	h.counts.add("dead")
	k := store.Key{Owner: l.Owner, Conversation: l.Conversation, Peer: l.Peer}
	h.report(ctx, MessageDead, k, errors.New(l.LastError), slog.String("message", l.MessageID), slog.String("reason", l.Reason),
		slog.String("source", string(l.Source)), slog.Int("attempt", l.Attempts))
}

// giveUp records that a message will not be sent any more, or not before an
// operator says so, with its dead letter unless it has one. A message that was
// answered meanwhile is none.
func (h *Host) giveUp(ctx context.Context, row store.Outbox, d store.Delivery, reason string) bool {
	err := h.bury(ctx, row, d, reason)
	if err == nil && d.Status != store.Pending {
		err = h.store.Commit(ctx, store.WriteSet{Deliveries: []store.Delivery{d}})
		h.jobs.heard(row.Key())
	}
	if errors.Is(err, store.ErrNotPending) {
		return true
	}
	h.unwritten(ctx, row, err)
	return err == nil
}

// bury keeps the dead letter of a message that is still to be sent.
func (h *Host) bury(ctx context.Context, row store.Outbox, d store.Delivery, reason string) error {
	d.Status = store.Pending
	set := store.WriteSet{Deliveries: []store.Delivery{d},
		Redrive: []store.Redrive{{Owner: row.Owner, MessageID: row.MessageID, NextAt: d.NextAt}}}
	_, err := h.store.DeadLetter(ctx, deadKey(row))
	if errors.Is(err, store.ErrNotFound) {
		var l store.DeadLetter
		if l, err = h.letter(ctx, row, d, reason); err == nil {
			set.Bury = append(set.Bury, l)
		}
	}
	if err == nil {
		err = h.store.Commit(ctx, set)
	}
	for _, l := range set.Bury {
		if err == nil {
			h.buried(ctx, l)
		}
	}
	return err
}

// unburied takes the dead letter of a message back that was received after all,
// if it may have one.
func unburied(row store.Outbox, now time.Time) []store.DeadKey {
	if row.MaxAttempts == 0 && now.Add(aboutToEnd).Before(row.ExpiresAt) {
		return nil
	}
	return []store.DeadKey{deadKey(row)}
}

// aboutToEnd is how long before the end of its time a message may be given up
// while a step reads that it is not.
const aboutToEnd = 5 * time.Second

// returned takes the step of a receipt that refuses a message of ours for good,
// and writes the message off in the same transaction.
func (h *Host) returned(ctx context.Context, row store.Outbox, d store.Delivery, in protocol.Input) error {
	if row.Status != store.Pending {
		return h.apply(ctx, row.Key(), in) // it was received before
	}
	l, err := h.letter(ctx, row, d, reasonReturned)
	if err != nil {
		return err
	}
	set := store.WriteSet{Deliveries: []store.Delivery{d}, Bury: []store.DeadLetter{l}}
	taken := false
	_, err = h.step(ctx, row.Key(), l.At, func(s *step) error {
		taken = false
		err := s.apply(ctx, in)
		if _, illegal := errors.AsType[*protocol.Violation](err); illegal {
			return errNothing // the exchange has moved on without the message
		}
		taken = err == nil
		s.set.Deliveries = append(s.set.Deliveries, d)
		s.bury(l)
		return err
	})
	if err == nil && !taken {
		if err = h.store.Commit(ctx, set); err == nil {
			h.buried(ctx, l)
		}
	}
	return err
}

// bury keeps a dead letter in this step.
func (s *step) bury(l store.DeadLetter) {
	s.set.Bury = append(s.set.Bury, l)
	s.after = append(s.after, func() { s.host.buried(s.host.running, l) })
}

// writeOff buries work that is not begun again, if the act that ends it says so.
func (s *step) writeOff(j *job, d *draft) {
	if j.poisoned() && d.err != nil && d.err.Reason == reasonPoison {
		s.bury(j.letter(s.now))
	}
}

// poisoned reports whether too many hosts ended with the work in hand, so that it
// is not begun again.
func (j *job) poisoned() bool {
	most := j.host.cfg.MaxRuns
	if most == 0 {
		most = maxRuns
	}
	return j.runs >= int64(most)
}

// letter is the dead letter of the message that asked for the work.
func (j *job) letter(now time.Time) store.DeadLetter {
	k := store.DeadKey{Owner: j.key.Owner, Source: store.DeadInbox, Peer: j.key.Peer, MessageID: j.opening.ID()}
	return store.DeadLetter{DeadKey: k, Conversation: j.key.Conversation, Reason: reasonPoison, LastError: "the host ended each time it was worked on",
		Attempts: int(j.runs), At: now, Envelope: j.opening.WithoutAuth().Bytes()}
}
