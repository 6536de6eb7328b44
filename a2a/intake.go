package a2a

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/store"
)

// taken is what became of a message: the exchange that it belongs to, and the
// receipts that it got, if its sender reads receipts.
type taken struct {
	x        store.Exchange
	receipts [][]byte
	// parley: it came as an envelope.
	parley bool
}

// SendMessage implements wire.Service. It returns when the message is durable
// and, unless the client wants to know at once, the task has ended or waits for
// its client.
func (s *service) SendMessage(ctx context.Context, c wire.Call, r *wire.SendMessageRequest) (*wire.SendMessageResponse, error) {
	t, err := s.take(ctx, c, r, !r.Configuration.ReturnImmediately)
	if err != nil {
		return nil, err
	}
	return s.outcome(ctx, r, t)
}

// outcome is what the client is told of a message that was taken.
func (s *service) outcome(ctx context.Context, r *wire.SendMessageRequest, t taken) (*wire.SendMessageResponse, error) {
	blocking := !r.Configuration.ReturnImmediately
	var asked []store.Exchange
	var err error
	if blocking {
		t.x, asked, err = s.await(ctx, t.x, settled)
	} else {
		t.x, asked, err = s.again(ctx, t.x)
	}
	if err != nil {
		return nil, err
	}
	task, err := s.snapshot(ctx, t.x, asked, shown{history: r.Configuration.HistoryLength, artifacts: true, whole: s.noStreams && !t.parley, reader: t.x.Peer, parley: t.parley})
	if err != nil {
		return nil, err
	}
	if err := addReceipts(task, t.receipts); err != nil {
		return nil, err
	}
	if !t.parley && blocking && s.direct != nil && s.direct(contractOf(t.x)) {
		return direct(task), nil
	}
	return &wire.SendMessageResponse{Task: task}, nil
}

// contractOf is the name of the contract of an exchange.
func contractOf(x store.Exchange) string {
	return strings.TrimPrefix(x.State.Capability, "urn:cap:")
}

// direct is a task as the one message that it came to, if it is one.
func direct(task *wire.Task) *wire.SendMessageResponse {
	if task.Status.State != wire.Completed || len(task.Artifacts) != 1 {
		return &wire.SendMessageResponse{Task: task}
	}
	result := task.Artifacts[0]
	return &wire.SendMessageResponse{Message: &wire.Message{MessageID: result.ArtifactID, ContextID: task.ContextID, Role: wire.Agent, Parts: result.Parts}}
}

// SendStreamingMessage implements wire.Service.
func (s *service) SendStreamingMessage(ctx context.Context, c wire.Call, r *wire.SendMessageRequest) (iter.Seq2[wire.Event, error], error) {
	t, err := s.take(ctx, c, r, false)
	if err != nil {
		return nil, err
	}
	return s.events(ctx, t.x, "", t.parley), nil
}

// take takes the message of a request, once: the same message again finds what
// became of it the first time.
func (s *service) take(ctx context.Context, c wire.Call, r *wire.SendMessageRequest, blocking bool) (t taken, err error) {
	if r.Message.Role != wire.User {
		return taken{}, &wire.Error{Kind: wire.InvalidParams, Field: "message.role", Message: "must be ROLE_USER"}
	}
	if err := s.checkPush(&r.Message, r.Configuration.PushConfig); err != nil {
		return taken{}, err
	}
	if carriesEnvelope(r.Message.Metadata) {
		t, err = s.takeEnvelope(ctx, c, &r.Message)
	} else {
		t.x, err = s.takeForeign(ctx, c, &r.Message, blocking)
	}
	if err != nil {
		return taken{}, err
	}
	return t, s.adoptPush(ctx, c, t.x, r.Configuration.PushConfig)
}

// settled reports whether a blocking call has its answer.
func settled(state wire.TaskState) bool { return state.Terminal() || state.Interrupted() }

// await waits until the task stands where enough says that it is enough, ctx ends,
// or nobody is there any more to move it or to answer. It returns what again does.
func (s *service) await(ctx context.Context, x store.Exchange, enough func(wire.TaskState) bool) (store.Exchange, []store.Exchange, error) {
	for {
		moved, release := s.host.Follow(x.Owner, x.Task)
		now, asked, err := s.again(ctx, x)
		if err != nil || enough(stateOf(now, asked)) {
			release()
			return now, asked, err
		}
		select {
		case <-moved:
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-s.down:
			err = errGoingDown
		case <-s.closed:
			err = closing()
		}
		release()
		if err != nil {
			return now, asked, err
		}
	}
}

// refused is what a client is told when the host could not take a message.
func refused(err error) error {
	switch {
	case errors.Is(err, agent.ErrStopped):
		return wire.Errorf(wire.Unavailable, "the agent is going down")
	case errors.Is(err, agent.ErrUnreadable):
		return unreadable(err)
	case errors.Is(err, agent.ErrUnknownPeer):
		return &wire.Error{Kind: wire.InvalidParams, Field: "message.metadata", Message: "the envelope is for another agent"}
	}
	if told, ok := errors.AsType[*agent.Decision](err); ok && told.Code == envelope.CodeCapacity {
		return wire.Errorf(wire.Overloaded, "the task takes no more messages")
	}
	return err
}

// unreadable tells where an envelope cannot be read, when that is known.
func unreadable(err error) error {
	told := &wire.Error{Kind: wire.InvalidParams, Field: "message.metadata", Message: "the envelope cannot be read"}
	if v, ok := errors.AsType[*guard.Violation](err); ok && v.Pointer != "" {
		told.Message = "the envelope cannot be read at " + v.Pointer + ", expected " + v.Want
	}
	return told
}
