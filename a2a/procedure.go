package a2a

import (
	"context"
	"iter"

	"github.com/parley-agents/parley/a2a/wire"
)

// events are the events of a stream.
type events = iter.Seq2[wire.Event, error]

// procedure is how one operation is served. Exactly one of do and stream is
// called, with the request, which was filled; the extended card, which has
// neither, is the server's own.
type procedure struct {
	// request is a new request of the operation.
	request func() wire.Object
	do      func(ctx context.Context, s wire.Service, c wire.Call, request wire.Object) (wire.Object, error)
	stream  func(ctx context.Context, s wire.Service, c wire.Call, request wire.Object) (events, error)
	needs   need
}

// need checks that the agent has the capability that a request needs.
type need = func(request wire.Object, c wire.Capabilities) error

// procedures are those of all operations.
func procedures() map[wire.Method]procedure {
	return map[wire.Method]procedure{
		wire.SendMessage:          plain(wire.Service.SendMessage, needPushFor),
		wire.SendStreamingMessage: streamed(wire.Service.SendStreamingMessage, both(needStreaming, needPushFor)),
		wire.GetTask:              plain(wire.Service.GetTask, needNothing),
		wire.ListTasks:            plain(wire.Service.ListTasks, needNothing),
		wire.CancelTask:           plain(wire.Service.CancelTask, needNothing),
		wire.SubscribeToTask:      streamed(wire.Service.SubscribeToTask, needStreaming),
		wire.CreatePushConfig:     plain(wire.Service.CreatePushConfig, needPush),
		wire.GetPushConfig:        plain(wire.Service.GetPushConfig, needPush),
		wire.ListPushConfigs:      plain(wire.Service.ListPushConfigs, needPush),
		wire.DeletePushConfig:     plain(deletePushConfig, needPush),
		wire.GetExtendedAgentCard: {request: newOf[wire.ExtendedCardRequest], needs: needExtendedCard},
	}
}

// object is a pointer to one of wire's types.
type object[T any] interface {
	*T
	wire.Object
}

func newOf[T any, P object[T]]() wire.Object { return P(new(T)) }

type call[R, A any] = func(wire.Service, context.Context, wire.Call, *R) (A, error)

func plain[R, A any, PR object[R], PA object[A]](m call[R, *A], needs need) procedure {
	do := func(ctx context.Context, s wire.Service, c wire.Call, request wire.Object) (wire.Object, error) {
		a, err := m(s, ctx, c, request.(PR))
		if err != nil {
			return nil, err
		}
		return PA(a), nil
	}
	return procedure{request: newOf[R, PR], do: do, needs: needs}
}

func streamed[R any, PR object[R]](m call[R, events], needs need) procedure {
	stream := func(ctx context.Context, s wire.Service, c wire.Call, request wire.Object) (events, error) {
		return m(s, ctx, c, request.(PR))
	}
	return procedure{request: newOf[R, PR], stream: stream, needs: needs}
}

func deletePushConfig(s wire.Service, ctx context.Context, c wire.Call, r *wire.PushConfigRequest) (*wire.Empty, error) {
	return &wire.Empty{}, s.DeletePushConfig(ctx, c, r)
}

func needNothing(wire.Object, wire.Capabilities) error { return nil }

func needStreaming(_ wire.Object, c wire.Capabilities) error {
	if !c.Streaming {
		return wire.Errorf(wire.UnsupportedOperation, "the agent does not stream")
	}
	return nil
}

func needPush(_ wire.Object, c wire.Capabilities) error {
	if !c.PushNotifications {
		return wire.Errorf(wire.PushNotificationNotSupported, "the agent sends no push notifications")
	}
	return nil
}

func needExtendedCard(_ wire.Object, c wire.Capabilities) error {
	if !c.ExtendedAgentCard {
		return wire.Errorf(wire.UnsupportedOperation, "the agent has no extended card")
	}
	return nil
}

// needPushFor needs what the message's configuration asks for.
func needPushFor(request wire.Object, c wire.Capabilities) error {
	if r, ok := request.(*wire.SendMessageRequest); !ok || r.Configuration.PushConfig == nil {
		return nil
	}
	return needPush(request, c)
}

func both(a, b need) need {
	return func(request wire.Object, c wire.Capabilities) error {
		if err := a(request, c); err != nil {
			return err
		}
		return b(request, c)
	}
}
