package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// The terms on which received messages are kept.
const (
	leaseTTL   = 30 * time.Second
	inboxTTL   = 24 * time.Hour
	inboxGrace = time.Hour
	effectTTL  = 7 * 24 * time.Hour
)

// ErrUnreadable: the bytes are no envelope that could be answered.
var ErrUnreadable = errors.New("the message cannot be read or answered")

// Deliver takes one envelope from a carrier and returns the envelopes that
// answer it at once: a receipt, or the stored acts when the message was
// accepted before. It returns when what the message did is durable. An error
// means that there is no answer: the bytes are unreadable (ErrUnreadable), the
// receiver is not here (ErrUnknownPeer) or the host does not run.
func (h *Host) Deliver(ctx context.Context, data []byte) ([][]byte, error) {
	if _, err := h.live(); err != nil {
		return nil, err
	}
	e, err := guard.Open(data)
	if err != nil {
		return h.answerUnread(data, err)
	}
	if h.agents[e.Receiver()] == nil {
		return nil, fmt.Errorf("delivering to %s: %w", e.Receiver(), ErrUnknownPeer)
	}
	replies, err := h.receive(ctx, e)
	if err != nil {
		return nil, err
	}
	if e.ReceiptKind() != "" {
		return nil, nil // no receipt answers a receipt
	}
	return h.carry(replies)
}

// carry makes sealed replies ready for the carrier.
func (h *Host) carry(replies []*envelope.Envelope) ([][]byte, error) {
	var out [][]byte
	for _, r := range replies {
		token, err := h.token(r.Sender(), r.Receiver())
		if err != nil {
			return nil, err
		}
		out = append(out, r.Resend(r.Header().Attempt, token).Bytes())
	}
	return out, nil
}

// answerUnread answers what has a readable sender but a faulty shape.
func (h *Host) answerUnread(data []byte, err error) ([][]byte, error) {
	v, ok := errors.AsType[*guard.Violation](err)
	h.counts.add("violation.shape")
	if !ok || v.Answer == guard.Unreadable {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	nack, err := h.nackUnread(data, v)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return h.carry([]*envelope.Envelope{nack})
}

func (h *Host) nackUnread(data []byte, v *guard.Violation) (*envelope.Envelope, error) {
	of, _ := envelope.Salvage(data)
	if h.agents[of.Receiver] == nil {
		return nil, ErrUnknownPeer
	}
	return envelope.Seal(envelope.Header{
		Receipt: envelope.Nack, Error: v.Told(), Sender: of.Receiver, Receiver: of.Sender, SenderGeneration: h.meta.Generation,
		MessageID: h.seam.id(), ConversationID: of.ConversationID, CorrelationID: of.ConversationID, InReplyTo: of.MessageID,
		Timestamp: h.seam.now(), Labels: envelope.Labels{Integrity: envelope.Peer, Readers: []string{of.Sender}},
		Trace: envelope.Trace{Traceparent: h.seam.traceparent()},
	}, nil)
}

// receive judges a message and takes the step that it calls for.
func (h *Host) receive(ctx context.Context, e *envelope.Envelope) ([]*envelope.Envelope, error) {
	caller := h.authenticate(e)
	k := store.Key{Owner: e.Receiver(), Conversation: e.Conversation(), Peer: e.Sender()}
	var replies []*envelope.Envelope
	_, err := h.step(ctx, k, h.seam.now(), func(s *step) error {
		replies = nil
		view, err := s.view(ctx, caller, e)
		if err != nil {
			return err
		}
		verdict := guard.Admit(view, e)
		if verdict == nil {
			verdict, err = s.checkEffect(ctx, e)
			if err != nil {
				return err
			}
		}
		var reply *envelope.Envelope
		if verdict == nil {
			reply, err = s.accept(ctx, e)
			replies = []*envelope.Envelope{reply}
			return err
		}
		v, ok := errors.AsType[*guard.Violation](verdict)
		if !ok {
			return verdict
		}
		h.note(v, e)
		replies, err = s.answer(ctx, v, e)
		return err
	})
	return replies, err
}

// note tells the operator what the guard refused.
func (h *Host) note(v *guard.Violation, e *envelope.Envelope) {
	if v.Answer == guard.Repeat {
		h.counts.add("duplicate")
		return
	}
	h.counts.add("violation." + v.Rule)
	h.log.Warn("parley.guard.refused", "rule", v.Rule, "answer", string(v.Answer), "sender", e.Sender(), "receiver", e.Receiver(),
		"conversation", e.Conversation(), "message", e.ID(), "code", string(v.Code), "reason", v.Reason, "pointer", v.Pointer)
}

func (s *step) view(ctx context.Context, caller string, e *envelope.Envelope) (guard.View, error) {
	a := s.host.agents[e.Receiver()]
	v := guard.View{Now: s.now, Self: e.Receiver(), Caller: caller}
	if s.x.Version > 0 {
		v.Exchange = &s.x.State
	}
	v.Contract = func(capability string) *guard.Contract { return s.contract(a, capability) }
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
		return s.host.asked.get(capability)
	}
	return a.find(capability)
}

