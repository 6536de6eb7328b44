package agent_test

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

// ticket is a model's reply that ends its turn.
func ticket(number string) agenttest.Reply {
	return agenttest.Calls(agenttest.Call("inform", Ticket{Number: number}))
}

// buy asks the barista for two coffees.
func buy(seller *agent.Agent) {
	guest := agent.New("guest")
	defer run(seller, guest)()
	fmt.Println(agent.Ask(context.Background(), guest, "barista", Buy, Order{Coffees: 2}))
}

// In a program the model is llm.FromEnv() or one of your own.
func ExampleModel() {
	model := agenttest.NewScript(ticket("A-17"))
	buy(agent.New("barista", agent.Model(model), agent.Answer(Buy, "Sell coffee.")))
	// Output: {A-17} <nil>
}

func ExampleChat() {
	model := agenttest.NewScript(agenttest.Says("We have coffee."))
	guest := agent.New("guest")
	defer run(agent.New("barista", agent.Model(model), agent.Chat("You answer questions about the café in one sentence.")), guest)()
	out, err := agent.Ask(context.Background(), guest, "barista", protocol.Chat(), protocol.Said{Text: "What do you have?"})
	fmt.Println(out.Text, err)
	// Output: We have coffee. <nil>
}

// What no schema can say is said in Go; the model may try again.
func ExampleCheck() {
	model := agenttest.NewScript(ticket("17"), ticket("A-17"))
	buy(agent.New("barista", agent.Model(model), agent.Answer(Buy, "Sell coffee."),
		agent.Check(Buy, func(_ context.Context, t Ticket) error {
			if !strings.HasPrefix(t.Number, "A-") {
				fmt.Println("not a ticket of ours:", t.Number)
				return errors.New("ticket numbers begin with A-")
			}
			return nil
		})))
	// Output:
	// not a ticket of ours: 17
	// {A-17} <nil>
}

func ExampleRetry() {
	model := agenttest.NewScript(
		agenttest.Calls(agenttest.Call("stock", Order{Coffees: 200})),
		agenttest.Calls(agenttest.Call("stock", Order{Coffees: 2})),
		ticket("A-17"))
	buy(agent.New("barista", agent.Model(model), agent.Answer(Buy, "Sell coffee that is in stock."),
		agent.Tool("stock", "Whether so many coffees are in stock.", func(_ context.Context, o Order) (bool, error) {
			fmt.Println("the model asks for", o.Coffees)
			if o.Coffees > 100 {
				return false, agent.Retry("ask for at most 100 at a time")
			}
			return true, nil
		}, agent.ReadOnly)))
	// Output:
	// the model asks for 200
	// the model asks for 2
	// {A-17} <nil>
}

func ExampleLimit() {
	hesitates := agenttest.Says("Hm.")
	model := agenttest.NewScript(hesitates, hesitates, ticket("A-17"))
	guest := agent.New("guest")
	defer run(agent.New("barista", agent.Model(model), agent.Answer(Buy, "Sell coffee."), agent.Limit(agent.Limits{Nudges: 1})), guest)()
	_, err := agent.Ask(context.Background(), guest, "barista", Buy, Order{Coffees: 2})
	if failed, ok := errors.AsType[*protocol.FailedError](err); ok {
		fmt.Println("failed:", failed.Reason, "after", len(model.Requests()), "replies")
	}
	// Output: failed: model after 2 replies
}

// A layer sees what the agent does, and may change or veto it.
func ExampleAround() {
	model := agenttest.NewScript(ticket("A-17"))
	buy(agent.New("barista", agent.Model(model), agent.Answer(Buy, "Sell coffee."), agent.Around(agent.Layer{
		Model: func(ctx context.Context, r llm.Request, next func(context.Context, llm.Request) (*llm.Response, error)) (*llm.Response, error) {
			fmt.Println("the model is asked with", len(r.Functions), "functions")
			return next(ctx, r)
		},
		Act: func(ctx context.Context, a agent.Act, next func(context.Context, agent.Act) error) error {
			if a.Performative == envelope.Inform {
				a.Content = json.RawMessage(`{"number":"(hidden)"}`)
			}
			return next(ctx, a)
		},
	})))
	// Output:
	// the model is asked with 3 functions
	// {(hidden)} <nil>
}

func ExampleInstructions() {
	model := agenttest.NewScript(ticket("A-17"))
	buy(agent.New("barista", agent.Model(model), agent.Answer(Buy, "Sell coffee."),
		agent.Instructions(func(ctx context.Context) string {
			work, _ := agent.Current(ctx)
			return "The guest is " + work.Sender + "."
		})))
	fmt.Println(strings.Contains(model.Requests()[0].Messages[0].Text, "The guest is agent://local/guest."))
	// Output:
	// {A-17} <nil>
	// true
}

func ExampleOfferWhen() {
	model := agenttest.NewScript(ticket("A-17"))
	open := false
	buy(agent.New("barista", agent.Model(model), agent.Answer(Buy, "Sell coffee."),
		agent.Tool("grind", "Grinds beans.", func(context.Context, Order) (bool, error) { return true, nil }),
		agent.OfferWhen(func(_ context.Context, function string) bool { return function != "grind" || open })))
	for _, f := range model.Requests()[0].Functions {
		fmt.Println(f.Name)
	}
	// Output:
	// {A-17} <nil>
	// inform
	// refuse
	// failure
}

// Contracts of different Go types go into one list.
func ExampleContract() {
	for _, c := range []agent.Contract{Buy, Menu} {
		fmt.Println(c.Name())
	}
	// Output:
	// acme.coffee.buy/v1
	// acme.coffee.menu/v1
}
