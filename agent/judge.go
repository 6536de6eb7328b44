package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/repair"
)

// ErrNoneChosen: the model of a Judge will have none of the proposals.
var ErrNoneChosen = errors.New("none of the proposals was chosen")

// Judge lets the model of the agent that holds an auction rank its proposals:
// it is a function for AuctionTerms.Pick. The prompt says in plain words by what;
// the proposals are quoted to the model as data, each under a handle of the
// runtime's, and the model can name nothing but those handles. It may also have
// none of them, which is ErrNoneChosen. What the endpoint fails with is an
// *llm.Error, a model that does not come to a choice within its limits
// a *Decision(permanent, model).
func Judge[Bid any](a *Agent, prompt string) func(ctx context.Context, bids []Tender[Bid]) ([]Tender[Bid], error) {
	return func(ctx context.Context, bids []Tender[Bid]) ([]Tender[Bid], error) {
		if a.host == nil {
			return nil, ErrStopped
		}
		if a.model == nil {
			return nil, fmt.Errorf("agent %s judges proposals, but has no model", a.name)
		}
		j := &judgement{agent: a, prompt: prompt, bids: make([][]byte, len(bids))}
		for i, t := range bids {
			data, err := canonical(t.Bid)
			if err != nil {
				return nil, fmt.Errorf("quoting the proposal of %s: %w", t.Bidder, err)
			}
			j.bids[i] = data
		}
		order, err := j.choose(ctx)
		if err != nil {
			return nil, err
		}
		ranking := make([]Tender[Bid], len(order))
		for i, n := range order {
			ranking[i] = bids[n]
		}
		return ranking, nil
	}
}

// judgement is one choice of a model among proposals.
type judgement struct {
	agent  *Agent
	prompt string
	bids   [][]byte
}

// handle names a proposal for the model.
func handle(n int) string { return fmt.Sprintf("bid%d", n+1) }

// ranked are the arguments of the award.
type ranked struct {
	Ranking []string `json:"ranking"`
}

// functions are the two moves: to award, naming handles, and to turn all down.
func (j *judgement) functions() (award, refuse *schema.Schema, list []llm.Function, err error) {
	handles := make([]string, len(j.bids))
	for i := range j.bids {
		handles[i] = handle(i)
	}
	document, err := canonical(map[string]any{
		"type": "object", "additionalProperties": false, "required": []string{"ranking"},
		"properties": map[string]any{"ranking": map[string]any{
			"type": "array", "minItems": 1, "maxItems": len(handles), "uniqueItems": true,
			"items": map[string]any{"type": "string", "enum": handles},
		}},
	})
	if err != nil {
		return nil, nil, nil, err
	}
	if award, err = schema.Parse(document); err != nil {
		return nil, nil, nil, err
	}
	if refuse, err = schema.For[decline]("parley.decline/v1"); err != nil {
		return nil, nil, nil, err
	}
	return award, refuse, []llm.Function{
		{Name: string(envelope.Agree), Description: "Accept proposals: the handles of those that will do, best first.", Parameters: award.JSON()},
		{Name: string(envelope.Refuse), Description: "Turn all proposals down.", Parameters: refuse.JSON()},
	}, nil
}

// choose asks the model until it has chosen, as often as the agent's limits
// allow.
func (j *judgement) choose(ctx context.Context) ([]int, error) {
	award, refuse, functions, err := j.functions()
	if err != nil {
		return nil, err
	}
	limits := j.agent.limits.withDefaults()
	for range limits.Nudges + 1 {
		messages, err := j.messages()
		if err != nil {
			return nil, err
		}
		reply, err := j.agent.callModel(ctx, llm.Request{Messages: messages, Functions: functions, Choice: llm.ChoiceRequired}, j.agent.model.Complete)
		if err != nil {
			return nil, err
		}
		if len(reply.Calls) != 1 {
			continue
		}
		name, _ := repair.MatchFunction(reply.Calls[0].Name, []string{string(envelope.Agree), string(envelope.Refuse)})
		s := award
		if name == string(envelope.Refuse) {
			s = refuse
		}
		fixed := repair.Mend([]byte(reply.Calls[0].Arguments), s, repair.Options{Finish: reply.Finish, Effect: true})
		switch {
		case name == "" || fixed.Value == nil:
		case name == string(envelope.Refuse):
			return nil, ErrNoneChosen
		default:
			return j.read(fixed.Value)
		}
	}
	return nil, Fail(envelope.CodePermanent, "model")
}

func (j *judgement) read(args []byte) ([]int, error) {
	var r ranked
	if err := json.Unmarshal(args, &r); err != nil {
		return nil, fmt.Errorf("reading what the model chose: %w", err)
	}
	byHandle := map[string]int{}
	for n := range j.bids {
		byHandle[handle(n)] = n
	}
	order := make([]int, len(r.Ranking))
	for i, h := range r.Ranking {
		order[i] = byHandle[h] // the schema admits no other handle
	}
	return order, nil
}

// messages is the prompt: the agent's instructions, and each proposal as data.
func (j *judgement) messages() ([]llm.Message, error) {
	channel, err := guard.NewChannel(j.agent.host.seam)
	if err != nil {
		return nil, err
	}
	var quoted strings.Builder
	for i, bid := range j.bids {
		data, err := channel.Quote(handle(i), envelope.Peer, bid)
		if err != nil {
			return nil, err
		}
		quoted.WriteString(data + "\n")
	}
	system := strings.Join([]string{j.prompt, fmt.Sprintf("You are the agent %s. Proposals were made to you: choose by calling a function.", j.agent.name), channel.Rule()}, "\n\n")
	return []llm.Message{{Role: llm.RoleSystem, Text: system}, {Role: llm.RoleUser, Text: strings.TrimSpace(quoted.String())}}, nil
}
