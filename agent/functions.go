package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/protocol"
)

// function is something that a model may do in its turn: exactly one of a
// move, a tool and a peer's contract.
type function struct {
	name        string
	description string
	params      *schema.Schema

	move     *protocol.Utterance
	tool     *tool
	peer     string
	contract *guard.Contract
}

// effect reports whether the call has effects outside the exchange, so that
// nothing of it may be completed by guessing.
func (f *function) effect() bool {
	return f.tool != nil && f.tool.repeat != ReadOnly || f.contract != nil && f.contract.Effects
}

// decline is what a model says when it refuses or fails.
type decline struct {
	Code   string `json:"code" jsonschema:"enum=validation,enum=capacity,enum=transient,enum=permanent"`
	Reason string `json:"reason" jsonschema:"pattern=^[a-z][a-z0-9-]*$,maxLength=40" jsonschema_description:"one lower-case word, such as no-availability"`
}

// The functions of a turn that are no performatives of their own: a
// contribution that disagrees, an item of a stream, and word of progress. The
// last two do not end the turn.
const (
	dissent  = "dissent"
	item     = "item"
	progress = "progress"
)

// reserved reports whether a tool may not have the name.
func reserved(name string) bool {
	return slices.Contains(envelope.Performatives(), envelope.Performative(name)) || strings.Contains(name, "__") ||
		name == dissent || name == item || name == progress || name == askBack
}

// ends reports whether the function is an act that ends the turn.
func (f *function) ends() bool { return f.move != nil && !f.tells() }

// tells reports whether the function tells something and the turn goes on.
func (f *function) tells() bool { return f.move != nil && (f.name == item || f.name == progress) }

// moves are the functions for the acts of the job's phase.
func (j *job) moves() ([]*function, error) {
	declined, err := schema.For[decline]("parley.decline/v1")
	if err != nil {
		return nil, err
	}
	nothing, err := schema.For[protocol.Empty]("parley.empty/v1")
	if err != nil {
		return nil, err
	}
	final := protocol.Utterance{Performative: envelope.Inform, Status: envelope.Final}
	partial := protocol.Utterance{Performative: envelope.Inform, Status: envelope.Partial}
	move := func(name string, u protocol.Utterance, params *schema.Schema, description string) *function {
		return &function{name: name, move: &u, params: params, description: description}
	}
	act := func(u protocol.Utterance, params *schema.Schema, description string) *function {
		return move(string(u.Performative), u, params, description+" This ends your turn.")
	}
	o := j.offer
	var list []*function
	refusal := "Say that you will not do it, before anything was started."
	switch j.phase {
	case answering, performing:
		list = append(list, act(final, o.Result, "Give the result."))
	case bidding:
		list = append(list, act(j.phase.act(), o.Bid, "Make your proposal."))
		refusal = "Say that you make no proposal."
	case considering:
		list = append(list, act(j.phase.act(), nothing, "Accept what is offered."))
		refusal = "Reject what is offered."
	case publishing:
		list = append(list, move(item, partial, o.Item, "Tell the next item. Your turn goes on."), act(final, nothing, "End the stream."))
	case contributing:
		list = append(list, act(partial, o.Contribution, "Give your contribution."),
			move(dissent, partial, o.Contribution, "Give a contribution that disagrees. This ends your turn."))
		refusal = "Say that you abstain."
	}
	if o.Progress != nil && (j.phase == answering || j.phase == performing) {
		list = append(list, move(progress, partial, o.Progress, "Tell how far you have come. Your turn goes on."))
	}
	return append(list,
		act(protocol.Utterance{Performative: envelope.Refuse}, declined, refusal),
		act(protocol.Utterance{Performative: envelope.Failure}, declined, "Say that you tried and could not."),
	), nil
}

// functions lists what the model of the agent can do in a phase of an exchange:
// its acts, the agent's tools and the contracts of the peers it may ask. Which
// of them it may do now is available's to say.
func (j *job) functions() ([]*function, error) {
	list, err := j.moves()
	if err != nil {
		return nil, err
	}
	a := j.agent
	for _, t := range a.tools {
		list = append(list, &function{name: t.name, description: t.description, params: t.input, tool: t})
	}
	used := map[string]bool{}
	for _, p := range a.peers {
		for _, c := range p.contracts {
			list = append(list, &function{
				name:        functionName(bareName(p.name), c.Name, used),
				description: fmt.Sprintf("Ask the agent %s for %s. Its answer comes back as data.", bareName(p.name), c.Name),
				params:      c.Input, peer: p.name, contract: c,
			})
		}
	}
	back, err := j.back()
	if back != nil {
		list = append(list, back)
	}
	return list, err
}

func bareName(peer string) string { return peer[strings.LastIndexByte(peer, '/')+1:] }

// maxName is the longest function name that every endpoint takes.
const maxName = 64

// functionName names a peer's contract for a model: "<peer>__<contract>" in
// the characters that endpoints allow. A name that had to be cut, or that
// another contract has already, ends in a hash of the whole.
func functionName(peer string, c protocol.Name, used map[string]bool) string {
	whole := peer + "__" + c.String()
	name := legal(whole)
	if len(name) > maxName || used[name] {
		sum := sha256.Sum256([]byte(whole))
		suffix := "_" + hex.EncodeToString(sum[:4])
		name = name[:min(len(name), maxName-len(suffix))] + suffix
	}
	used[name] = true
	return name
}

// legal puts an underscore for each character that endpoints do not allow in
// the name of a function.
func legal(name string) string {
	return strings.Map(func(r rune) rune {
		if toolName.MatchString(string(r)) {
			return r
		}
		return '_'
	}, name)
}

// legalName is a name that a model invented as it can be shown to it again.
func legalName(name string) string {
	name = legal(name)
	return name[:min(len(name), maxName)]
}

// available are the functions that may be called now: the acts that the
// protocol allows in the state that the exchange is in, and the tools and
// peers that the agent offers at this moment.
func (t *turn) available(ctx context.Context) ([]*function, error) {
	x, err := t.job.host.store.Exchange(ctx, t.job.key)
	if err != nil {
		return nil, fmt.Errorf("reading the exchange: %w", err)
	}
	moves := x.State.Moves()
	var list []*function
	for _, f := range t.functions {
		if f.move == nil && f.effect() && t.job.phase == bidding {
			continue // nothing has effects before the award
		}
		spoken := f.contract == nil || f.asksBack() || t.job.agent.speaks(f.peer, f.contract)
		if f.move != nil && slices.Contains(moves, *f.move) || f.move == nil && spoken && t.job.agent.mayOffer(ctx, f.name) {
			list = append(list, f)
		}
	}
	return list, nil
}

// mayOffer reports whether a function that is no act is offered now.
func (a *Agent) mayOffer(ctx context.Context, function string) bool {
	for _, when := range a.offerWhen {
		if !when(ctx, function) {
			return false
		}
	}
	return true
}

// named are the names of the functions.
func named(list []*function) []string {
	names := make([]string, len(list))
	for i, f := range list {
		names[i] = f.name
	}
	return names
}

// offered is the list as a model sees it.
func offered(list []*function) []llm.Function {
	out := make([]llm.Function, len(list))
	for i, f := range list {
		out[i] = llm.Function{Name: f.name, Description: f.description, Parameters: json.RawMessage(f.params.JSON())}
	}
	return out
}
