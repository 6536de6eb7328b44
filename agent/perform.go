package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/internal/strictjson"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// perform makes the calls of a round: the questions to peers all at once, the
// agent's own tools and what it asks back one after the other, in the model's
// order.
func (t *turn) perform(ctx context.Context, r *round, work []call) error {
	if len(work) == 0 {
		for _, c := range r.calls {
			r.results[c.id] = mustJSON(outcome{Outcome: "not-taken", Reason: "one-act-a-turn"})
		}
		return nil
	}
	if slices.ContainsFunc(work, func(c call) bool { return c.fault == nil }) {
		if err := t.job.agree(ctx); err != nil {
			return err
		}
	}
	var mu sync.Mutex
	peers := &group{sched: t.job.host.seam.sched}
	var errs []error
	begin := func(c call) { t.tell(&Calling{ID: c.id, Function: c.name, Arguments: c.args}) }
	keep := func(c call, data []byte, err error) {
		t.tell(&Called{ID: c.id, Function: c.name, Result: data})
		mu.Lock()
		defer mu.Unlock()
		r.results[c.id] = data
		errs = append(errs, err)
	}
	for _, c := range work {
		if c.fault == nil && c.function.contract != nil && !c.function.asksBack() {
			begin(c)
			peers.Go(func() {
				data, err := t.askPeer(ctx, c)
				keep(c, data, err)
			})
		}
	}
	for _, c := range work {
		switch {
		case c.fault != nil:
			begin(c)
			keep(c, c.fault, nil)
		case c.function.asksBack():
			begin(c)
			data, err := t.askBack(ctx, c)
			keep(c, data, err)
		case c.function.tool != nil:
			begin(c)
			data, err := t.runTool(ctx, c)
			keep(c, data, err)
		case c.function.tells():
			begin(c)
			data, err := t.tellPeer(ctx, c)
			keep(c, data, err)
		}
	}
	back := aside(ctx)
	t.job.host.seam.wait(peers.Idle())
	back()
	for _, c := range r.calls {
		if c.fault == nil && c.function.ends() {
			r.results[c.id] = mustJSON(outcome{Outcome: "not-taken", Reason: "calls-first"})
		}
		_, integrity := c.origin()
		t.integrity = t.integrity.Min(integrity)
	}
	return errors.Join(errs...)
}

// outcome is what a model is told about a call.
type outcome struct {
	Outcome string          `json:"outcome"`
	Result  json.RawMessage `json:"result,omitempty"`
	Code    envelope.Code   `json:"code,omitempty"`
	Reason  string          `json:"reason,omitempty"`
	Pointer string          `json:"pointer,omitempty"`
	Want    string          `json:"want,omitempty"`
	// Hint is what a tool or a check of the agent's own asks for.
	Hint string `json:"hint,omitempty"`
}

