package a2a

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

const (
	// foreignWithin is how long the work may take that a client without
	// deadlines asks for.
	foreignWithin = 15 * time.Minute
	// subscribedWithin is how long its subscriptions last.
	subscribedWithin = 24 * time.Hour
	// foreignGeneration is the generation of who has no store that is known here.
	foreignGeneration = 1
)

// takeForeign takes a message that is no envelope: it opens an exchange, answers
// the question that its task asks, or is kept with it.
func (s *service) takeForeign(ctx context.Context, c wire.Call, m *wire.Message, blocking bool) (store.Exchange, error) {
	kept, err := originalOf(m)
	if err != nil {
		return store.Exchange{}, err
	}
	caller, err := s.caller(ctx, c)
	if err != nil {
		return store.Exchange{}, err
	}
	id := foreignID(caller, m.MessageID)
	// What is read here decides what is sealed: one message under an id at a time,
	// and one on a task.
	defer s.locks.lock(id)()
	if m.TaskID == "" {
		// Most messages are new, which the host finds out for itself. Whatever else
		// becomes of one that was taken before, its answer stays what it was.
		x, err := s.openForeign(ctx, c, caller, id, m, kept, blocking)
		if err != nil {
			if before, err := s.earlier(ctx, caller, id, kept, m); err != nil || before != nil {
				return found(before, err)
			}
		}
		return x, err
	}
	defer s.locks.lock(m.TaskID)()
	if before, err := s.earlier(ctx, caller, id, kept, m); err != nil || before != nil {
		return found(before, err)
	}
	return s.followUp(ctx, c, caller, id, m, kept)
}

// found is an exchange that was looked for, or why it was not found.
func found(x *store.Exchange, err error) (store.Exchange, error) {
	if err != nil {
		return store.Exchange{}, err
	}
	return *x, nil
}

// foreignID is the envelope's id of a foreign message.
func foreignID(sender, messageID string) string { return envelope.DerivedID(sender, messageID) }

