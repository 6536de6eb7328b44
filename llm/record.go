package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Recorder is a Model that writes down what another one is asked and answers. Create
// it with Record.
type Recorder struct {
	// Settle takes out of a request what differs from run to run and decides nothing,
	// such as dates and nonces. It gets a copy whose lists it may change; only the
	// recording sees the result. Set it before the first request, and set the same one
	// on the Replayer. Default: nothing is taken out.
	Settle func(Request) Request

	model Model
	mu    sync.Mutex
	w     io.Writer
}

// Record returns a model that asks m and writes each request with its reply, or the
// *Error it met, to w: a cassette, one JSON object a line, in the order in which the
// replies came, each in one Write. The ids of calls count as their order in the
// conversation. A request that its context or its consumer ended is not written; when
// w fails, its error is returned in place of the reply. The recorder is a Streamer, a
// Service and a Describer on behalf of m, and as safe for concurrent use as m is.
func Record(m Model, w io.Writer) *Recorder { return &Recorder{model: m, w: w} }

// Complete asks the model and writes down what it answers.
func (c *Recorder) Complete(ctx context.Context, r Request) (*Response, error) {
	reply, err := c.model.Complete(ctx, r)
	return c.write(ctx, r, reply, err)
}

// Stream asks the model for a reply in parts and writes down the whole.
func (c *Recorder) Stream(ctx context.Context, r Request, each func(Part) error) (*Response, error) {
	stopped := false
	tell := each
	if each != nil {
		tell = func(p Part) error {
			err := each(p)
			stopped = err != nil
			return err
		}
	}
	reply, err := Stream(ctx, c.model, r, tell)
	if stopped {
		return nil, err
	}
	return c.write(ctx, r, reply, err)
}

// write writes down what a request met and returns it.
func (c *Recorder) write(ctx context.Context, r Request, reply *Response, met error) (*Response, error) {
	request, err := keep(r, c.Settle)
	if err != nil {
		return nil, cmp.Or(met, fmt.Errorf("record: %w", err))
	}
	line := recording{Key: keyOf(request), Request: request}
	var failed *Error
	switch {
	case met == nil:
		line.Reply = keepReply(reply)
	case ctx.Err() == nil && errors.As(met, &failed):
		line.Failure = keepFailure(failed)
	default:
		return nil, met
	}
	text, err := json.Marshal(line)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.w.Write(append(text, '\n')); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return reply, met
}

// Start starts the model if it is a Service.
func (c *Recorder) Start(ctx context.Context) error {
	if s, ok := c.model.(Service); ok {
		return s.Start(ctx)
	}
	return nil
}

// Stop stops the model if it is a Service. It does not close the writer.
func (c *Recorder) Stop(ctx context.Context) error {
	if s, ok := c.model.(Service); ok {
		return s.Stop(ctx)
	}
	return nil
}

// Describe says what the model says of itself, and that it is recorded.
func (c *Recorder) Describe() string {
	if d, ok := c.model.(Describer); ok {
		return d.Describe() + ", recorded"
	}
	return "a recorded model"
}
