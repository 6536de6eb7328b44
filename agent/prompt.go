package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/internal/strictjson"
	"github.com/parley-agents/parley/llm"
)

// messages builds the prompt anew for each call, under a fresh nonce: the
// agent's own instructions in the system message, everything that others said
// as quoted data.
func (t *turn) messages(ctx context.Context) ([]llm.Message, error) {
	channel, err := guard.NewChannel(t.job.host.seam)
	if err != nil {
		return nil, err
	}
	question, err := channel.Quote(t.job.key.Peer, envelope.Peer.Min(t.job.act.Header().Labels.Integrity), t.job.input)
	if err != nil {
		return nil, err
	}
	list := []llm.Message{
		{Role: llm.RoleSystem, Text: t.system(ctx, channel)},
		{Role: llm.RoleUser, Text: question},
	}
	if t.job.bid != nil {
		// The agent's own words, but made of what the peer asked for.
		bid, err := channel.Quote(t.job.agent.name, envelope.Peer.Min(t.job.act.Header().Labels.Integrity), t.job.bid)
		if err != nil {
			return nil, err
		}
		list = append(list, llm.Message{Role: llm.RoleUser, Text: "You proposed this, and it was accepted:\n" + bid})
	}
	for _, r := range t.history {
		more, err := r.messages(channel)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

func (t *turn) system(ctx context.Context, c guard.Channel) string {
	parts := []string{t.prompt}
	for _, fn := range t.job.agent.instructions {
		if text := fn(ctx); text != "" {
			parts = append(parts, text)
		}
	}
	parts = append(parts, fmt.Sprintf("You are the agent %s. %s", t.job.agent.name, t.job.task()))
	if t.chat {
		parts = append(parts, "Call functions to find things out as often as you need, then answer in plain text.")
	} else {
		parts = append(parts, "Answer only by calling functions: those that find things out as often as you need, then exactly one that ends your turn.")
	}
	return strings.Join(append(parts, c.Rule()), "\n\n")
}

// task says in a sentence what the work is.
func (j *job) task() string {
	switch j.phase {
	case bidding:
		return fmt.Sprintf("You are called to make a proposal for %s.", j.offer.Name)
	case performing:
		return fmt.Sprintf("Your proposal for %s got the award: deliver what you proposed.", j.offer.Name)
	case considering:
		return fmt.Sprintf("You are offered %s and decide whether you accept.", j.offer.Name)
	case publishing:
		return fmt.Sprintf("You publish %s to a subscriber.", j.offer.Name)
	case contributing:
		return fmt.Sprintf("You are one of several who contribute to %s.", j.offer.Name)
	}
	return fmt.Sprintf("You were asked for %s.", j.offer.Name)
}

// messages are the model's reply as it stands after repair, and the results.
func (r *round) messages(c guard.Channel) ([]llm.Message, error) {
	said := llm.Message{Role: llm.RoleAssistant, Text: r.text}
	var results []llm.Message
	for _, made := range r.calls {
		args := string(made.args)
		if args == "" {
			args = "{}"
		}
		said.Calls = append(said.Calls, llm.Call{ID: callID(made.id), Name: made.name, Arguments: args})
		from, integrity := made.origin()
		text, err := c.Quote(from, integrity, r.results[made.id])
		if err != nil {
			return nil, err
		}
		results = append(results, llm.Message{Role: llm.RoleTool, CallID: callID(made.id), Name: made.name, Text: text})
	}
	list := []llm.Message{said}
	list = append(list, results...)
	if r.nudge != "" {
		list = append(list, llm.Message{Role: llm.RoleUser, Text: r.nudge})
	}
	return list, nil
}

// origin says where the result of a call comes from and how far it is trusted.
func (c call) origin() (string, envelope.Integrity) {
	switch {
	case c.checked:
		return "check", envelope.Tool
	case c.fault != nil:
	case c.function != nil && c.function.tool != nil:
		return c.function.name, envelope.Tool
	case c.function != nil && c.function.contract != nil:
		return c.function.peer, envelope.Peer
	}
	return "parley", envelope.System
}

// callID is the call's name in a prompt.
func callID(id string) string { return "call" + strings.ReplaceAll(id, ".", "x") }

// unknown tells the model that there is no such function, or not now.
func unknown(f *function, offered []string) []byte {
	reason := "unknown-function"
	if f != nil {
		reason = "not-offered"
	}
	return mustJSON(map[string]any{"outcome": "failed", "code": envelope.CodePermanent, "reason": reason, "known": offered})
}

// canonical is the canonical JSON of a value of the agent's own.
func canonical(v any) ([]byte, error) { return strictjson.Marshal(v) }

// mustJSON is canonical for values that cannot fail.
func mustJSON(v any) []byte {
	data, err := canonical(v)
	if err != nil {
		panic(fmt.Sprintf("agent: a value of strings does not encode: %v", err))
	}
	return data
}

func decodeDecline(args []byte) (decline, error) {
	var d decline
	if err := json.Unmarshal(args, &d); err != nil {
		return d, fmt.Errorf("reading what the model declined with: %w", err)
	}
	return d, nil
}
