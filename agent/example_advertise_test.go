package agent_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
)

// Orders is what the second version of Buy takes: it breaks with the first.
type Orders struct {
	Cups []string `json:"cups" jsonschema:"minItems=1"`
}

var Buy2 = protocol.Request[Orders, Ticket]("acme.coffee.buy/v2")

func sellAll(_ context.Context, o Orders) (Ticket, error) {
	return Ticket{Number: fmt.Sprintf("%d cups", len(o.Cups))}, nil
}

// bar answers two versions of a contract, one of them not for long.
func bar() *agent.Agent {
	return agent.New("bar", agent.Handle(Buy, sell), agent.Handle(Buy2, sellAll),
		agent.Capacity(4), agent.SLA(Buy2, 200*time.Millisecond, 2*time.Second),
		agent.Deprecate(Buy, time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), "acme.coffee.buy/v2"))
}

func ExampleHost_Advertisement() {
	h := agent.NewHost(agent.Config{}, bar())
	ad, err := h.Advertisement("bar")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ad.Agent, ad.Capacity)
	for _, c := range ad.Contracts {
		fmt.Println(c.Capability, c.Deprecated(), c.ReplacedBy, c.SLA)
	}
	// Output:
	// agent://local/bar 4
	// urn:cap:acme.coffee.buy/v1 true urn:cap:acme.coffee.buy/v2 <nil>
	// urn:cap:acme.coffee.buy/v2 false  &{200 2000}
}

func ExampleCommon() {
	guest := agent.New("guest")
	stop := run(guest, bar())
	defer stop()
	c, err := agent.Common(guest, "bar", Buy, Buy2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Name())
	if c.Name() == Buy2.Name() {
		fmt.Println(agent.Ask(context.Background(), guest, "bar", Buy2, Orders{[]string{"espresso"}}))
	}
	_, err = agent.Common(guest, "bar", protocol.Request[Orders, Ticket]("acme.coffee.buy/v3"))
	fmt.Println(err)
	// Output:
	// acme.coffee.buy/v2
	// {1 cups} <nil>
	// picking a version for agent://local/bar: contract acme.coffee.buy: no common version: ours are v3, theirs are v1, v2
}

func ExampleCapacity() {
	h := agent.NewHost(agent.Config{}, agent.New("bar", agent.Handle(Buy, sell), agent.Capacity(4)))
	ad, err := h.Advertisement("bar")
	fmt.Println(ad.Capacity, err)
	// Output: 4 <nil>
}

func ExampleSLA() {
	h := agent.NewHost(agent.Config{}, agent.New("bar", agent.Handle(Buy, sell), agent.SLA(Buy, 200*time.Millisecond, 2*time.Second)))
	ad, err := h.Advertisement("bar")
	fmt.Println(*ad.Contracts[0].SLA, err)
	// Output: {200 2000} <nil>
}

func ExampleDeprecate() {
	end := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	h := agent.NewHost(agent.Config{}, agent.New("bar", agent.Handle(Buy, sell), agent.Deprecate(Buy, end, "acme.coffee.buy/v2")))
	ad, err := h.Advertisement("bar")
	fmt.Println(ad.Contracts[0].Sunset.Format(time.DateOnly), ad.Contracts[0].ReplacedBy, err)
	// Output: 2100-01-01 urn:cap:acme.coffee.buy/v2 <nil>
}
