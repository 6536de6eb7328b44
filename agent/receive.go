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

// keyOf names the exchange of a received message.
func keyOf(e *envelope.Envelope) store.Key {
	return store.Key{Owner: e.Receiver(), Conversation: e.Conversation(), Peer: e.Sender()}
}

// receive judges a message and takes the step that it calls for. Of the mail
// that brought it, all but the bytes counts.
func (h *Host) receive(ctx context.Context, e *envelope.Envelope, m Mail) ([]*envelope.Envelope, error) {
	k := keyOf(e)
	var replies []*envelope.Envelope
	var refused *guard.Violation
	var place hold
	defer func() { place.release() }()
	if e.Act() == envelope.Request && asksBack(e.Capability()) {
		h.questions.Lock()
		defer h.questions.Unlock()
	}
	plan := func(s *step) error {
		replies, refused = nil, nil
		s.mail = m
		view, err := s.view(ctx, m.Caller, e)
		if err != nil {
			return err
		}
		verdict := guard.Admit(view, e)
		if verdict == nil && s.x.Version == 0 && e.InReplyTo() == "" && e.Act() != envelope.Cancel {
			place.release() // of an earlier try
			place, verdict = h.occupy(e)
		}
		if verdict == nil {
			if verdict, err = s.question(ctx, e); err != nil {
				return err
			}
		}
		if verdict == nil {
			verdict, err = s.checkEffect(ctx, e)
			if err != nil {
				return err
			}
		}
		var reply *envelope.Envelope
		if verdict == nil {
			if reply, err = s.accept(ctx, e); reply != nil {
				replies = []*envelope.Envelope{reply}
			}
			return err
		}
		v, ok := errors.AsType[*guard.Violation](verdict)
		if !ok {
			return verdict
		}
		refused = v
		replies, err = s.answer(ctx, v, e)
		return err
	}
	var err error
	if m.New {
		_, err = h.firstStep(ctx, k, h.seam.now(), plan)
	} else {
		_, err = h.step(ctx, k, h.seam.now(), plan)
	}
	if refused != nil {
		h.note(refused, e)
	}
	if refused != nil && refused.Reason == guard.ReasonEquivocation {
		h.isolate(context.WithoutCancel(ctx), refused, e)
	}
	return replies, err
}

// note tells the operator what the guard refused.
func (h *Host) note(v *guard.Violation, e *envelope.Envelope) {
	if v.Answer == guard.Repeat {
		h.counts.add("duplicate")
		return
	}
	h.counts.add("violation." + v.Rule)
	h.report(h.running, GuardRefused, keyOf(e), v.Err, slog.String("rule", v.Rule), slog.String("answer", string(v.Answer)),
		slog.String("message", e.ID()), slog.String("code", string(v.Code)), slog.String("reason", v.Reason), slog.String("pointer", v.Pointer))
	h.bus.tell(keyOf(e), &Refused{Rule: v.Rule, Code: v.Code, Reason: v.Reason, Pointer: v.Pointer})
}

