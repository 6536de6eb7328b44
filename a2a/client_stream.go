package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
)

// stream calls an operation that answers with a stream. Its events are of the task,
// or all of one if that is "".
func (c *Client) stream(ctx context.Context, call wire.Call, m wire.Method, tenant, task string, o wire.Object) (iter.Seq2[wire.Event, error], error) {
	s, err := c.open(ctx, call, m, o)
	if err != nil {
		return nil, err
	}
	s.task = task
	return func(yield func(wire.Event, error) bool) {
		for {
			more, err := c.follow(s, &call.LastEventID, yield)
			if s.close(); err == nil {
				return
			}
			// A connection that brought nothing new would do so again.
			if !more || s.task == "" || ctx.Err() != nil {
				yield(wire.Event{}, err)
				return
			}
			task := s.task
			if s, err = c.open(ctx, call, wire.SubscribeToTask, &wire.SubscribeRequest{Tenant: tenant, ID: task}); err != nil {
				yield(wire.Event{}, err)
				return
			}
			s.task = task
		}
	}, nil
}

// follow yields the events of one connection and keeps the id of the last. The
// error is why it broke; more says that it may be gone on with. Without an
// error, the stream has ended, or nobody wants more.
func (c *Client) follow(s *connection, last *string, yield func(wire.Event, error) bool) (more bool, err error) {
	for e, err := range readEvents(s, c.cfg.MaxResponse) {
		if err != nil {
			return more && !errors.Is(err, errEventTooLarge), reason(s.ctx, err)
		}
		event := wire.Event{ID: e.id}
		if err := c.readEvent(s.id, e.data, &event.Response); err != nil {
			return false, believed(err)
		}
		switch task := taskOf(event.Response); {
		case s.task == "":
			s.task = task
		case task != "" && task != s.task:
			return false, errOtherTask
		}
		s.spoke = true
		if e.id != "" {
			*last, more = e.id, more || e.id != *last
		}
		if !yield(event, nil) {
			return false, nil
		}
	}
	if !s.spoke && *last == "" {
		return false, errNothing
	}
	return false, nil
}

// errNothing: a stream that has just begun ended before it said what became of the
// call.
var errNothing = wire.Errorf(wire.InvalidAgentResponse, "the stream of events has none")

func (c *Client) readEvent(id string, data []byte, into *wire.StreamResponse) error {
	if !c.rest {
		return wire.DecodeAnswer(data, id, into)
	}
	var fault struct{ Error json.RawMessage }
	if json.Unmarshal(data, &fault) == nil && fault.Error != nil {
		return wire.DecodeStatus(http.StatusInternalServerError, data)
	}
	return wire.DecodeResult(data, into)
}

// taskOf is the task that an event is of, "" if none.
func taskOf(e wire.StreamResponse) string {
	switch {
	case e.Task != nil:
		return e.Task.ID
	case e.StatusUpdate != nil:
		return e.StatusUpdate.TaskID
	case e.ArtifactUpdate != nil:
		return e.ArtifactUpdate.TaskID
	}
	return ""
}

// connection is one answer of a server that is a stream.
type connection struct {
	ctx    context.Context // of its reading; it ends when the stream falls silent
	cancel context.CancelCauseFunc
	body   io.ReadCloser
	silent *time.Timer
	after  time.Duration
	// id is the request's; task is the one that its events are of, as soon as
	// that is known.
	id, task string
	// spoke: it had an event.
	spoke bool
}

// Read reads on, and holds the stream to saying something now and then.
func (s *connection) Read(p []byte) (int, error) {
	n, err := s.body.Read(p)
	s.silent.Reset(s.after)
	return n, err
}

func (s *connection) close() {
	s.silent.Stop()
	s.cancel(context.Canceled)
	s.body.Close()
}

// open begins a stream. What the server answers instead is the error.
func (c *Client) open(ctx context.Context, call wire.Call, m wire.Method, o wire.Object) (*connection, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(c.cfg.Timeout, func() { cancel(errNoAnswer) })
	defer late.Stop()
	failed := func(err error) (*connection, error) {
		err = reason(ctx, err)
		cancel(context.Canceled)
		return nil, fmt.Errorf("calling %s: %w", m, err)
	}
	id := c.nextID()
	r, err := c.request(ctx, call, m, o, id, wire.EventsType+", "+acceptJSON)
	if err != nil {
		return failed(err)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return failed(err)
	}
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if media != wire.EventsType || resp.StatusCode/100 != 2 {
		defer resp.Body.Close()
		data, err := readBody(resp.Body, c.cfg.MaxResponse)
		if err == nil {
			err = c.read(resp, id, data, &wire.StreamResponse{})
		}
		if err == nil {
			err = wire.Errorf(wire.InvalidAgentResponse, "want a stream of events, got %q", media)
		}
		return failed(err)
	}
	if !late.Stop() {
		resp.Body.Close()
		return failed(errNoAnswer)
	}
	s := &connection{ctx: ctx, cancel: cancel, id: id, body: resp.Body, after: c.cfg.Silence}
	s.silent = time.AfterFunc(c.cfg.Silence, func() { cancel(errSilent) })
	return s, nil
}
