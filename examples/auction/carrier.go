package main

import (
	"context"
	"fmt"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/llm"
)

// carrier is a company with trucks. Its agent's model bids and delivers.
type carrier struct {
	name   string
	policy string // the company's own, in plain words
	rate   Rate
	ledger *ledger
}

// Rate is what the tool rate returns.
type Rate struct {
	Truck         string `json:"truck"`
	FreeKilos     int    `json:"free_kilos"`
	EurosPerTonne int    `json:"euros_per_tonne"`
	Days          int    `json:"days"`
}

// carriers are those that the shipper knows.
func carriers(l *ledger) []*carrier {
	return []*carrier{
		{"baltic", "You are cheap: propose even if the load comes later than it should.", Rate{"curtainsider", 12000, 82, 5}, l},
		{"midnight", "You are small: what does not fit you refuse.", Rate{"curtainsider", 4000, 60, 2}, l},
		{"polar", "You are reliable: propose only what arrives in time.", Rate{"reefer", 9000, 95, 3}, l},
	}
}

func (c *carrier) agent(m llm.Model) *agent.Agent {
	return agent.New(c.name, agent.Model(m),
		agent.Answer(Haul, "You sell transport for a carrier. Look at your rate before you propose: the price is its euros per tonne, "+
			"rounded up. Without room for the load you refuse (capacity, no-truck). Once you have the award, book the truck and give its "+
			"reference. "+c.policy),
		agent.Tool("rate", "What the next free truck has room for and costs.", c.look, agent.ReadOnly),
		agent.Tool("book_truck", "Books the truck for good.", c.book, agent.Keyed),
		// A prompt alone keeps no model from booking before it has the award. This does.
		agent.OfferWhen(func(ctx context.Context, function string) bool {
			work, _ := agent.Current(ctx)
			return function != "book_truck" || work.Awarded
		}),
		// Nor from making a reference up.
		agent.Check(Haul, func(_ context.Context, h Haulage) error {
			if !c.ledger.has(h.Reference) {
				return fmt.Errorf("the ledger has no %s: give the reference that book_truck returned", h.Reference)
			}
			return nil
		}))
}

func (c *carrier) look(context.Context, struct{}) (Rate, error) { return c.rate, nil }

// Order is what the tool book_truck takes, Booked what it returns.
type Order struct {
	Kilos int `json:"kilos" jsonschema:"minimum=1"`
}

type Booked struct {
	Reference string `json:"reference"`
}

// book books a truck. The key is the same however often this call runs.
func (c *carrier) book(ctx context.Context, o Order) (Booked, error) {
	if o.Kilos > c.rate.FreeKilos {
		return Booked{}, agent.Refuse(envelope.CodeCapacity, "no-truck")
	}
	return Booked{c.ledger.book(c.name, agent.EffectKey(ctx))}, nil
}
