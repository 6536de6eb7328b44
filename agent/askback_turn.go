package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
)

// MayAskBack offers the agent's model a function, ask_back, with which it asks
// whoever asked it: free text, or one of some choices. Several questions of one
// reply are asked one after the other. The answer comes back as data of the
// peer. Whether the peer answers questions shows only when it is asked; one that
// does not is told to the model as not-understood. Default: not offered.
func MayAskBack() Option { return option(func(a *Agent) { a.mayAskBack = true }) }

// askBack is the name of that function.
const askBack = "ask_back"

// backwards is what a model asks. A schema is a thing between programs.
type backwards struct {
	Text    protocol.Text `json:"text" jsonschema:"minLength=1,maxLength=4096" jsonschema_description:"The question, in words that a person understands."`
	Choices []string      `json:"choices,omitempty" jsonschema:"minItems=1,maxItems=64,maxLength=500" jsonschema_description:"The answers to choose from; left out if any text will do."`
}

// back is the function that asks back, nil if it is not offered.
func (j *job) back() (*function, error) {
	if !j.agent.mayAskBack {
		return nil, nil
	}
	params, err := schema.For[backwards]("parley.ask-back/v1")
	if err != nil {
		return nil, err
	}
	bound, err := j.host.asked.bind(protocol.Question)
	if err != nil {
		return nil, err
	}
	return &function{name: askBack, params: params, peer: j.key.Peer, contract: bound,
		description: "Ask whoever asked you, when something that you need was left open. The answer comes back as data."}, nil
}

// asksBack reports whether the function is that one.
func (f *function) asksBack() bool { return f.contract != nil && f.name == askBack }

// askBack puts the model's question to whoever asked. As with a peer, a second
// run meets the exchange of the first.
func (t *turn) askBack(ctx context.Context, c call) ([]byte, error) {
	var asked protocol.QuestionAsked
	if err := json.Unmarshal(c.args, &asked); err != nil {
		return nil, fmt.Errorf("reading what the model asks: %w", err)
	}
	wrong := func(bad *protocol.QuestionError) []byte {
		return mustJSON(outcome{Outcome: "failed", Code: envelope.CodeValidation, Reason: guard.ReasonSchema, Pointer: bad.Pointer, Want: bad.Want})
	}
	if bad, ok := errors.AsType[*protocol.QuestionError](sound(asked)); ok {
		return wrong(bad), nil
	}
	q := &question{host: t.job.host, from: t.job.agent, to: c.function.peer, contract: c.function.contract,
		content: c.args, within: t.job.left(), identity: "turn " + c.id}
	answer, _, err := t.job.askBack(ctx, q)
	switch {
	case errors.Is(err, ErrQuestionOpen):
		return mustJSON(outcome{Outcome: "refused", Code: envelope.CodeCapacity, Reason: reasonQuestionOpen}), nil
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return t.told(c, err)
	}
	var said protocol.QuestionAnswered
	if err := json.Unmarshal(answer, &said); err != nil {
		return nil, fmt.Errorf("reading the answer of %s: %w", c.function.peer, err)
	}
	if bad := fitting(asked, said); bad != nil {
		return wrong(bad), nil
	}
	return mustJSON(outcome{Outcome: "ok", Result: answer}), nil
}
