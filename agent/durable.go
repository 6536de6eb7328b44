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
// handler. Only its text was kept, so it is none of the errors that the
// function's own was, nor a decision such as Refuse.
type StepError struct{ Name, Text string }

func (e *StepError) Error() string { return fmt.Sprintf("%s: %s", e.Name, e.Text) }

// Once runs fn once for the exchange that ctx works for and returns its
// result; a later run of the handler, after a crash, gets the recorded result
// without running fn. If the process died while fn ran, the later run gets
// ErrOutcomeUnknown, unless ReadOnly or Keyed says that fn may run again; Keyed
// fn makes its effect with EffectKey(ctx), where ctx is the one fn is given. A
// result must encode as JSON and is read back from it in every run. An error of
// fn is recorded by its text, and a later run gets a *StepError; an error with
// which fn answers the end of ctx is not recorded.
//
// Names are the handler's own, in a tool those of the one call of it, and must
// be given once in each run. Steps of different names may be taken at once. Once
// returns when the result is durable, ctx's cause when ctx ended first, and
// ErrOutside outside a handler.
func Once[T any](ctx context.Context, name string, fn func(ctx context.Context) (T, error), opts ...ToolOption) (T, error) {
	var out T
	spec := &tool{name: name}
	for _, o := range opts {
		o.applyTool(spec)
	}
	data, err := durably(ctx, name, scoped(ctx, "once "+name), spec.repeat, func(ctx context.Context) ([]byte, error) {
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
// ctx works for; a later run of the handler gets the same. Calls are told apart
// by their order, so they must come in the same order in each run; several
// goroutines of a handler take their times inside a Once each. It returns when
// the time is durable, ctx's cause when ctx ended first, and ErrOutside outside
// a handler.
func Now(ctx context.Context) (time.Time, error) {
	var t time.Time
	j := jobOf(ctx)
	if j == nil {
		return t, ErrOutside
	}
	data, err := durably(ctx, "now", numbered(ctx, j, "now"), ReadOnly, func(context.Context) ([]byte, error) { return json.Marshal(j.host.seam.now()) })
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(data, &t)
}

// NewID is a fresh UUIDv7 (RFC 9562); a later run of the handler gets the same.
// It tells calls apart, returns and fails as Now does.
func NewID(ctx context.Context) (string, error) {
	var id string
	j := jobOf(ctx)
	if j == nil {
		return id, ErrOutside
	}
	data, err := durably(ctx, "id", numbered(ctx, j, "id"), ReadOnly, func(context.Context) ([]byte, error) { return json.Marshal(j.host.seam.id()) })
	if err != nil {
		return id, err
	}
	return id, json.Unmarshal(data, &id)
}

// Sleep waits until d has passed since this line was first reached in the
// exchange: a later run of the handler waits for the rest. It returns early
// with ctx's cause when ctx ends, and tells calls apart as Now does.
func Sleep(ctx context.Context, d time.Duration) error {
	j := jobOf(ctx)
	if j == nil {
		return ErrOutside
	}
	data, err := durably(ctx, "sleep", numbered(ctx, j, "sleep"), ReadOnly, func(context.Context) ([]byte, error) { return json.Marshal(j.host.seam.now().Add(d)) })
	if err != nil {
		return err
	}
	var until time.Time
	if err := json.Unmarshal(data, &until); err != nil {
		return fmt.Errorf("sleep: reading the record: %w", err)
	}
	defer aside(ctx)()
	if !j.host.seam.pass(ctx, until) {
		return context.Cause(ctx)
	}
	return nil
}

// scoped is the name of a record that belongs to the call of a tool, or to the
// step, that ctx is in. A recorded call does not run again, so what its steps
// are called must not depend on other calls, nor theirs on it.
func scoped(ctx context.Context, what string) string {
	if call := callOf(ctx); call != "" {
		return call + " " + what
	}
	return what
}

func numbered(ctx context.Context, j *job, what string) string {
	what = scoped(ctx, what)
	return what + " " + strconv.Itoa(j.ordinal(what))
}

// durableStep is what the record of a durable step holds.
type durableStep struct {
	Value json.RawMessage `json:"value,omitempty"`
	Error *string         `json:"error,omitempty"`
}

// durably runs fn unless an earlier run of the work recorded, as record, what
// it gave. The step is called name in errors.
func durably(ctx context.Context, name, record string, again repeat, fn func(context.Context) ([]byte, error)) ([]byte, error) {
	j := jobOf(ctx)
	if j == nil {
		return nil, ErrOutside
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r, err := j.records(ctx)
	if err != nil {
		return nil, err
	}
	if data, ok := r.result(record); ok {
		var s durableStep
		if err := json.Unmarshal(data, &s); err != nil {
			return nil, fmt.Errorf("%s: reading the record: %w", name, err)
		}
		if s.Error != nil {
			return nil, &StepError{Name: name, Text: *s.Error}
		}
		return s.Value, nil
	}
	if again != ReadOnly {
		// Whoever asked must not be told later that nothing had begun.
		if err := j.agree(ctx); err != nil {
			return nil, err
		}
	}
	switch {
	case again != "":
	case r.begun(record):
		return nil, fmt.Errorf("%s: %w", name, ErrOutcomeUnknown)
	default:
		if err := r.write(ctx, store.Called, record, struct{}{}); err != nil {
			return nil, err
		}
	}
	value, failed := fn(context.WithValue(ctx, callKey{}, record))
	if ctx.Err() != nil && failed != nil {
		return nil, context.Cause(ctx) // it was told to stop, which says nothing about what it did
	}
	s := durableStep{Value: value}
	if failed != nil {
		text := failed.Error()
		s = durableStep{Error: &text}
	}
	// What was done is recorded although nobody waits for it any more.
	if err := r.write(context.WithoutCancel(ctx), store.Result, record, s); err != nil {
		return nil, err
	}
	return value, failed
}