// earlier is the exchange that the message was taken into before, nil if it was
// not. Another message under the same id is refused.
func (s *service) earlier(ctx context.Context, caller, id string, kept original, m *wire.Message) (*store.Exchange, error) {
	row, err := s.host.Store().Inbox(ctx, store.InboxKey{Recipient: s.uri, Sender: caller, MessageID: id})
	switch {
	case errors.Is(err, store.ErrNotFound) && m.TaskID != "":
		return s.noted(ctx, caller, id, kept, m)
	case errors.Is(err, store.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	k := store.Key{Owner: s.uri, Conversation: row.Conversation, Peer: caller}
	x, err := s.host.Store().Exchange(ctx, k)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entry, err := s.host.Store().Message(ctx, k, store.Received, id)
	if err != nil {
		return nil, err
	}
	e, err := s.host.Envelope(entry)
	if err != nil {
		return nil, err
	}
	before, err := keptIn(e)
	if err != nil {
		return nil, err
	}
	if before == nil || !before.same(kept) {
		return nil, reused
	}
	return s.main(ctx, x)
}

var reused = invalid("message.messageId", "was used for another message")

// noted is the exchange with which the message was kept before.
func (s *service) noted(ctx context.Context, caller, id string, kept original, m *wire.Message) (*store.Exchange, error) {
	list, err := s.host.Store().Tasks(ctx, s.uri, m.TaskID)
	if err != nil {
		return nil, err
	}
	x, err := taskIn(list, caller, m.TaskID)
	if err != nil {
		return nil, nil // nothing was said there
	}
	entry, err := s.host.Store().Message(ctx, x.Key, store.Noted, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	before, err := readOriginal(entry.Note)
	if err != nil {
		return nil, err
	}
	if !before.same(kept) {
		return nil, reused
	}
	return &x, nil
}

// main is the exchange that the task of x is.
func (s *service) main(ctx context.Context, x store.Exchange) (*store.Exchange, error) {
	list, err := s.host.Store().Tasks(ctx, s.uri, x.Task)
	if err != nil {
		return nil, err
	}
	about, err := taskIn(list, x.Peer, x.Task)
	return &about, err
}

// openForeign opens an exchange in the name of a foreign client.
func (s *service) openForeign(ctx context.Context, c wire.Call, caller, id string, m *wire.Message, kept original, blocking bool) (store.Exchange, error) {
	var none store.Exchange
	what, err := s.choose(m)
	if err != nil {
		return none, err
	}
	within := foreignWithin
	if what.contract.Protocol == protocol.SubscribeV1 {
		if blocking {
			return none, wire.Errorf(wire.UnsupportedOperation, "%s goes on for a while: stream it, or ask to return immediately", what.contract.Name)
		}
		within = subscribedWithin
	}
	// A fresh id, near others of this time in the store's indexes: who sends the message
	// again is told what it opened by the inbox.
	conversation := s.host.NewID()
	task := taskID(conversation, s.uri)
	h := s.foreignHeader(caller, conversation, s.host.Now(), c)
	h.Performative, h.Protocol = envelope.Request, what.contract.Protocol
	h.Schema, h.Capability = what.contract.Name.Input(), what.contract.Name.Capability()
	h.MessageID, h.Seq = id, 1
	h.CorrelationID = m.ContextID
	if h.CorrelationID == "" {
		h.CorrelationID = conversation
	}
	h.ReplyBy = h.Timestamp.Add(within)
	if what.contract.Effects {
		h.IdempotencyKey = conversation
	}
	keep(&h, kept)
	if err := s.accept(ctx, h, what.content, agent.Mail{Caller: caller, Task: task, Mailbox: true, New: true}); err != nil {
		return none, err
	}
	x, err := s.host.Store().Exchange(ctx, store.Key{Owner: s.uri, Conversation: conversation, Peer: caller})
	if errors.Is(err, store.ErrNotFound) {
		return none, noTask(task)
	}
	return x, err
}

// keep puts the foreign message into the envelope that is made of it.
func keep(h *envelope.Header, kept original) {
	h.Extensions = map[string]envelope.Extension{messageExtension: {Value: kept.encode()}}
}

// foreignHeader is what every envelope has that is made in a client's name. The
// salt follows from the moment and the message, so that the same message made
// again is the same envelope.
func (s *service) foreignHeader(caller, conversation string, at time.Time, c wire.Call) envelope.Header {
	h := envelope.Header{
		Sender: caller, SenderGeneration: foreignGeneration, Receiver: s.uri,
		ConversationID: conversation, Timestamp: at,
		Labels: envelope.Labels{Integrity: envelope.Peer, Readers: []string{s.uri}},
		Trace:  envelope.Trace{Traceparent: c.Traceparent, Tracestate: c.Tracestate},
	}
	if h.Trace.Traceparent == "" {
		var room [64]byte
		sum := sha256.Sum256(append(append(room[:0], "trace\x00"...), conversation...))
		h.Trace.Traceparent = traceparent(sum[:])
	}
	return h
}

// foreignSalt is the salt of a message that was made at that moment.
func foreignSalt(sender, messageID string, at time.Time) []byte {
	var room [256]byte
	text := append(append(room[:0], "salt\x00"...), sender...)
	text = append(append(append(text, 0), messageID...), 0)
	sum := sha256.Sum256(at.AppendFormat(text, time.RFC3339Nano))
	return sum[:16]
}

// accept seals an act in a client's name and gives it to the host.
func (s *service) accept(ctx context.Context, h envelope.Header, content []byte, how agent.Mail) error {
	h.Salt = foreignSalt(h.Sender, h.MessageID, h.Timestamp)
	e, err := envelope.Seal(h, content)
	if err != nil {
		if shape, ok := errors.AsType[*envelope.ShapeError](err); ok {
			return unsealed(shape)
		}
		return err
	}
	replies, err := s.host.Accept(ctx, e, how)
	if err != nil {
		return refused(err)
	}
	for _, reply := range replies {
		if told := reply.Header().Error; reply.ReceiptKind() == envelope.Nack && told.Reason != guard.ReasonInProgress {
			return nackedForeign(told)
		}
	}
	return nil
}

// unsealed says which part of a foreign message an envelope cannot carry.
func unsealed(shape *envelope.ShapeError) error {
	switch {
	case shape.Pointer == "/correlation_id":
		return invalid("message.contextId", "must be 1 to 128 printable ASCII characters")
	case strings.HasPrefix(shape.Pointer, "/content"):
		return invalid("message.parts", "the data must be "+shape.Want+" at "+strings.TrimPrefix(shape.Pointer, "/content"))
	}
	return invalid("message", "cannot be kept: expected "+shape.Want)
}

// traceparent starts a trace that follows from a sum.
func traceparent(sum []byte) string {
	return "00-" + hex.EncodeToString(sum[:16]) + "-" + hex.EncodeToString(sum[16:24]) + "-01"
}
