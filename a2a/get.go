package a2a

import (
	"context"
	"iter"

	"github.com/parley-agents/parley/a2a/wire"
)

// GetTask implements wire.Service.
func (s *service) GetTask(ctx context.Context, c wire.Call, r *wire.GetTaskRequest) (*wire.Task, error) {
	if err := checkLength(r.HistoryLength); err != nil {
		return nil, err
	}
	x, err := s.find(ctx, c, r.ID)
	if err != nil {
		return nil, err
	}
	s.heard(ctx, x)
	return s.snapshotNow(ctx, x, shown{history: r.HistoryLength, artifacts: true, whole: s.noStreams, reader: x.Peer, parley: speaksParley(c)})
}

// SubscribeToTask implements wire.Service. The stream of a task that has ended is
// refused, but for a reader of Parley that comes back for what it has missed.
func (s *service) SubscribeToTask(ctx context.Context, c wire.Call, r *wire.SubscribeRequest) (iter.Seq2[wire.Event, error], error) {
	x, err := s.find(ctx, c, r.ID)
	if err != nil {
		return nil, err
	}
	if _, err := placeOf(c.LastEventID); err != nil {
		return nil, err
	}
	parley := speaksParley(c)
	if x.State.Done() && (!parley || c.LastEventID == "") {
		return nil, wire.Errorf(wire.UnsupportedOperation, "the task has ended and has no more events")
	}
	return s.follow(ctx, x, c.LastEventID, parley, true), nil
}

// checkLength holds a history's length to what it may be.
func checkLength(n *int) error {
	if n == nil || *n >= 0 {
		return nil
	}
	return &wire.Error{Kind: wire.InvalidParams, Field: "historyLength", Message: "must not be negative"}
}
