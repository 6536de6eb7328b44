package wire

import (
	"context"
	"iter"
)

// Event is one event of a stream.
type Event struct {
	// ID is where the stream goes on after it: a client that comes back with it
	// as Last-Event-ID gets what follows. "" when the event has no place.
	ID       string
	Response StreamResponse
}

// Call is what a carrier knows about one call beside its request.
type Call struct {
	// Caller is who called, as the server's authentication made it out.
	Caller string
	// Loopback: the call came from this machine.
	Loopback bool
	// Extensions are those that the client asked for and the agent knows.
	Extensions []string
	// LastEventID is the id of the last event that the client has of a stream it
	// comes back to, "" if it begins.
	LastEventID string
	// Token is what a Parley peer proves itself with on calls that carry no
	// envelope, "" if there is none.
	Token string
	// Traceparent and Tracestate are the W3C trace context of the call.
	Traceparent, Tracestate string
}

// Service is one agent's side of the protocol: the eleven operations (section
// 3.1), whatever the binding. Errors are *Error, or anything else for a fault of
// the server that no client may see. Every method may be called at once by
// several goroutines, and returns when ctx ends.
//
// A stream's error tells that no stream begins; one that the sequence yields
// ends it.
type Service interface {
	SendMessage(ctx context.Context, c Call, r *SendMessageRequest) (*SendMessageResponse, error)
	SendStreamingMessage(ctx context.Context, c Call, r *SendMessageRequest) (iter.Seq2[Event, error], error)
	GetTask(ctx context.Context, c Call, r *GetTaskRequest) (*Task, error)
	ListTasks(ctx context.Context, c Call, r *ListTasksRequest) (*ListTasksResponse, error)
	CancelTask(ctx context.Context, c Call, r *CancelTaskRequest) (*Task, error)
	SubscribeToTask(ctx context.Context, c Call, r *SubscribeRequest) (iter.Seq2[Event, error], error)
	CreatePushConfig(ctx context.Context, c Call, r *PushConfig) (*PushConfig, error)
	GetPushConfig(ctx context.Context, c Call, r *PushConfigRequest) (*PushConfig, error)
	ListPushConfigs(ctx context.Context, c Call, r *ListPushConfigsRequest) (*ListPushConfigsResponse, error)
	DeletePushConfig(ctx context.Context, c Call, r *PushConfigRequest) error
	GetExtendedAgentCard(ctx context.Context, c Call, r *ExtendedCardRequest) (*AgentCard, error)
}
