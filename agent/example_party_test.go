package agent_test

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"slices"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/protocol"
)

type Motion struct {
	Text string `json:"text"`
}

type Vote struct {
	Aye bool `json:"aye"`
}

type Errand struct {
	To string `json:"to"`
}

type Fee struct {
	Cents int `json:"cents" jsonschema:"minimum=0"`
}

type Receipt struct {
	By string `json:"by"`
}

var (
	Ballot  = protocol.NewGathering[Motion, Vote]("cafe.board.ballot/v1")
	Deliver = protocol.NewAuction[Errand, Fee, Receipt]("cafe.courier.deliver/v1")
)

// Everybody is asked the same; the answers come in the order of the names.
func ExampleGather() {
	chair := agent.New("chair")
	votes := func(context.Context, Motion) (Vote, error) { return Vote{Aye: true}, nil }
	defer run(chair, agent.New("ann", agent.Contribute(Ballot, votes)), agent.New("bob", agent.Contribute(Ballot, votes)))()
	out, err := agent.Gather(context.Background(), chair, []string{"bob", "ann"}, Ballot, Motion{"Open on Sundays"}, agent.GatherTerms{})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range out.Contributions {
		fmt.Println(c.Member, c.Value.Aye)
	}
	fmt.Println(out.Terminal, string(out.Value))
	// Output:
	// agent://local/ann true
	// agent://local/bob true
	// COMPLETED [{"aye":true},{"aye":true}]
}

// A member that will not say abstains: it refuses.
func ExampleContribute() {
	chair := agent.New("chair")
	ann := agent.New("ann", agent.Contribute(Ballot, func(_ context.Context, m Motion) (Vote, error) {
		return Vote{Aye: m.Text == "Open on Sundays"}, nil
	}))
	bob := agent.New("bob", agent.Contribute(Ballot, func(context.Context, Motion) (Vote, error) {
		return Vote{}, agent.Refuse("permanent", "conflict-of-interest")
	}))
	defer run(chair, ann, bob)()
	terms := agent.GatherTerms{Policy: protocol.PolicyQuorum, Quorum: 2}
	out, err := agent.Gather(context.Background(), chair, []string{"ann", "bob"}, Ballot, Motion{"Open on Sundays"}, terms)
	fmt.Println(len(out.Contributions), out.Abstained, err)
	// Output: 1 [agent://local/bob] the conversation ended BLOCKED
}

// Dissent is kept apart from what the others say, and stands beside it.
func ExampleDissent() {
	chair := agent.New("chair")
	ann := agent.New("ann", agent.Contribute(Ballot, func(context.Context, Motion) (Vote, error) { return Vote{Aye: true}, nil }))
	bob := agent.New("bob", agent.Contribute(Ballot, func(context.Context, Motion) (Vote, error) { return agent.Dissent(Vote{Aye: false}) }))
	defer run(chair, ann, bob)()
	terms := agent.GatherTerms{Reducer: protocol.ReducerPreserveDissent}
	out, err := agent.Gather(context.Background(), chair, []string{"ann", "bob"}, Ballot, Motion{"Open on Sundays"}, terms)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out.Terminal, string(out.Value))
	// Output: DISSENT_RECORDED {"contributions":[{"aye":true}],"dissent":[{"aye":false}]}
}

func courier(name string, cents int, opts ...agent.BidOption) *agent.Agent {
	return agent.New(name, agent.Bid(Deliver,
		func(context.Context, Errand) (Fee, error) { return Fee{Cents: cents}, nil },
		func(_ context.Context, e Errand, f Fee) (Receipt, error) {
			return Receipt{By: fmt.Sprintf("%s went to %s for %d", name, e.To, f.Cents)}, nil
		}, opts...))
}

// byFee ranks the cheapest first.
func byFee(_ context.Context, bids []agent.Tender[Fee]) ([]agent.Tender[Fee], error) {
	slices.SortStableFunc(bids, func(a, b agent.Tender[Fee]) int { return cmp.Compare(a.Bid.Cents, b.Bid.Cents) })
	return bids, nil
}

// The award goes to whom Pick puts first; who comes after stands by.
func ExampleCallForProposals() {
	cafe := agent.New("cafe")
	defer run(cafe, courier("ann", 700), courier("bob", 500))()
	out, err := agent.CallForProposals(context.Background(), cafe, []string{"ann", "bob"}, Deliver, Errand{To: "Turku"},
		agent.AuctionTerms[Errand, Fee]{Pick: byFee})
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range out.Delivered {
		fmt.Println(d.Bidder, d.Bid.Cents, d.Result.By)
	}
	// Output: agent://local/bob 500 bob went to Turku for 500
}

