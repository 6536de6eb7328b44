package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/parley-agents/parley/store"
)

// ErrOutcomeUnknown is what Once returns when the process died while the
// function ran: it may have had its effect, so it is not run again.
var ErrOutcomeUnknown = errors.New("whether it was done is not known")

// ErrOutside is what a durable step returns outside a handler: there is no
// exchange that could remember it.
var ErrOutside = errors.New("not called inside a handler")

// StepError is the error of a function that Once ran in an earlier run of the
// handler. Only its text was kept.
type StepError struct{ Name, Text string }

func (e *StepError) Error() string { return fmt.Sprintf("%s: %s", e.Name, e.Text) }

// Once runs fn once for the exchange that ctx works for and returns its
// result; a later run of the handler, after a crash, gets the recorded result
// without running fn. If the process died while fn ran, the later run gets
// ErrOutcomeUnknown, unless ReadOnly or Keyed says that fn may run again; Keyed
// fn makes its effect with EffectKey. A result must encode as JSON. An error
// of fn is recorded by its text, and a later run gets a *StepError.
//
// Names are the handler's own and must be given once in each run. It returns
// when the result is durable, or when ctx ends.
func Once[T any](ctx context.Context, name string, fn func(ctx context.Context) (T, error), opts ...ToolOption) (T, error) {
	var out T
	spec := &tool{name: name}
	for _, o := range opts {
		o.applyTool(spec)
	}
	data, err := durably(ctx, "once "+name, spec.repeat, func(ctx context.Context) ([]byte, error) {
		v, err := fn(ctx)
		if err != nil {
			return nil, err
		}
		return json.Marshal(v)
	})
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(data, &out); err != nil {
		return out, fmt.Errorf("once %s: reading the record: %w", name, err)
	}
	return out, nil
}

// Now is the host's time when this line was first reached in the exchange that
// ctx works for; a later run of the handler gets the same.
func Now(ctx context.Context) (time.Time, error) {
	var t time.Time
	j := jobOf(ctx)
	if j == nil {
		return t, ErrOutside
	}
	data, err := durably(ctx, numbered(j, "now"), ReadOnly, func(context.Context) ([]byte, error) { return json.Marshal(j.host.seam.now()) })
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(data, &t)
}

// NewID is a fresh UUIDv7; a later run of the handler gets the same.
func NewID(ctx context.Context) (string, error) {
	var id string
	j := jobOf(ctx)
	if j == nil {
		return id, ErrOutside
	}
	data, err := durably(ctx, numbered(j, "id"), ReadOnly, func(context.Context) ([]byte, error) { return json.Marshal(j.host.seam.id()) })
	if err != nil {
		return id, err
	}
	return id, json.Unmarshal(data, &id)
}

// Sleep waits until d has passed since this line was first reached in the
// exchange: a later run of the handler waits for the rest. It returns early
// with the cause when ctx ends.
func Sleep(ctx context.Context, d time.Duration) error {
	j := jobOf(ctx)
	if j == nil {
		return ErrOutside
	}
	data, err := durably(ctx, numbered(j, "sleep"), ReadOnly, func(context.Context) ([]byte, error) { return json.Marshal(j.host.seam.now().Add(d)) })
	if err != nil {
		return err
	}
	var until time.Time
	if err := json.Unmarshal(data, &until); err != nil {
		return fmt.Errorf("sleep: reading the record: %w", err)
	}
	woken := make(chan struct{})
	stop := j.host.seam.clock.At(until, func() { close(woken) })
	defer stop()
	select {
	case <-woken:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func numbered(j *job, what string) string { return what + " " + strconv.Itoa(j.ordinal(what)) }

// step is what the record of a durable step holds.
type durableStep struct {
	Value json.RawMessage `json:"value,omitempty"`
	Error string          `json:"error,omitempty"`
}

// durably runs fn unless an earlier run of the work recorded what it gave.
func durably(ctx context.Context, name string, again repeat, fn func(context.Context) ([]byte, error)) ([]byte, error) {
	j := jobOf(ctx)
	if j == nil {
		return nil, ErrOutside
	}
	r, err := j.records(ctx)
	if err != nil {
		return nil, err
	}
	if data, ok := r.result(name); ok {
		var s durableStep
		if err := json.Unmarshal(data, &s); err != nil {
			return nil, fmt.Errorf("%s: reading the record: %w", name, err)
		}
		if s.Error != "" {
			return nil, &StepError{Name: name, Text: s.Error}
		}
		return s.Value, nil
	}
	switch {
	case again != "":
	case r.begun(name):
		return nil, fmt.Errorf("%s: %w", name, ErrOutcomeUnknown)
	default:
		if err := r.write(ctx, store.Called, name, struct{}{}); err != nil {
			return nil, err
		}
	}
	value, failed := fn(context.WithValue(ctx, callKey{}, name))
	if ctx.Err() != nil && failed != nil {
		return nil, context.Cause(ctx) // it was told to stop: a later run may do it
	}
	s := durableStep{Value: value}
	if failed != nil {
		s = durableStep{Error: failed.Error()}
	}
	if err := r.write(ctx, store.Result, name, s); err != nil {
		return nil, err
	}
	return value, failed
}
