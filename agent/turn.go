package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/llm"
)

// modelAnswer lets the model answer. In a chat, plain text is an answer.
type modelAnswer struct {
	prompt string
	chat   bool
}

// turn is a model's work on one exchange. Its every output is a call: a tool,
// a peer's contract, or exactly one act that ends the turn. It cannot name a
// performative, an id, a receiver or a deadline of its own, because none of
// them is its to write.
type turn struct {
	job       *job
	prompt    string
	chat      bool
	limits    Limits
	functions []*function
	record    *recorder
	history   []round

	model     string
	usage     llm.Usage
	spent     spending
	calls     int
	nudges    int
	integrity envelope.Integrity
}

// round is one reply of the model and what came of its calls.
type round struct {
	calls   []call
	results map[string][]byte
	text    string
	// nudge is what the model is told when its reply ended no turn.
	nudge string
}

// call is one call of the model, with arguments that fit the function.
type call struct {
	id       string
	function *function
	name     string
	args     []byte
	// fault is why it cannot be made, for the model; checked says that it is
	// the agent's own check which refused it.
	fault   []byte
	checked bool
}

func (m modelAnswer) answer(ctx context.Context, j *job) (result, error) {
	functions, err := j.functions()
	if err != nil {
		return result{}, err
	}
	record, err := j.records(ctx)
	if err != nil {
		return result{}, err
	}
	t := &turn{job: j, prompt: m.prompt, chat: m.chat, limits: j.agent.limits.withDefaults(), functions: functions, record: record,
		integrity: envelope.Peer.Min(j.act.Header().Labels.Integrity)}
	if t.spent, err = j.spentBefore(ctx); err != nil {
		return result{}, err
	}
	act, err := t.run(ctx)
	if err != nil {
		return result{}, err
	}
	return t.end(act)
}

// run takes rounds until one of them is an act.
func (t *turn) run(ctx context.Context) (call, error) {
	for n := 1; n <= t.limits.Rounds; n++ {
		r, err := t.round(ctx, n)
		if err != nil {
			return call{}, err
		}
		if err := t.check(ctx, &r); err != nil {
			return call{}, err
		}
		work, acts := r.split()
		if len(work) == 0 && len(acts) == 1 {
			return acts[0], nil
		}
		if len(work) == 0 {
			if t.nudges++; t.nudges > t.limits.Nudges {
				return call{}, Fail(envelope.CodePermanent, "model")
			}
			r.nudge = "Your reply ended nothing. Call exactly one of the functions."
		}
		if err := t.perform(ctx, &r, work); err != nil {
			return call{}, err
		}
		t.history = append(t.history, r)
	}
	return call{}, Fail(envelope.CodeCapacity, "budget")
}

// check lets the agent's own rules judge what would end the turn.
func (t *turn) check(ctx context.Context, r *round) error {
	work, acts := r.split()
	if len(work) > 0 || len(acts) != 1 || *acts[0].function.move != t.job.phase.act() || t.job.phase == publishing {
		return nil
	}
	for i := range r.calls {
		c := &r.calls[i]
		if c.id != acts[0].id {
			continue
		}
		failed := t.job.agent.checked(ctx, t.job.offer, t.job.phase, c.args)
		if failed == nil {
			return nil
		}
		if t.nudges++; t.nudges > t.limits.Nudges {
			t.job.host.report(ctx, HandlerFailed, t.job.key, failed, slog.String("capability", t.job.opening.Capability()))
			return Fail(envelope.CodePermanent, "check")
		}
		c.checked = true
		c.fault = mustJSON(outcome{Outcome: "failed", Code: envelope.CodeValidation, Reason: "check", Hint: shown(failed.Error())})
	}
	return nil
}

// split parts the calls of a round. An act beside other calls is not taken
// yet: they run, and then the model is asked again.
func (r *round) split() (work, acts []call) {
	for _, c := range r.calls {
		if c.function != nil && c.function.ends() && c.fault == nil {
			acts = append(acts, c)
		} else {
			work = append(work, c)
		}
	}
	return work, acts
}

// authorship says which model speaks, and what its turn has read so far.
func (t *turn) authorship() *authorship {
	sum := sha256.Sum256([]byte(t.prompt))
	by := &authorship{integrity: t.integrity, provenance: envelope.Provenance{
		Model: t.model, Prompt: "sha256:" + hex.EncodeToString(sum[:]), InputTokens: t.usage.InputTokens, OutputTokens: t.usage.OutputTokens}}
	for _, tool := range t.job.agent.tools {
		by.provenance.Tools = append(by.provenance.Tools, tool.name)
	}
	return by
}

// end makes the act of the turn.
func (t *turn) end(act call) (result, error) {
	by := t.authorship()
	if *act.function.move == t.job.phase.act() {
		if _, s := t.job.offer.Carries(*act.function.move); s == nil || t.job.phase == publishing {
			act.args = nil // the act says nothing beyond itself
		}
		return result{content: act.args, dissents: act.function.name == dissent, model: by}, nil
	}
	d, err := decodeDecline(act.args)
	if err != nil {
		return result{}, err
	}
	return result{model: by}, &Decision{Act: act.function.move.Performative, Code: envelope.Code(d.Code), Reason: d.Reason}
}
