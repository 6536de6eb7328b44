package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

const (
	// unwrittenBackoff is the wait after a step that could not be committed.
	unwrittenBackoff = time.Second
	// dueBatch is how many rows are looked at, maxBatch how many at most when
	// those at hand must wait.
	dueBatch = 64
	maxBatch = 64 << 10
)

// poke makes the loop look again.
func (h *Host) poke() {
	select {
	case h.out.wake <- struct{}{}:
	default:
	}
}

// mind makes the loop look in time for what a committed step asks for: what it
// sends, what may leave now that something before it is done with, and its timers.
func (h *Host) mind(s *step) {
	if len(s.set.Outbox)+len(s.set.DropUnsent)+len(s.set.Deliveries)+len(s.set.Redrive) > 0 {
		h.poke()
		return
	}
	if next, runs := s.x.State.NextAlarm(); runs {
		h.out.lookBy(next.At)
	}
}

// pump sends what may leave and fires what is due, until the host ends.
func (h *Host) pump() {
	ctx := h.running
	defer h.out.look() // no alarm is left behind
	for ctx.Err() == nil {
		h.out.look()
		next := h.look(ctx)
		if ctx.Err() != nil {
			return
		}
		h.out.rest(next)
		h.seam.wait(h.out.wake, ctx.Done())
	}
}

// look does what is due and returns when to look again although nothing else
// happens, zero if never.
func (h *Host) look(ctx context.Context) time.Time {
	// Those whose receivers have no room, or are left alone, stay due. They may
	// fill a batch: then a larger one has somebody else's too.
	for limit := dueBatch; ; limit *= 4 {
		now := h.seam.now()
		due, err := h.store.Due(ctx, h.owners, now, limit)
		if err != nil {
			if ctx.Err() == nil {
				h.report(ctx, StoreFailed, store.Key{}, err)
			}
			return now.Add(h.cfg.Terms.RetryFirst)
		}
		for _, t := range due.Timers {
			h.claim("timer "+t.Owner+t.Conversation+t.Peer+string(t.Name), func() bool { return h.fire(ctx, t) })
		}
		handed, next := h.post(ctx, due.Outbox, now)
		if handed > 0 || len(due.Outbox) < limit || limit >= maxBatch {
			return sooner(due.Next, next)
		}
	}
}

// claim runs f unless the same thing is running already, and looks again
// afterwards, since what was done may have made something else due. When f
// could not write what it did, as on a full disk, the same thing is still due:
// it is claimed for a while longer, so that nobody tries in a circle.
func (h *Host) claim(name string, f func() (written bool)) {
	if !h.out.take(name) {
		return
	}
	release := func() {
		h.out.drop(name)
		h.poke()
	}
	h.spawn(func() {
		if f() {
			release()
			return
		}
		h.seam.clock.At(h.seam.now().Add(unwrittenBackoff), release)
	})
}

// fire takes the step of a timer, at the time at which it was due.
func (h *Host) fire(ctx context.Context, t store.Timer) bool {
	_, err := h.step(ctx, t.Key, t.At, func(s *step) error {
		// A sign of life may have put it off since it was listed as due.
		if at, running := s.x.State.Timers()[t.Name]; !running || at.After(t.At) {
			return errNothing
		}
		return s.tick(ctx, t.Name)
	})
	if err != nil && ctx.Err() == nil {
		h.report(ctx, TimerFailed, t.Key, err, slog.String("timer", string(t.Name)))
	}
	return err == nil
}

// send hands one message to its carrier and records what came of it.
func (h *Host) send(ctx context.Context, row store.Outbox) bool {
	now := h.seam.now()
	row, due, err := h.stillDue(ctx, row, now)
	if err != nil || !due {
		return err == nil
	}
	delivery := store.Delivery{Owner: row.Owner, MessageID: row.MessageID, Attempt: row.Attempt, Status: store.Pending}
	if now.After(row.ExpiresAt) {
		delivery.Status, delivery.NextAt, delivery.LastError = store.Dead, row.NextAt, row.LastError
		return h.giveUp(ctx, row, delivery, reasonExpired)
	}
	delivery.Attempt++
	if delivery.Attempt > 1 {
		h.counts.add("resend")
	}
	// The attempt is durable before the bytes leave: a crash in between costs
	// a number, never a second first attempt.
	delivery.NextAt = again(row, delivery.Attempt, now, h.cfg.CarrierTimeout+h.backoff(row, delivery.Attempt))
	if !h.record(ctx, row, delivery) {
		return false
	}
	if delivery.Attempt == 1 {
		// A cancel that was written meanwhile has dropped it, and says that it never left.
		if row, err = h.store.OutboxRow(ctx, row.Owner, row.MessageID); err != nil || row.Status != store.Pending {
			h.unwritten(ctx, row, err)
			return err == nil
		}
	}
	sent, err := h.transmit(ctx, row, delivery.Attempt)
	if ctx.Err() != nil {
		return false
	}
	if err == nil {
		err = h.settle(ctx, sent, row, &delivery)
	}
	if err != nil {
		delivery.Status, delivery.LastError = store.Pending, err.Error()
		wait := h.backoff(row, delivery.Attempt)
		if later, ok := errors.AsType[*LaterError](err); ok {
			wait = max(wait, later.After)
		}
		delivery.NextAt = again(row, delivery.Attempt, h.seam.now(), wait)
		h.report(ctx, SendFailed, row.Key(), err, slog.String("message", row.MessageID), slog.Int("attempt", delivery.Attempt))
	}
	if delivery.Status == store.Pending && spent(row, delivery.Attempt) {
		return h.giveUp(ctx, row, delivery, reasonExhausted)
	}
	return h.record(ctx, row, delivery)
}

