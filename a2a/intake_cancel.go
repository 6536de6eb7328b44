package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// CancelTask implements wire.Service. It returns when the task has been
// cancelled, or is on its way to it and its agent takes longer than the cancel
// window. A client of Parley has its receipt as soon as the cancel is durable: it
// reads on, and what carries its envelopes does not wait for agents.
func (s *service) CancelTask(ctx context.Context, c wire.Call, r *wire.CancelTaskRequest) (*wire.Task, error) {
	if header, parley := r.Metadata[ExtensionURI]; parley {
		t, err := s.cancelEnvelope(ctx, c, r.ID, header)
		if err != nil {
			return nil, err
		}
		task, err := s.snapshotNow(ctx, t.x, shown{artifacts: true, reader: t.x.Peer, parley: true})
		if err != nil {
			return nil, err
		}
		return task, addReceipts(task, t.receipts)
	}
	x, err := s.cancelForeign(ctx, c, r.ID)
	if err != nil {
		return nil, err
	}
	x, asked, err := s.stopped(ctx, x)
	if err != nil {
		return nil, err
	}
	if now := stateOf(x, nil); now == wire.Completed || now == wire.Rejected {
		return nil, errTooLate
	}
	return s.snapshot(ctx, x, asked, shown{artifacts: true, whole: s.noStreams, reader: x.Peer})
}

// cancelEnvelope takes a cancel whose header is in the request's metadata. A
// task that is not there is put down as cancelled, so that a late opening act
// finds it so.
func (s *service) cancelEnvelope(ctx context.Context, c wire.Call, task string, header json.RawMessage) (taken, error) {
	data, err := joined(header, []byte("{}"))
	if err != nil {
		return taken{}, misplaced("metadata", "the header of an envelope under "+ExtensionURI)
	}
	e, err := guard.Open(data)
	if err != nil {
		t, err := s.deliver(ctx, c, data, "", "")
		return t, ofCancel(err)
	}
	h := e.Header()
	switch {
	case h.Performative != envelope.Cancel:
		return taken{}, invalid("metadata", "the envelope must be a cancel")
	case h.Receiver != s.uri:
		return taken{}, invalid("metadata", "the envelope is for another agent")
	case h.Auth != "" && isGiven(h.Sender, s.uri):
		return taken{}, errNoProof
	case task != taskID(h.ConversationID, s.uri):
		return taken{}, invalid("id", "must be the task of the envelope's conversation")
	}
	t, err := s.deliver(ctx, c, data, task, h.Sender)
	if done, ok := errors.AsType[*wire.Error](err); ok && done.Kind == wire.InvalidParams {
		if x, gone := s.host.Store().Exchange(ctx, store.Key{Owner: s.uri, Conversation: h.ConversationID, Peer: h.Sender}); gone == nil && x.State.Done() {
			done.Kind, done.Field = wire.TaskNotCancelable, ""
		}
	}
	return t, ofCancel(err)
}

// ofCancel is an error about the header of an act where the act is a cancel: its
// header is in the request's own metadata.
func ofCancel(err error) error {
	if e, ok := errors.AsType[*wire.Error](err); ok && e.Field == "message.metadata" {
		e.Field = "metadata"
	}
	return err
}

// stopWithin is how long CancelTask waits for the agent to stop: somewhat more
// than the agent has for it.
const stopWithin = 6 * time.Second

// stopped waits until the task has ended, at most for stopWithin. It returns what
// again does.
func (s *service) stopped(ctx context.Context, x store.Exchange) (store.Exchange, []store.Exchange, error) {
	slow, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer s.host.At(s.host.Now().Add(stopWithin), func() { cancel(errSlow) })()
	now, asked, err := s.await(slow, x, wire.TaskState.Terminal)
	if errors.Is(err, errSlow) {
		return s.again(ctx, x)
	}
	return now, asked, err
}

var errTooLate = wire.Errorf(wire.TaskNotCancelable, "the task has ended")

var errSlow = errors.New("the agent takes longer to stop")

// cancelForeign cancels the exchange of a task in the client's name. Cancelling
// again is harmless.
func (s *service) cancelForeign(ctx context.Context, c wire.Call, task string) (store.Exchange, error) {
	x, err := s.find(ctx, c, task)
	if err != nil {
		return x, err
	}
	unlock := s.locks.lock("cancel\x00" + task)
	defer unlock()
	if x, _, err = s.again(ctx, x); err != nil {
		return x, err
	}
	if x.State.Done() && x.State.Cancel == "" {
		return x, errTooLate
	}
	if x.State.Cancel != "" {
		return x, nil
	}
	h := s.foreignHeader(x.Peer, x.Conversation, s.host.Now(), c)
	h.Performative, h.Schema, h.Protocol, h.Capability = envelope.Cancel, protocol.CancelSchema, x.State.Protocol, x.State.Capability
	h.CorrelationID, h.InReplyTo = x.Correlation, x.State.Opening
	h.MessageID, h.Seq = envelope.DerivedID("cancel", x.Conversation), x.State.Received+1
	return x, s.accept(ctx, h, []byte("{}"), agent.Mail{Caller: x.Peer, Task: task, Mailbox: true})
}