// A proposal promises nothing yet: what it costs is done under the award.
func ExampleBid() {
	cafe := agent.New("cafe")
	ann := agent.New("ann", agent.Bid(Deliver,
		func(_ context.Context, e Errand) (Fee, error) {
			if e.To == "Oslo" {
				return Fee{}, agent.Refuse("permanent", "too-far")
			}
			return Fee{Cents: 700}, nil
		},
		func(ctx context.Context, e Errand, _ Fee) (Receipt, error) {
			return Receipt{By: fmt.Sprintf("ann went to %s, booked under a key: %t", e.To, agent.EffectKey(ctx) != "")}, nil
		}))
	defer run(cafe, ann)()
	for _, to := range []string{"Turku", "Oslo"} {
		out, err := agent.CallForProposals(context.Background(), cafe, []string{"ann"}, Deliver, Errand{To: to}, agent.AuctionTerms[Errand, Fee]{Pick: byFee})
		if err != nil {
			fmt.Println(to, err)
			continue
		}
		fmt.Println(out.Delivered[0].Result.By)
	}
	// Output:
	// ann went to Turku, booked under a key: true
	// Oslo the conversation ended BLOCKED
}

// A proposal stands for a while after the deadline of its call.
func ExampleHolds() {
	cafe := agent.New("cafe")
	defer run(cafe, courier("ann", 700, agent.Holds(time.Hour)))()
	_, err := agent.CallForProposals(context.Background(), cafe, []string{"ann"}, Deliver, Errand{To: "Turku"},
		agent.AuctionTerms[Errand, Fee]{Pick: func(ctx context.Context, bids []agent.Tender[Fee]) ([]agent.Tender[Fee], error) {
			fmt.Println(time.Until(bids[0].Until) > time.Hour)
			return byFee(ctx, bids)
		}})
	fmt.Println(err)
	// Output:
	// true
	// <nil>
}

// The model sees the proposals under handles, and can name nothing else.
func ExampleJudge() {
	model := agenttest.NewScript(agenttest.Calls(agenttest.Call("agree", `{"ranking":["bid2","bid1"]}`)))
	cafe := agent.New("cafe", agent.Model(model))
	defer run(cafe, courier("ann", 700), courier("bob", 500))()
	out, err := agent.CallForProposals(context.Background(), cafe, []string{"ann", "bob"}, Deliver, Errand{To: "Turku"},
		agent.AuctionTerms[Errand, Fee]{Pick: agent.Judge[Fee](cafe, "Take the cheapest courier.")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out.Delivered[0].Bidder)
	// Output: agent://local/bob
}

// A bidder that cannot keep its proposal takes it back while nobody has decided.
func ExampleWithdraw() {
	cafe, ann := agent.New("cafe"), courier("ann", 300)
	defer run(cafe, ann, courier("bob", 500))()
	var conversation string
	out, err := agent.CallForProposals(context.Background(), cafe, []string{"ann", "bob"}, Deliver, Errand{To: "Turku"},
		agent.AuctionTerms[Errand, Fee]{Pick: func(ctx context.Context, bids []agent.Tender[Fee]) ([]agent.Tender[Fee], error) {
			// The bicycle breaks while the cafe thinks.
			if err := agent.Withdraw(ctx, ann, conversation, "cafe"); err != nil {
				return nil, err
			}
			return byFee(ctx, bids)
		}}, agent.Opened(func(id string) { conversation = id }))
	if err != nil {
		log.Fatal(err)
	}
	// Should the award have left before the news came, ann's side says so and bob stands by.
	fmt.Println(out.Delivered[len(out.Delivered)-1].Bidder)
	// Output: agent://local/bob
}

// A gather goes on without whoever opened it, and can be met again by its id.
func ExampleResumeGather() {
	chair := agent.New("chair")
	votes := func(context.Context, Motion) (Vote, error) { return Vote{Aye: true}, nil }
	defer run(chair, agent.New("ann", agent.Contribute(Ballot, votes)))()
	var conversation string
	if _, err := agent.Gather(context.Background(), chair, []string{"ann"}, Ballot, Motion{"Open on Sundays"}, agent.GatherTerms{},
		agent.Opened(func(id string) { conversation = id })); err != nil {
		log.Fatal(err)
	}
	out, err := agent.ResumeGather(context.Background(), chair, conversation, Ballot)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out.Terminal, out.Contributions[0].Member)
	// Output: COMPLETED agent://local/ann
}
