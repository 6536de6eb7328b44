package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/repair"
	"github.com/parley-agents/parley/store"
)

// repairShare is how much of the remaining time repair may use.
const repairShare = 0.6

// round gets the n-th reply and makes its calls fit to be made.
func (t *turn) round(ctx context.Context, n int) (round, error) {
	reply, recorded := t.record.reply(n)
	if !recorded {
		fresh, err := t.ask(ctx)
		if err != nil {
			return round{}, err
		}
		if err := t.record.write(ctx, store.Reply, strconv.Itoa(n), fresh); err != nil {
			return round{}, err
		}
		reply = *fresh
	}
	t.calls++
	t.model = reply.Model
	t.usage = t.usage.Add(reply.Usage)
	t.spent.add(t.job.agent.budget, reply.Model, reply.Usage)
	if t.overspent() {
		return round{}, Fail(envelope.CodeCapacity, "budget")
	}
	if t.chat && len(reply.Calls) == 0 && reply.Text != "" && reply.Finish == llm.FinishStop {
		return t.spoken(n, reply.Text)
	}
	r := round{text: reply.Text, results: map[string][]byte{}}
	fixed, err := t.fix(ctx, strconv.Itoa(n), reply)
	if err != nil {
		return round{}, err
	}
	for i, c := range reply.Calls {
		id := fmt.Sprintf("%d.%d", n, i+1)
		f := t.find(c.Name)
		now := f != nil && reply.offers(f)
		made := call{id: id, function: f, name: legalName(c.Name), args: fixed[i].Arguments}
		if f != nil {
			made.name = f.name
		}
		t.usage = t.usage.Add(fixed[i].Usage)
		if fixed[i].Tries > 0 {
			t.spent.add(t.job.agent.budget, reply.Model, fixed[i].Usage)
		}
		t.calls += fixed[i].Tries
		switch {
		case !now:
			made.fault = unknown(f, reply.Offered)
		case fixed[i].GaveUp != nil:
			// What it meant is not to be had without the rest of the
			// conversation, so it is told there, and may try again.
			v := fixed[i].GaveUp
			if t.nudges++; t.nudges > t.limits.Nudges {
				return round{}, &Decision{Act: envelope.Failure, Code: envelope.CodePermanent, Reason: guard.ReasonSchema, pointer: v.Pointer, want: v.Want}
			}
			made.fault = mustJSON(outcome{Outcome: "failed", Code: envelope.CodeValidation, Reason: guard.ReasonSchema, Pointer: v.Pointer, Want: v.Want})
		}
		if i >= t.limits.Calls {
			made.args, made.fault = nil, mustJSON(outcome{Outcome: "failed", Code: envelope.CodeCapacity, Reason: "too-many-calls"})
		}
		r.calls = append(r.calls, made)
	}
	if t.overspent() {
		return round{}, Fail(envelope.CodeCapacity, "budget")
	}
	return r, nil
}

// overspent reports whether more was spent than the turn, or its conversation,
// may spend.
func (t *turn) overspent() bool {
	crossed, _ := t.spent.crossed(t.job.agent.budget)
	return crossed || t.limits.Tokens != 0 && t.usage.InputTokens+t.usage.OutputTokens > t.limits.Tokens
}

// offers reports whether the model was offered the function when it gave the
// reply. An act is not judged by that: the state may have moved since, and
// what becomes of the act is the table's to say.
func (r *reply) offers(f *function) bool {
	return f.ends() || r.Offered == nil || slices.Contains(r.Offered, f.name)
}

// spoken is a round whose text is the answer of a chat.
func (t *turn) spoken(n int, text string) (round, error) {
	args, err := schema.Encode(t.job.offer.Result, protocol.Said{Text: protocol.Text(text)})
	if err != nil {
		return round{}, &Decision{Act: envelope.Failure, Code: envelope.CodePermanent, Reason: guard.ReasonSchema, pointer: "/text"}
	}
	f := t.find(string(envelope.Inform))
	return round{results: map[string][]byte{}, calls: []call{{id: fmt.Sprintf("%d.1", n), function: f, name: f.name, args: args}}}, nil
}

