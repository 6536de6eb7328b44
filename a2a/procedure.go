package a2a

import (
	"context"
	"iter"

	"github.com/parley-agents/parley/a2a/wire"
)

// events are the events of a stream.
type events = iter.Seq2[wire.Event, error]

// procedure is how one operation is served: its request, and what is done with
// it. Exactly one of do and stream is called, after request was filled; the
// extended card, which has neither, is the server's own.
type procedure struct {
	request wire.Object
	do      func(ctx context.Context, s wire.Service, c wire.Call) (wire.Object, error)
	stream  func(ctx context.Context, s wire.Service, c wire.Call) (events, error)
	// needs is the capability that the agent must have.
	needs func(c wire.Capabilities) error
}

// newProcedure is for one request for the operation, nil if there is none.
func newProcedure(m wire.Method) *procedure {
	switch m {
	case wire.SendMessage:
		r := &wire.SendMessageRequest{}
		return &procedure{request: r, do: with(wire.Service.SendMessage, r), needs: pushOf(r)}
	case wire.SendStreamingMessage:
		r := &wire.SendMessageRequest{}
		return &procedure{request: r, stream: streamed(wire.Service.SendStreamingMessage, r), needs: both(needStreaming, pushOf(r))}
	case wire.GetTask:
		return plain(wire.Service.GetTask, needNothing)
	case wire.ListTasks:
		return plain(wire.Service.ListTasks, needNothing)
	case wire.CancelTask:
		return plain(wire.Service.CancelTask, needNothing)
	case wire.SubscribeToTask:
		r := &wire.SubscribeRequest{}
		return &procedure{request: r, stream: streamed(wire.Service.SubscribeToTask, r), needs: needStreaming}
	case wire.CreatePushConfig:
		return plain(wire.Service.CreatePushConfig, needPush)
	case wire.GetPushConfig:
		return plain(wire.Service.GetPushConfig, needPush)
	case wire.ListPushConfigs:
		return plain(wire.Service.ListPushConfigs, needPush)
	case wire.DeletePushConfig:
		return plain(deletePushConfig, needPush)
	case wire.GetExtendedAgentCard:
		return &procedure{request: &wire.ExtendedCardRequest{}, needs: needExtendedCard}
	}
	return nil
}

// object is a pointer to one of wire's types.
type object[T any] interface {
	*T
	wire.Object
}

type call[R, A any] = func(wire.Service, context.Context, wire.Call, *R) (*A, error)

func plain[R, A any, PR object[R], PA object[A]](m call[R, A], needs func(wire.Capabilities) error) *procedure {
	r := PR(new(R))
	return &procedure{request: r, do: with[R, A, PR, PA](m, r), needs: needs}
}

func with[R, A any, PR object[R], PA object[A]](m call[R, A], r PR) func(context.Context, wire.Service, wire.Call) (wire.Object, error) {
	return func(ctx context.Context, s wire.Service, c wire.Call) (wire.Object, error) {
		a, err := m(s, ctx, c, r)
		if err != nil {
			return nil, err
		}
		return PA(a), nil
	}
}

func streamed[R any](m func(wire.Service, context.Context, wire.Call, *R) (events, error), r *R) func(context.Context, wire.Service, wire.Call) (events, error) {
	return func(ctx context.Context, s wire.Service, c wire.Call) (events, error) { return m(s, ctx, c, r) }
}

func deletePushConfig(s wire.Service, ctx context.Context, c wire.Call, r *wire.PushConfigRequest) (*wire.Empty, error) {
	return &wire.Empty{}, s.DeletePushConfig(ctx, c, r)
}

func needNothing(wire.Capabilities) error { return nil }

func needStreaming(c wire.Capabilities) error {
	if !c.Streaming {
		return wire.Errorf(wire.UnsupportedOperation, "the agent does not stream")
	}
	return nil
}

func needPush(c wire.Capabilities) error {
	if !c.PushNotifications {
		return wire.Errorf(wire.PushNotificationNotSupported, "the agent sends no push notifications")
	}
	return nil
}

func needExtendedCard(c wire.Capabilities) error {
	if !c.ExtendedAgentCard {
		return wire.Errorf(wire.UnsupportedOperation, "the agent has no extended card")
	}
	return nil
}

// pushOf needs what the message's configuration asks for.
func pushOf(r *wire.SendMessageRequest) func(wire.Capabilities) error {
	return func(c wire.Capabilities) error {
		if r.Configuration.PushConfig == nil {
			return nil
		}
		return needPush(c)
	}
}

func both(a, b func(wire.Capabilities) error) func(wire.Capabilities) error {
	return func(c wire.Capabilities) error {
		if err := a(c); err != nil {
			return err
		}
		return b(c)
	}
}
