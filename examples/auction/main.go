// Command auction holds a contract net: a shipper calls three carriers for
// offers, gives the award to the best and gets a truck. All four are models.
package main

import (
	"context"
	"fmt"
	"log"
	"maps"
	"slices"

	"github.com/parley-agents/parley"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/llm"
)

var cargo = Load{From: "Oulu", To: "Turku", Kilos: 7200}

func carriers() []*carrier {
	return []*carrier{
		{name: "polar", freeKilos: 9000, perTonne: 95, days: 3},
		{name: "baltic", freeKilos: 12000, perTonne: 82, days: 4},
		{name: "midnight", freeKilos: 4000, perTonne: 60, days: 2},
	}
}

func main() {
	ctx, model := context.Background(), llm.FromEnv(rules()...)
	shipper := agent.New("shipper", agent.Model(model))
	agents := []*agent.Agent{shipper}
	var names []string
	for _, c := range carriers() {
		agents, names = append(agents, c.agent(model)), append(names, c.name)
	}
	host, err := parley.Start(ctx, agents...)
	if err != nil {
		log.Fatal(err)
	}
	defer host.Stop(ctx)
	fmt.Printf("%d kg from %s to %s: calling %v\n", cargo.Kilos, cargo.From, cargo.To, names)
	out, err := agent.CallForProposals(ctx, shipper, names, Haul, cargo, terms(shipper))
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range out.Delivered {
		fmt.Printf("award: %s, %s %s\n", d.Bidder, d.Result.Status, d.Result.Reference)
	}
	for _, bidder := range slices.Sorted(maps.Keys(out.Others)) {
		fmt.Println("no award:", out.Others[bidder])
	}
}

// terms let the shipper's model rank the offers, and print them.
func terms(shipper *agent.Agent) agent.AuctionTerms[Load, Offer] {
	judge := agent.Judge[Offer](shipper, "You ship goods. The load must arrive within four days; the cheapest offer wins.")
	return agent.AuctionTerms[Load, Offer]{Pick: func(ctx context.Context, bids []agent.Tender[Offer]) ([]agent.Tender[Offer], error) {
		for _, b := range bids {
			fmt.Printf("offer: %s, %d euros in %d days\n", b.Bidder, b.Bid.Euros, b.Bid.Days)
		}
		return judge(ctx, bids)
	}}
}