// firstStep takes the step that opens an exchange of which nothing is known here. If
// some of what it writes is there after all, its message is known.
func (h *Host) firstStep(ctx context.Context, k store.Key, now time.Time, plan func(*step) error) (*step, error) {
	tried := false
	begin := func() ([]*step, error) {
		if tried {
			return nil, ErrKnown
		}
		tried = true
		s := h.newStep(now)
		s.x = store.Exchange{Key: k, OpenedAt: now}
		return s.alone(), nil
	}
	all, err := h.takeSteps(ctx, begin, func(all []*step) error { return plan(all[0]) })
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

func (s *step) view(ctx context.Context, caller string, e *envelope.Envelope) (guard.View, error) {
	a := s.host.agents[e.Receiver()]
	v := guard.View{Now: s.now, Self: e.Receiver(), Caller: caller, HopLimit: a.budget.Hops, MaxReplyBy: s.host.cfg.Terms.MaxReplyBy,
		MaxMessages: a.budget.Messages}
	v.Contract = func(capability string) *guard.Contract { return s.contract(a, capability) }
	if s.mail.New {
		return v, nil
	}
	if a.budget.Messages > 0 {
		var err error
		if v.Messages, v.MaxMessages, err = s.messages(ctx); err != nil {
			return v, err
		}
	}
	if s.x.Version > 0 {
		v.Exchange = &s.x.State
	}
	row, err := s.host.store.Inbox(ctx, store.InboxKey{Recipient: e.Receiver(), Sender: e.Sender(), MessageID: e.ID()})
	switch {
	case err == nil:
		v.Seen = &row.Digest
	case !errors.Is(err, store.ErrNotFound):
		return v, fmt.Errorf("reading the inbox row of %s: %w", e.ID(), err)
	}
	return v, nil
}

// contract resolves a capability: what the agent answers when it is asked,
// what it asked for when it is answered.
func (s *step) contract(a *Agent, capability string) *guard.Contract {
	if s.x.State.Role == protocol.Initiator {
		return s.host.asked.get(s.x.Owner, capability)
	}
	c := a.find(capability)
	if s.x.Version == 0 && a.retired(c, s.now) {
		return nil
	}
	return c
}

// accept applies a message that the guard let through and acknowledges it, unless
// nobody reads that.
func (s *step) accept(ctx context.Context, e *envelope.Envelope) (*envelope.Envelope, error) {
	if e.ReceiptKind() == "" {
		s.enter(e)
	}
	if err := s.arrived(ctx, e.InReplyTo()); err != nil {
		return nil, err
	}
	if err := s.take(ctx, e); err != nil {
		return nil, err
	}
	if s.receipt != nil {
		return s.receipt, nil
	}
	if s.mail.unread {
		return nil, nil
	}
	return s.seal(envelope.Ack, e, nil)
}

// arrived notes that a message of ours was answered, so that it is not sent
// again for want of a receipt.
func (s *step) arrived(ctx context.Context, messageID string) error {
	if messageID == "" || s.x.Version == 0 {
		return nil
	}
	r, err := s.host.store.OutboxRow(ctx, s.x.Owner, messageID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the outbox row of %s: %w", messageID, err)
	}
	if r.Key() == s.x.Key && r.Status == store.Pending && r.Attempt > 0 {
		s.set.Deliveries = append(s.set.Deliveries, store.Delivery{Owner: r.Owner, MessageID: r.MessageID,
			Status: store.Delivered, Attempt: r.Attempt, NextAt: r.NextAt, LastError: r.LastError})
		s.set.Unbury = append(s.set.Unbury, unburied(r, s.now)...)
	}
	return nil
}

// enter writes the inbox row of a message.
func (s *step) enter(e *envelope.Envelope) {
	row := store.Inbox{
		InboxKey: store.InboxKey{Recipient: e.Receiver(), Sender: e.Sender(), MessageID: e.ID()},
		Digest:   e.Digest(), Conversation: e.Conversation(), Seq: e.Seq(),
		Status: store.Settled, Attempt: 1, AcceptedAt: s.now, ExpiresAt: s.host.cfg.Terms.remember(s.now, e.ReplyBy()),
	}
	if kept := s.host.cfg.Retention; s.mail.New && (kept == 0 || !s.now.Add(kept).Before(row.ExpiresAt)) {
		row.ExpiresAt = time.Time{} // its conversation is kept for no less
	}
	if s.x.Version == 0 && e.InReplyTo() == "" && e.Act() != envelope.Cancel {
		row.Status, row.LeaseUntil = store.InProgress, s.now.Add(s.host.cfg.Terms.Lease)
	}
	s.set.Accept = append(s.set.Accept, row)
}

// take moves the exchange by a message; the first message of a peer opens it.
func (s *step) take(ctx context.Context, e *envelope.Envelope) error {
	if s.x.Version == 0 && s.x.State.State == "" {
		s.x.State = protocol.Open(e.Protocol(), e.Conversation(), e.Receiver(), e.Sender(), protocol.Participant)
		s.x.Correlation = e.Correlation()
		s.x.Task, s.x.Mailbox = s.mail.Task, s.mail.Mailbox
		if c := s.host.agents[e.Receiver()].find(e.Capability()); c != nil {
			s.x.State.MaxRounds = c.Rounds
		}
	}
	if e.InReplyTo() == "" && e.Act() != envelope.Cancel || s.x.State.State == protocol.Start {
		s.opening = e
	}
	if s.awarded(e) {
		s.award = e
	}
	return s.apply(ctx, protocol.Receive(e))
}