// accept applies a message that the guard let through and acknowledges it.
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
	return s.seal(envelope.Ack, e, nil)
}

// arrived notes that a message of ours was answered, so that it is not sent
// again for want of a receipt.
func (s *step) arrived(ctx context.Context, messageID string) error {
	if messageID == "" || s.x.Version == 0 {
		return nil
	}
	rows, err := s.host.store.Outbox(ctx, s.x.Key)
	if err != nil {
		return fmt.Errorf("reading the outbox of %s: %w", s.x.Conversation, err)
	}
	for _, r := range rows {
		if r.MessageID == messageID && r.Status == store.Pending && r.Attempt > 0 {
			s.set.Deliveries = append(s.set.Deliveries, store.Delivery{Owner: r.Owner, MessageID: r.MessageID,
				Status: store.Delivered, Attempt: r.Attempt, NextAt: r.NextAt, LastError: r.LastError})
		}
	}
	return nil
}

// enter writes the inbox row of a message.
func (s *step) enter(e *envelope.Envelope) {
	row := store.Inbox{
		InboxKey: store.InboxKey{Recipient: e.Receiver(), Sender: e.Sender(), MessageID: e.ID()},
		Digest:   e.Digest(), Conversation: e.Conversation(), Seq: e.Seq(),
		Status: store.Settled, Attempt: 1, AcceptedAt: s.now, ExpiresAt: s.now.Add(inboxTTL),
	}
	if keep := e.ReplyBy().Add(inboxGrace); keep.After(row.ExpiresAt) {
		row.ExpiresAt = keep
	}
	if s.x.Version == 0 && e.Act() != envelope.Cancel {
		row.Status, row.LeaseUntil = store.InProgress, s.now.Add(leaseTTL)
	}
	s.set.Accept = append(s.set.Accept, row)
}

// take moves the exchange by a message; the first message of a peer opens it.
func (s *step) take(ctx context.Context, e *envelope.Envelope) error {
	if s.x.Version == 0 && s.x.State.State == "" {
		h := e.Header()
		s.x.State = protocol.Open(h.Protocol, h.ConversationID, h.Receiver, h.Sender, protocol.Participant)
		s.x.Correlation = h.CorrelationID
	}
	if e.InReplyTo() == "" && e.Act() != envelope.Cancel || s.x.State.State == protocol.Start {
		s.opening = e
	}
	return s.apply(ctx, protocol.Receive(e), entryOf(store.Received, protocol.Receiving(e), e))
}

// answer does what a violation calls for.
func (s *step) answer(ctx context.Context, v *guard.Violation, e *envelope.Envelope) ([]*envelope.Envelope, error) {
	one := func(r *envelope.Envelope, err error) ([]*envelope.Envelope, error) {
		return []*envelope.Envelope{r}, err
	}
	switch v.Answer {
	case guard.Repeat:
		replies, err := s.stored(ctx, e)
		return replies, errors.Join(err, errNothing)
	case guard.Decline:
		s.enter(e)
		if err := s.take(ctx, e); err != nil {
			return nil, err
		}
		if err := s.utter(ctx, draft{act: protocol.Utterance{Performative: envelope.Refuse}, err: v.Told()}); err != nil {
			return nil, err
		}
		return one(s.seal(envelope.Ack, e, nil))
	case guard.Misread:
		return one(s.misread(ctx, v, e))
	case guard.Void:
		return one(s.void(v, e))
	case guard.Reject:
		return one(s.reject(v, e))
	}
	r, err := s.seal(envelope.Nack, e, v.Told())
	return []*envelope.Envelope{r}, errors.Join(err, errNothing)
}

// misread opens the exchange and answers not-understood in one step. A
// protocol without a table here leaves no exchange behind.
func (s *step) misread(ctx context.Context, v *guard.Violation, e *envelope.Envelope) (*envelope.Envelope, error) {
	r, err := s.seal(envelope.NotUnderstood, e, v.Told())
	if err != nil {
		return nil, err
	}
	if _, err := protocol.Lookup(e.Header().Protocol); err != nil {
		return r, errNothing
	}
	s.enter(e)
	if err := s.take(ctx, e); err != nil {
		return nil, err
	}
	return r, s.apply(ctx, protocol.Send(r), entryOf(store.Sent, protocol.Sending(r), r))
}

