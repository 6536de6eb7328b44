// Command auction holds a contract net: a shipper calls three carriers for
// offers, gives the award to the best and gets a truck. All four are models.
package main

import (
	"context"
	"log"
	"os"

	"github.com/parley-agents/parley"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/llm"
)

func main() {
	ctx, model := context.Background(), llm.FromEnv(rules()...)
	shipper := agent.New("shipper", agent.Model(model))
	agents, bidders := []*agent.Agent{shipper}, []string{}
	for _, c := range carriers(newLedger()) {
		agents, bidders = append(agents, c.agent(model)), append(bidders, c.name)
	}
	host, err := parley.Start(ctx, agents...)
	if err != nil {
		log.Fatal(err)
	}
	defer host.Stop(ctx)
	conversation, err := ship(ctx, os.Stdout, shipper, bidders, Load{From: "Oulu", To: "Turku", Kilos: 7200, Days: 4}, "order-8841")
	if err != nil {
		log.Fatal(err)
	}
	if err := conclude(ctx, os.Stdout, host, shipper, conversation); err != nil {
		log.Fatal(err)
	}
}