// ask puts the history to the model.
func (t *turn) ask(ctx context.Context) (*reply, error) {
	if _, usedUp := t.spent.crossed(t.job.agent.budget); usedUp || t.calls >= t.limits.ModelCalls {
		return nil, Fail(envelope.CodeCapacity, "budget")
	}
	messages, err := t.messages(ctx)
	if err != nil {
		return nil, err
	}
	now, err := t.available(ctx)
	if err != nil {
		return nil, err
	}
	choice := llm.ChoiceRequired
	if t.chat {
		choice = llm.ChoiceAuto
	}
	request := llm.Request{Messages: messages, Functions: offered(now), Choice: choice}
	said, err := t.job.agent.callModel(ctx, request, t.complete)
	if err == nil {
		if t.job.agent.layered() && said.Text+said.Reasoning != "" {
			t.tell(&Delta{Text: said.Text, Reasoning: said.Reasoning})
		}
		return &reply{Response: *said, Offered: named(now)}, nil
	}
	if failed, ok := errors.AsType[*llm.Error](err); ok && failed.Kind == llm.ErrorOutputInvalid && ctx.Err() == nil {
		return &reply{Response: llm.Response{Model: "unknown", Finish: llm.FinishStop}, Offered: named(now)}, nil // it answered with nothing that can be used
	}
	return nil, t.unasked(ctx, err)
}

// unasked is how the turn ends when the model could not be asked.
func (t *turn) unasked(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	failed, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return err // a layer's
	}
	t.job.host.report(ctx, ModelFailed, t.job.key, err)
	if failed.Temporary() {
		return Fail(envelope.CodeTransient, "model")
	}
	return Fail(envelope.CodePermanent, "model")
}

// fix mends the arguments of a reply's calls, asking the model again for what
// cannot be mended here. What that took is recorded before anything is done.
func (t *turn) fix(ctx context.Context, n string, reply reply) ([]mended, error) {
	if m, ok := t.record.mended[n]; ok && len(m) == len(reply.Calls) {
		return m, nil
	}
	now := t.job.host.seam.now()
	r := repair.Repairer{Model: through{t.job.agent}, Nonce: t.job.host.seam, Now: t.job.host.seam.now,
		Budget: repair.Budget{Deadline: now.Add(time.Duration(repairShare * float64(t.job.act.ReplyBy().Sub(now))))}}
	left := t.limits.ModelCalls - t.calls
	fixed := make([]mended, len(reply.Calls))
	asked := false
	for i, c := range reply.Calls {
		f := t.find(c.Name)
		if f == nil || !reply.offers(f) || i >= t.limits.Calls {
			continue // it will not be made
		}
		finish := reply.Finish
		if finish == llm.FinishCalls {
			finish = llm.FinishStop // the model was done: it said what to call
		}
		r.Observe = func(e repair.Event) { t.tell(&Mended{Function: f.name, Event: e}) }
		r.Budget.Tries = left
		if left == 0 {
			r.Budget.Tries = -1
		}
		res, err := r.Fix(ctx, repair.Attempt{Raw: []byte(c.Arguments), Schema: f.params, Usage: reply.Usage,
			Options: repair.Options{Finish: finish, Effect: f.effect()}})
		fixed[i] = mended{Arguments: res.Value, Tries: res.Tries, Usage: res.Usage, Model: reply.Model}
		asked = asked || res.Tries > 0
		left -= res.Tries
		t.noteRepair(f, res)
		if gave, ok := errors.AsType[*repair.GaveUp](err); ok {
			fixed[i].GaveUp = &repair.Violation{Rule: "schema"}
			if len(gave.Violations) > 0 {
				fixed[i].GaveUp = &gave.Violations[0]
			}
		} else if err != nil {
			return nil, t.unasked(ctx, err)
		}
	}
	if !asked {
		return fixed, nil // local mending is pure: a second run gives the same
	}
	return fixed, t.record.write(ctx, store.Mended, n, fixed)
}

// noteRepair counts what was mended.
func (t *turn) noteRepair(f *function, res repair.Result) {
	if res.Tries == 0 && len(res.Fixes) == 0 {
		return
	}
	h := t.job.host
	h.counts.add("repair")
	h.report(h.running, Repaired, t.job.key, nil, slog.String("function", f.name), slog.Int("tries", res.Tries), slog.Int("fixes", len(res.Fixes)))
}

func (t *turn) find(name string) *function {
	known, ok := repair.MatchFunction(name, named(t.functions))
	if !ok {
		return nil
	}
	for _, f := range t.functions {
		if f.name == known {
			return f
		}
	}
	return nil
}