// void ends the exchange over a terminal act that cannot be used.
func (s *step) void(v *guard.Violation, e *envelope.Envelope) (*envelope.Envelope, error) {
	before := s.x.State.State
	s.x.State = protocol.Void(s.x.State, e, v.Told())
	s.x.EndedAt, s.ended = s.now, true
	s.enter(e)
	entry := entryOf(store.Rejected, protocol.Receiving(e), e)
	entry.From, entry.To, entry.Reason = before, s.x.State.State, v.Reason
	s.log(entry)
	return s.seal(envelope.Nack, e, v.Told())
}

// reject logs a refused message and moves the cursor past it, nothing else.
func (s *step) reject(v *guard.Violation, e *envelope.Envelope) (*envelope.Envelope, error) {
	r, err := s.seal(envelope.Nack, e, v.Told())
	if err != nil || s.x.Version == 0 {
		return r, errors.Join(err, errNothing)
	}
	if v.Reason != guard.ReasonEquivocation {
		s.enter(e)
		s.x.State = protocol.Consume(s.x.State, e)
	}
	entry := entryOf(store.Rejected, protocol.Receiving(e), e)
	entry.From, entry.To, entry.Reason = s.x.State.State, s.x.State.State, v.Reason
	s.log(entry)
	return r, nil
}

// stored answers a duplicate: with what became of the message, in order, or
// with nack(in-progress) while its work has not said anything yet.
func (s *step) stored(ctx context.Context, e *envelope.Envelope) ([]*envelope.Envelope, error) {
	entry, err := s.host.store.Message(ctx, s.x.Key, store.Rejected, e.ID())
	if err == nil && entry.Digest == e.Digest() {
		r, err := s.seal(envelope.Nack, e, envelope.NewError(s.codeOf(entry.Reason), entry.Reason))
		return []*envelope.Envelope{r}, err
	}
	if s.x.State.Role == protocol.Initiator || e.ID() != s.x.State.Opening && e.Act() != envelope.Cancel {
		r, err := s.seal(envelope.Ack, e, nil)
		return []*envelope.Envelope{r}, err
	}
	replies, err := s.unreceipted(ctx)
	if err != nil || len(replies) > 0 {
		return replies, err
	}
	told := envelope.NewError(envelope.CodeTransient, guard.ReasonInProgress)
	told.RetryAfter = leaseTTL
	row, err := s.host.store.Inbox(ctx, store.InboxKey{Recipient: e.Receiver(), Sender: e.Sender(), MessageID: e.ID()})
	if err == nil && row.LeaseUntil.After(s.now) {
		told.RetryAfter = row.LeaseUntil.Sub(s.now)
	}
	r, err := s.seal(envelope.Nack, e, told)
	return []*envelope.Envelope{r}, err
}

// codeOf is the code of the final nack that was given for the reason.
func (s *step) codeOf(reason string) envelope.Code {
	switch reason {
	case guard.ReasonLate:
		return envelope.CodeDeadline
	case guard.ReasonPostTerminal:
		if s.x.State.Closed {
			return envelope.CodeCancelled
		}
	case guard.ReasonSchema, guard.ReasonMalformed, guard.ReasonUnsupportedVersion, guard.ReasonUnsupportedProtocol:
		return envelope.CodeValidation
	}
	return envelope.CodePermanent
}

// unreceipted are the acts of the exchange that the peer has not receipted,
// in order, and at least the latest.
func (s *step) unreceipted(ctx context.Context) ([]*envelope.Envelope, error) {
	log, err := s.host.store.Log(ctx, s.x.Owner, s.x.Conversation, 0)
	if err != nil {
		return nil, fmt.Errorf("reading the log of %s: %w", s.x.Conversation, err)
	}
	rows, err := s.host.store.Outbox(ctx, s.x.Key)
	if err != nil {
		return nil, fmt.Errorf("reading the outbox of %s: %w", s.x.Conversation, err)
	}
	waiting := map[string]bool{}
	for _, r := range rows {
		waiting[r.MessageID] = r.Status == store.Pending
	}
	var sent []store.Entry
	for _, entry := range log {
		if entry.Kind == store.Sent && entry.Peer == s.x.Peer {
			sent = append(sent, entry)
		}
	}
	var out []*envelope.Envelope
	for i, entry := range sent {
		if !waiting[entry.MessageID] && i < len(sent)-1 {
			continue
		}
		e, err := envelope.Decode(entry.Envelope)
		if err != nil {
			return nil, fmt.Errorf("message %s in the log of %s: %w", entry.MessageID, s.x.Owner, err)
		}
		out = append(out, e)
	}
	return out, nil
}
