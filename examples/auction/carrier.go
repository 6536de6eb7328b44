package main

import (
	"context"
	"strings"
	"sync"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/llm"
)

// carrier is a company with trucks. Its agent's model bids and delivers.
type carrier struct {
	name      string
	freeKilos int
	perTonne  int
	days      int

	mu     sync.Mutex
	booked map[string]string // by effect key
}

// Rate is what the tool rate returns.
type Rate struct {
	FreeKilos     int `json:"free_kilos"`
	EurosPerTonne int `json:"euros_per_tonne"`
	Days          int `json:"days"`
}

// Truck is what the tool book_truck takes, Booked what it returns.
type Truck struct {
	Kilos int `json:"kilos" jsonschema:"minimum=1"`
}

type Booked struct {
	Reference string `json:"reference"`
}

func (c *carrier) rate(context.Context, struct{}) (Rate, error) {
	return Rate{c.freeKilos, c.perTonne, c.days}, nil
}

// book books a truck once, however often it is asked under the same key.
func (c *carrier) book(ctx context.Context, t Truck) (Booked, error) {
	if t.Kilos > c.freeKilos {
		return Booked{}, agent.Refuse(envelope.CodeCapacity, "no-truck")
	}
	key := agent.EffectKey(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.booked[key] == "" {
		if c.booked == nil {
			c.booked = map[string]string{}
		}
		c.booked[key] = strings.ToUpper(c.name[:2]) + "-" + key[:8]
	}
	return Booked{c.booked[key]}, nil
}

func (c *carrier) agent(m llm.Model) *agent.Agent {
	return agent.New(c.name, agent.Model(m),
		agent.Answer(Haul, "You sell transport for a carrier. Look at your rates before you propose a price: euros per tonne, "+
			"rounded up. Without room for the load you refuse (capacity, no-truck). Once you have the award, book the truck and give its reference."),
		agent.Tool("rate", "What the next truck has room for and costs.", c.rate, agent.ReadOnly),
		agent.Tool("book_truck", "Books the truck for good.", c.book, agent.Keyed),
		// No prompt keeps a model from booking before it has the award. This does.
		agent.OfferWhen(func(ctx context.Context, function string) bool {
			w, _ := agent.Current(ctx)
			return function != "book_truck" || w.Awarded
		}))
}