// stillDue reads the row again: since it was listed as due, another send of it
// may have come and gone, and a stale row would repeat its attempt.
func (h *Host) stillDue(ctx context.Context, listed store.Outbox, now time.Time) (store.Outbox, bool, error) {
	row, err := h.store.OutboxRow(ctx, listed.Owner, listed.MessageID)
	if errors.Is(err, store.ErrNotFound) {
		return listed, false, nil
	}
	if err != nil {
		if ctx.Err() == nil {
			h.report(ctx, StoreFailed, listed.Key(), err, slog.String("message", listed.MessageID))
		}
		return listed, false, err
	}
	return row, row.Status == store.Pending && !row.NextAt.After(now), nil
}

func (h *Host) record(ctx context.Context, row store.Outbox, d store.Delivery) bool {
	err := h.store.Commit(ctx, store.WriteSet{Deliveries: []store.Delivery{d}})
	if err == nil && d.Status != store.Pending {
		h.jobs.heard(row.Key())
	}
	h.unwritten(ctx, row, err)
	return err == nil
}

// unwritten reports why what became of a message could not be written.
func (h *Host) unwritten(ctx context.Context, row store.Outbox, err error) {
	if err != nil && ctx.Err() == nil {
		h.report(ctx, StoreFailed, row.Key(), err, slog.String("message", row.MessageID))
	}
}

// transmission is what was sent and what came back, and whether the link that
// brought it vouches for it.
type transmission struct {
	message *envelope.Envelope
	replies [][]byte
	vouched bool
}

// transmit sends the bytes of one attempt.
func (h *Host) transmit(ctx context.Context, row store.Outbox, attempt int) (transmission, error) {
	var none transmission
	e, err := h.message(ctx, row.Key(), store.Sent, row.MessageID)
	if err != nil {
		return none, err
	}
	link, ok := h.dir.find(row.Receiver)
	if !ok {
		return none, fmt.Errorf("sending to %s: %w", row.Receiver, errUnreachable)
	}
	token, err := h.Token(row.Owner, row.Receiver)
	if err != nil {
		return none, err
	}
	host := ctx
	ctx, cancel := until(ctx, h.seam.clock, h.seam.now().Add(h.cfg.CarrierTimeout))
	defer cancel()
	replies, err := link.transport.Send(ctx, e.Resend(attempt, token).Bytes())
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if host.Err() == nil {
		h.carried(host, row.Key(), err)
	}
	return transmission{e, replies, link.vouches}, err
}

// settle reads what came back with a message: its receipt, or the stored acts
// of an exchange that had it already.
func (h *Host) settle(ctx context.Context, sent transmission, row store.Outbox, d *store.Delivery) error {
	if len(sent.replies) == 0 {
		return errors.New("the carrier brought no answer")
	}
	for _, data := range sent.replies {
		e, err := guard.Open(data)
		if err != nil {
			return fmt.Errorf("answer of %s: %w", row.Receiver, err)
		}
		if e.Receiver() != row.Owner || e.Sender() != row.Receiver || !sent.vouched && h.authenticate(ctx, e, false) != row.Receiver {
			return fmt.Errorf("answer of %s: it is not from there", row.Receiver)
		}
		if e.ReceiptKind() == "" {
			d.Status = store.Delivered
			if _, err := h.receive(ctx, e, Mail{Caller: row.Receiver}); err != nil {
				return err
			}
			continue
		}
		if e.InReplyTo() != row.MessageID {
			return fmt.Errorf("answer of %s: it answers another message", row.Receiver)
		}
		if err := h.receipt(ctx, sent.message, row, d, e); err != nil {
			return err
		}
	}
	return nil
}

// receipt applies a receipt of a message of ours.
func (h *Host) receipt(ctx context.Context, sent *envelope.Envelope, row store.Outbox, d *store.Delivery, e *envelope.Envelope) error {
	told := e.Err()
	switch {
	case e.ReceiptKind() == envelope.Ack && sent.Header().Fence != nil:
		d.Status = store.Delivered
		return h.apply(ctx, row.Key(), protocol.Receive(e))
	case e.ReceiptKind() == envelope.Ack:
		d.Status = store.Delivered
		return h.renew(ctx, row.Key())
	case told != nil && told.Reason == guard.ReasonInProgress:
		// The receiver has it and works on it.
		d.Status = store.Delivered
		return nil
	case told != nil && told.Retriable:
		d.NextAt = again(row, d.Attempt, h.seam.now(), max(told.RetryAfter, h.backoff(row, d.Attempt)))
		d.LastError = told.Reason
		return nil
	}
	d.Status = store.Returned
	if told != nil {
		d.LastError = string(told.Code) + " " + told.Reason
	}
	in := protocol.Refusal(e)
	if e.ReceiptKind() == envelope.NotUnderstood {
		in = protocol.Receive(e)
	}
	return h.returned(ctx, row, *d, in)
}

// apply takes the step of a receipt that moves an exchange.
func (h *Host) apply(ctx context.Context, k store.Key, in protocol.Input) error {
	_, err := h.step(ctx, k, h.seam.now(), func(s *step) error {
		err := s.apply(ctx, in)
		if _, illegal := errors.AsType[*protocol.Violation](err); illegal {
			return errNothing // the exchange has moved on without the message
		}
		return err
	})
	return err
}
