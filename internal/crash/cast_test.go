package crash_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/protocol"
)

// Order is what is asked for, Receipt the answer.
type Order struct {
	N int `json:"n" jsonschema:"minimum=1"`
}

type Receipt struct {
	N int `json:"n" jsonschema:"minimum=1"`
}

// kind is a way in which an order is filled.
type kind struct {
	contract protocol.Contract[Order, Receipt]
	// atMostOnce: who fills it says that its outcome is unknown rather than to
	// make the effect again.
	atMostOnce bool
}

var kinds = []kind{
	{contract: protocol.Request[Order, Receipt]("crash.order.keyed-tool/v1")},
	{contract: protocol.Request[Order, Receipt]("crash.order.plain-tool/v1"), atMostOnce: true},
	{contract: protocol.Request[Order, Receipt]("crash.order.keyed-step/v1")},
	{contract: protocol.Request[Order, Receipt]("crash.order.plain-step/v1"), atMostOnce: true},
	{contract: protocol.Request[Order, Receipt]("crash.order.nested/v1")},
	{contract: protocol.Request[Order, Receipt]("crash.order.no-step/v1")},
}

// pay is what the clerk asks the bank for in a nested exchange.
var pay = protocol.Request[Order, Receipt]("crash.bank.pay/v1")

// kindOf is how an order is filled.
func kindOf(order int) kind { return kinds[order%len(kinds)] }

// unclear is the reason of a failure whose cause is an outcome that nobody knows.
const unclear = "outcome-unknown"

// cast makes an agent of the process.
func (c *child) cast(name string) *agent.Agent {
	switch name {
	case "clerk":
		return c.clerk()
	case "bank":
		return agent.New(name, agent.Handle(pay, func(ctx context.Context, o Order) (Receipt, error) {
			return Receipt(o), c.effect(ctx, o.N, noStep)
		}))
	case "ann", "bob":
		return c.party(name)
	}
	return agent.New(name)
}

func (c *child) clerk() *agent.Agent {
	tool := func(name, how string, opts ...agent.ToolOption) agent.Option {
		return agent.Tool(name, "Makes the effect.", func(ctx context.Context, o Order) (string, error) {
			return "made", c.effect(ctx, o.N, how)
		}, opts...)
	}
	step := func(how string, opts ...agent.ToolOption) func(context.Context, Order) (Receipt, error) {
		return func(ctx context.Context, o Order) (Receipt, error) {
			r, err := agent.Once(ctx, "pay", func(ctx context.Context) (Receipt, error) { return Receipt(o), c.effect(ctx, o.N, how) }, opts...)
			if errors.Is(err, agent.ErrOutcomeUnknown) {
				return r, agent.Fail(envelope.CodePermanent, unclear)
			}
			return r, err
		}
	}
	var clerk *agent.Agent
	clerk = agent.New("clerk", agent.Model(endpoint{c}), tool("keyed", keyedTool, agent.Keyed), tool("plain", plainTool),
		agent.Answer(kinds[0].contract, "Call keyed."),
		agent.Answer(kinds[1].contract, "Call plain."),
		agent.Handle(kinds[2].contract, step(keyedStep, agent.Keyed)),
		agent.Handle(kinds[3].contract, step(plainStep)),
		agent.Handle(kinds[4].contract, func(ctx context.Context, o Order) (Receipt, error) {
			return agent.Ask(ctx, clerk, "bank", pay, o, agent.Within(long))
		}),
		agent.Handle(kinds[5].contract, func(ctx context.Context, o Order) (Receipt, error) {
			return Receipt(o), c.effect(ctx, o.N, noStep)
		}))
	return clerk
}

// endpoint is a model whose every reply follows from what it is shown.
type endpoint struct{ child *child }

func (e endpoint) Complete(ctx context.Context, r llm.Request) (*llm.Response, error) {
	e.child.at("request")
	w, ok := agent.Current(ctx)
	if !ok {
		return nil, errors.New("nobody's turn")
	}
	var o Order
	if err := json.Unmarshal(w.Input, &o); err != nil {
		return nil, err
	}
	call := agenttest.Call("keyed", o)
	if strings.Contains(r.Messages[0].Text, "Call plain.") {
		call = agenttest.Call("plain", o)
	}
	for _, m := range r.Messages {
		switch {
		case m.Role != llm.RoleTool:
		case strings.Contains(m.Text, unclear):
			call = agenttest.Call("failure", map[string]string{"code": "permanent", "reason": unclear})
		case strings.Contains(m.Text, "made"):
			call = agenttest.Call("inform", Receipt(o))
		default:
			return nil, fmt.Errorf("order %d: the tool says %s", o.N, m.Text)
		}
	}
	e.child.at("response")
	return agenttest.Calls(call)(ctx, r)
}
