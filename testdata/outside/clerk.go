// Package clerk is a program outside the module: an agent with a typed tool, a
// typed contract, a check and a model of its own.
package clerk

import (
	"context"
	"errors"
	"strings"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/protocol"
)

type Order struct {
	Item  string `json:"item" jsonschema:"minLength=1"`
	Count int    `json:"count" jsonschema:"minimum=1,maximum=10"`
}

type Bill struct {
	Cents int `json:"cents" jsonschema:"minimum=0"`
}

type Item struct {
	Name string `json:"name"`
}

type Price struct {
	Cents int `json:"cents"`
}

var Charge = protocol.Query[Order, Bill]("shop.charge/v1")

// Model looks the price up, then charges for three: wrong at first, right when the check says so.
type Model struct{}

func (Model) Complete(_ context.Context, r llm.Request) (*llm.Response, error) {
	call := llm.Call{ID: "1", Name: "price", Arguments: `{"name":"tea"}`}
	if last := r.Messages[len(r.Messages)-1]; strings.Contains(last.Text, `"outcome":"ok"`) {
		call = llm.Call{ID: "2", Name: "inform", Arguments: `{"cents":250}`}
	} else if strings.Contains(last.Text, "divisible") {
		call = llm.Call{ID: "3", Name: "inform", Arguments: `{"cents":750}`}
	}
	return &llm.Response{Model: "own", Calls: []llm.Call{call}, Finish: llm.FinishCalls}, nil
}

func New() *agent.Agent {
	return agent.New("clerk", agent.Model(Model{}), agent.Answer(Charge, "Charge for what is ordered."),
		agent.Tool("price", "The price of one.", func(_ context.Context, i Item) (Price, error) {
			return Price{Cents: 250}, nil
		}, agent.ReadOnly),
		agent.Check(Charge, func(_ context.Context, b Bill) error {
			if b.Cents%3 != 0 {
				return errors.New("a bill for three is divisible by three")
			}
			return nil
		}))
}