// askPeer opens a nested exchange with the peer. Nothing of it is recorded
// here: a second run asks under the same identity and meets the first one's
// exchange in the log.
func (t *turn) askPeer(ctx context.Context, c call) ([]byte, error) {
	q := &question{host: t.job.host, from: t.job.agent, to: c.function.peer, contract: c.function.contract,
		content: c.args, within: askWithin, identity: "turn " + c.id}
	// A model that orders the same thing twice in one piece of work means one
	// effect, whatever made it repeat itself.
	q.key = envelope.DerivedID(append(t.job.business(), "order", q.to, q.contract.Name.String(), string(t.job.host.fingerprint(c.args)))...)
	final, err := q.ask(ctx)
	switch {
	case err == nil && final.Act() == envelope.Agree:
		return mustJSON(outcome{Outcome: "accepted"}), nil
	case err == nil:
		return mustJSON(outcome{Outcome: "ok", Result: final.Content()}), nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return t.told(c, err)
}

// told is what the model hears of a question that did not end well; an error
// that is nobody's answer ends the turn.
func (t *turn) told(c call, err error) ([]byte, error) {
	say := func(o string, e protocol.Ending) ([]byte, error) {
		return mustJSON(outcome{Outcome: o, Code: e.Code, Reason: e.Reason, Pointer: e.Pointer, Want: e.Want}), nil
	}
	var (
		refused       *protocol.RefusedError
		rejected      *protocol.RejectedError
		failed        *protocol.FailedError
		notUnderstood *protocol.NotUnderstoodError
		cancelled     *protocol.CancelledError
		expired       *protocol.ExpiredError
		unknown       *protocol.UnknownError
		vetoed        *Decision // a layer of our own did not let the question out
	)
	switch {
	case errors.As(err, &refused):
		return say("refused", refused.Ending)
	case errors.As(err, &rejected):
		return say("rejected", rejected.Ending)
	case errors.As(err, &failed):
		return say("failed", failed.Ending)
	case errors.As(err, &notUnderstood):
		return say("not-understood", notUnderstood.Ending)
	case errors.As(err, &cancelled):
		return say("cancelled", cancelled.Ending)
	case errors.As(err, &expired):
		return say("expired", expired.Ending)
	case errors.As(err, &unknown):
		return say("unknown", unknown.Ending)
	case errors.As(err, &vetoed):
		return mustJSON(outcome{Outcome: "refused", Code: vetoed.Code, Reason: vetoed.Reason}), nil
	case errors.Is(err, ErrPast):
		return mustJSON(outcome{Outcome: "expired", Code: envelope.CodeDeadline, Reason: guard.ReasonLate}), nil
	case errors.Is(err, ErrUnknownPeer):
		return mustJSON(outcome{Outcome: "refused", Code: envelope.CodePermanent, Reason: "unknown-peer"}), nil
	}
	return nil, fmt.Errorf("calling %s: %w", c.name, err)
}

// tellPeer tells an item or a step of progress. Its message id follows from the
// call, so a second run finds it sent.
func (t *turn) tellPeer(ctx context.Context, c call) ([]byte, error) {
	if c.function.name == item {
		if failed := t.job.agent.checked(ctx, t.job.offer, publishing, c.args); failed != nil {
			return mustJSON(outcome{Outcome: "failed", Code: envelope.CodeValidation, Reason: "check", Hint: shown(failed.Error())}), nil
		}
	}
	err := t.job.tell(ctx, "call "+c.id, c.args, t.authorship())
	switch vetoed, ok := errors.AsType[*Decision](err); {
	case err == nil:
		return mustJSON(outcome{Outcome: "ok"}), nil
	case ok:
		return mustJSON(outcome{Outcome: "refused", Code: vetoed.Code, Reason: vetoed.Reason}), nil
	}
	return nil, err
}

// runTool runs one of the agent's own tools, unless its result is recorded.
func (t *turn) runTool(ctx context.Context, c call) ([]byte, error) {
	if data, ok := t.record.result(c.id); ok {
		return data, nil
	}
	again := c.function.tool.repeat != ""
	var data []byte
	done := false
	switch {
	case again:
		data, done = t.invoke(ctx, c)
	case t.record.begun(c.id):
		// The process died while it ran. It may have had its effect, so it is
		// not run again, and nobody pretends to know.
		data = mustJSON(outcome{Outcome: "unknown", Code: envelope.CodePermanent, Reason: reasonOutcomeUnknown})
	default:
		if err := t.record.write(ctx, store.Called, c.id, struct{}{}); err != nil {
			return nil, err
		}
		data, done = t.invoke(ctx, c)
	}
	if ctx.Err() != nil && !done {
		return nil, context.Cause(ctx)
	}
	// What was done is recorded although nobody waits for it any more.
	return data, t.record.write(context.WithoutCancel(ctx), store.Result, c.id, json.RawMessage(data))
}

// invoke calls the Go function and contains what goes wrong in it. It reports
// whether the function did what it was called for.
func (t *turn) invoke(ctx context.Context, c call) (data []byte, done bool) {
	name := slog.String("tool", c.function.name)
	defer func() {
		if p := recover(); p != nil {
			t.job.host.report(ctx, ToolPanicked, t.job.key, panicked(p), name, slog.String("stack", string(debug.Stack())))
			data = mustJSON(outcome{Outcome: "failed", Code: envelope.CodePermanent, Reason: "handler-panic"})
		}
	}()
	ctx = context.WithValue(ctx, callKey{}, c.id)
	ctx = context.WithValue(ctx, effectOfKey{}, c.function.name+"\x00"+string(t.job.host.fingerprint(c.args)))
	out, err := t.job.agent.callTool(ctx, c.function.tool, c.args)
	if err == nil {
		// What cannot be quoted to the model is a fault of the tool.
		if data, err = canonical(outcome{Outcome: "ok", Result: out}); err == nil {
			err = strictjson.Scan(data, strictjson.Limits{})
		}
		if err == nil {
			return data, true
		}
	}
	if again, ok := errors.AsType[*RetryError](err); ok {
		return mustJSON(outcome{Outcome: "retry", Hint: shown(again.Hint)}), false
	}
	if d, ok := errors.AsType[*Decision](err); ok {
		return mustJSON(outcome{Outcome: "failed", Code: d.Code, Reason: d.Reason}), false
	}
	t.job.host.report(ctx, ToolFailed, t.job.key, err, name)
	return mustJSON(outcome{Outcome: "failed", Code: envelope.CodePermanent, Reason: "handler"}), false
}
