package a2a

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/store"
)

// takeEnvelope takes an envelope that came as a message.
func (s *service) takeEnvelope(ctx context.Context, c wire.Call, m *wire.Message) (taken, error) {
	data, err := envelopeOf(m)
	if err != nil {
		return taken{}, err
	}
	e, err := guard.Open(data)
	if err != nil {
		return s.deliver(ctx, c, data, "", "")
	}
	h := e.Header()
	switch {
	case h.MessageID != m.MessageID:
		return taken{}, invalid("message.messageId", "must be the envelope's message_id")
	case m.ContextID != "" && m.ContextID != h.CorrelationID:
		return taken{}, invalid("message.contextId", "must be the envelope's correlation_id")
	case h.Receiver != s.uri:
		return taken{}, invalid("message.metadata", "the envelope is for another agent")
	case h.Auth != "" && isGiven(h.Sender, s.uri):
		return taken{}, errNoProof
	case h.Receipt != "" && h.Receipt != envelope.NotUnderstood:
		return taken{}, invalid("message.metadata", "must be an act, or say that a question was not understood")
	case h.Performative == envelope.Cancel:
		return taken{}, invalid("message.metadata", "a cancel is sent with CancelTask")
	}
	task := m.TaskID
	switch {
	case h.InReplyTo == "" && task != "":
		return taken{}, invalid("message.taskId", "must be absent from an act that opens an exchange")
	case h.InReplyTo == "":
		task = taskID(h.ConversationID, s.uri)
	case task == "":
		return taken{}, invalid("message.taskId", "must name the task that the act is about")
	default:
		if err := s.belongs(ctx, task, h); err != nil {
			return taken{}, err
		}
	}
	return s.deliver(ctx, c, data, task, h.Sender)
}

// belongs reports whether an act is part of the task: of its exchange, or of a
// question about it.
func (s *service) belongs(ctx context.Context, task string, h envelope.Header) error {
	list, err := s.host.Store().Tasks(ctx, s.uri, task)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(list, func(x store.Exchange) bool { return x.Peer == h.Sender && x.Conversation == h.ConversationID }) {
		return noTask(task)
	}
	return nil
}

// deliver hands an envelope to the host and sorts out its answer. What cannot be
// read has no task, and is only answered.
func (s *service) deliver(ctx context.Context, c wire.Call, data []byte, task, sender string) (taken, error) {
	replies, err := s.host.Take(ctx, agent.Mail{Envelope: data, Caller: c.Caller, Loopback: c.Loopback, Task: task, Mailbox: task != ""})
	if err != nil {
		return taken{}, refused(err)
	}
	t := taken{parley: true}
	for _, r := range replies {
		e, err := envelope.Decode(r)
		if err != nil {
			return taken{}, err
		}
		if told := e.Header().Error; e.ReceiptKind() == envelope.Nack && told.Reason != guard.ReasonInProgress {
			return taken{}, nacked(r, told)
		}
		if e.ReceiptKind() != "" {
			t.receipts = append(t.receipts, r)
		}
	}
	list, err := s.host.Store().Tasks(ctx, s.uri, task)
	if err != nil {
		return taken{}, err
	}
	if t.x, err = taskIn(list, sender, task); err != nil {
		return taken{}, err
	}
	return t, nil
}

// nackedForeign is the same for a client that reads no receipts.
func nackedForeign(told *envelope.Error) error {
	switch told.Code {
	case envelope.CodeCapacity:
		e := wire.Errorf(wire.Overloaded, "the agent is busy")
		e.RetryAfter = told.RetryAfter
		return e
	case envelope.CodeTransient:
		e := wire.Errorf(wire.Unavailable, "the agent cannot take it now")
		e.RetryAfter = told.RetryAfter
		return e
	case envelope.CodeAuth:
		return wire.Errorf(wire.PermissionDenied, "the agent does not take this from its caller")
	}
	return wire.Errorf(wire.UnsupportedOperation, "the task does not take this now: %s", told.Reason)
}

// nacked is a final or passing refusal of an envelope, with the receipt in its
// details.
func nacked(receipt []byte, told *envelope.Error) error {
	e := &wire.Error{Kind: wire.InvalidParams, Message: "the envelope was refused: " + string(told.Code) + " " + told.Reason,
		RetryAfter: told.RetryAfter, Field: "message"}
	switch told.Code {
	case envelope.CodeAuth:
		e.Kind, e.Field, e.Message = wire.PermissionDenied, "", "the envelope was refused"
		if told.Reason != guard.ReasonPolicy {
			e.Kind = wire.Unauthenticated
		}
	case envelope.CodeCapacity:
		e.Kind, e.Field = wire.Overloaded, ""
	case envelope.CodeTransient:
		e.Kind, e.Field = wire.Unavailable, ""
	}
	if d := told.Detail; d != nil && d.Pointer != "" {
		e.Message += " at " + d.Pointer
	}
	e.Details = []wire.Metadata{{
		"@type": json.RawMessage(`"type.googleapis.com/google.protobuf.Struct"`),
		"value": receipt,
	}}
	return e
}

// addReceipts puts the receipts of a message into the metadata of its task.
func addReceipts(task *wire.Task, receipts [][]byte) error {
	if len(receipts) == 0 {
		return nil
	}
	var standing map[string]json.RawMessage
	if err := json.Unmarshal(task.Metadata[ExtensionURI], &standing); err != nil {
		return err
	}
	list := make([]json.RawMessage, len(receipts))
	for i, r := range receipts {
		list[i] = r
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return err
	}
	standing["receipts"] = raw
	task.Metadata[ExtensionURI], err = json.Marshal(standing)
	return err
}

func invalid(field, message string) error {
	return &wire.Error{Kind: wire.InvalidParams, Field: field, Message: message}
}
