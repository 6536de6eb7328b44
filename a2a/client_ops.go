package a2a

import (
	"context"
	"iter"

	"github.com/parley-agents/parley/a2a/wire"
)

// SendMessage hands over a message.
func (c *Client) SendMessage(ctx context.Context, call wire.Call, r *wire.SendMessageRequest) (*wire.SendMessageResponse, error) {
	req, out := *r, wire.SendMessageResponse{}
	preset(&req.Tenant, c.tenant)
	return answered(&out, c.ask(ctx, call, wire.SendMessage, &req, &out))
}

// SendStreamingMessage hands over a message and follows what comes of it. The
// sequence can be ranged over once; until it is, or ctx ends, a connection
// waits for it. A stream that breaks after an event with an id is gone on with
// from there.
func (c *Client) SendStreamingMessage(ctx context.Context, call wire.Call, r *wire.SendMessageRequest) (iter.Seq2[wire.Event, error], error) {
	req := *r
	preset(&req.Tenant, c.tenant)
	return c.stream(ctx, call, wire.SendStreamingMessage, req.Tenant, "", &req)
}

// GetTask reads a task.
func (c *Client) GetTask(ctx context.Context, call wire.Call, r *wire.GetTaskRequest) (*wire.Task, error) {
	req, out := *r, wire.Task{}
	preset(&req.Tenant, c.tenant)
	return answered(&out, ofTask(req.ID, &out, c.ask(ctx, call, wire.GetTask, &req, &out)))
}

// ListTasks reads a page of the caller's tasks.
func (c *Client) ListTasks(ctx context.Context, call wire.Call, r *wire.ListTasksRequest) (*wire.ListTasksResponse, error) {
	req, out := *r, wire.ListTasksResponse{}
	preset(&req.Tenant, c.tenant)
	return answered(&out, c.ask(ctx, call, wire.ListTasks, &req, &out))
}

// CancelTask asks to cancel a task.
func (c *Client) CancelTask(ctx context.Context, call wire.Call, r *wire.CancelTaskRequest) (*wire.Task, error) {
	req, out := *r, wire.Task{}
	preset(&req.Tenant, c.tenant)
	return answered(&out, ofTask(req.ID, &out, c.ask(ctx, call, wire.CancelTask, &req, &out)))
}

// SubscribeToTask follows a task that has not ended, from the event after
// call.LastEventID if that is set. See SendStreamingMessage for the sequence.
func (c *Client) SubscribeToTask(ctx context.Context, call wire.Call, r *wire.SubscribeRequest) (iter.Seq2[wire.Event, error], error) {
	req := *r
	preset(&req.Tenant, c.tenant)
	return c.stream(ctx, call, wire.SubscribeToTask, req.Tenant, req.ID, &req)
}

// CreatePushConfig says where the events of a task are posted.
func (c *Client) CreatePushConfig(ctx context.Context, call wire.Call, r *wire.PushConfig) (*wire.PushConfig, error) {
	req, out := *r, wire.PushConfig{}
	preset(&req.Tenant, c.tenant)
	return answered(&out, c.ask(ctx, call, wire.CreatePushConfig, &req, &out))
}

// GetPushConfig reads one configuration of a task.
func (c *Client) GetPushConfig(ctx context.Context, call wire.Call, r *wire.PushConfigRequest) (*wire.PushConfig, error) {
	req, out := *r, wire.PushConfig{}
	preset(&req.Tenant, c.tenant)
	return answered(&out, c.ask(ctx, call, wire.GetPushConfig, &req, &out))
}

// ListPushConfigs reads a page of the configurations of a task.
func (c *Client) ListPushConfigs(ctx context.Context, call wire.Call, r *wire.ListPushConfigsRequest) (*wire.ListPushConfigsResponse, error) {
	req, out := *r, wire.ListPushConfigsResponse{}
	preset(&req.Tenant, c.tenant)
	return answered(&out, c.ask(ctx, call, wire.ListPushConfigs, &req, &out))
}

// DeletePushConfig takes a configuration of a task away.
func (c *Client) DeletePushConfig(ctx context.Context, call wire.Call, r *wire.PushConfigRequest) error {
	req := *r
	preset(&req.Tenant, c.tenant)
	return c.ask(ctx, call, wire.DeletePushConfig, &req, nil)
}

// GetExtendedAgentCard reads what the agent says to those it knows.
func (c *Client) GetExtendedAgentCard(ctx context.Context, call wire.Call, r *wire.ExtendedCardRequest) (*wire.AgentCard, error) {
	req, out := *r, wire.AgentCard{}
	preset(&req.Tenant, c.tenant)
	return answered(&out, c.ask(ctx, call, wire.GetExtendedAgentCard, &req, &out))
}

// ofTask refuses an answer that shows another task than the one with the id.
func ofTask(id string, t *wire.Task, err error) error {
	if err == nil && t.ID != id {
		return errOtherTask
	}
	return err
}

var errOtherTask = wire.Errorf(wire.InvalidAgentResponse, "the answer is of another task")

func answered[T any](out *T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return out, nil
}
