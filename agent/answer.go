package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// answer does what a violation calls for.
func (s *step) answer(ctx context.Context, v *guard.Violation, e *envelope.Envelope) ([]*envelope.Envelope, error) {
	one := func(r *envelope.Envelope, err error) ([]*envelope.Envelope, error) {
		return []*envelope.Envelope{r}, err
	}
	switch v.Answer {
	case guard.Repeat:
		replies, err := s.stored(ctx, e)
		return replies, nothingMore(err)
	case guard.Decline:
		s.enter(e)
		if err := s.take(ctx, e); err != nil {
			return nil, err
		}
		if err := s.utter(ctx, &draft{act: protocol.Utterance{Performative: envelope.Refuse}, err: v.Told()}); err != nil {
			return nil, err
		}
		return one(s.seal(envelope.Ack, e, nil))
	case guard.Misread:
		return one(s.misread(ctx, v, e))
	case guard.Void:
		return one(s.void(v, e))
	case guard.Reject:
		return one(s.reject(ctx, v, e))
	}
	r, err := s.seal(envelope.Nack, e, v.Told())
	return []*envelope.Envelope{r}, nothingMore(err)
}

// maxSteps is how many steps an exchange may have taken before refusals are
// no longer logged: a peer must not fill the log with what is refused.
const maxSteps = 2 * guard.MaxMessages

// nothingMore ends a plan that has nothing to commit, unless it failed.
func nothingMore(err error) error {
	if err != nil {
		return err
	}
	return errNothing
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
	return r, s.apply(ctx, protocol.Send(r))
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
func (s *step) reject(ctx context.Context, v *guard.Violation, e *envelope.Envelope) (*envelope.Envelope, error) {
	r, err := s.seal(envelope.Nack, e, v.Told())
	if err != nil || s.x.Version == 0 || s.x.Version > maxSteps {
		return r, nothingMore(err)
	}
	if v.Reason == guard.ReasonEquivocation {
		// One forgery is evidence; its repetitions only fill the disk.
		if _, err := s.host.store.Message(ctx, s.x.Key, store.Rejected, e.ID()); !errors.Is(err, store.ErrNotFound) {
			return r, nothingMore(err)
		}
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
	if s.x.State.Fence == e.ID() && s.x.State.Done() {
		ack, err := s.host.message(ctx, s.x.Key, store.Sent, s.x.Final)
		if err == nil {
			return []*envelope.Envelope{ack}, nil
		}
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
	told.RetryAfter = s.host.cfg.Terms.Lease
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
		e, err := s.host.Envelope(entry)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}
