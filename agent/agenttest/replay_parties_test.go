package agenttest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// Price is what a room is offered for.
type Price struct {
	Euros int `json:"euros"`
}

// The contracts of those who say more than one thing in an exchange, or are
// asked together with others.
var (
	room   = protocol.NewAuction[Question, Price, Reply]("acme.room.let/v1")
	ticker = protocol.NewStream[Question, Reply]("acme.weather.tick/v1")
	survey = protocol.NewGathering[Question, Reply]("acme.weather.survey/v1")
	lunch  = protocol.NewOffer[Question]("acme.lunch.share/v1")
)

// hotel bids and performs in Go; the result is its own.
func hotel(name string, euros int, result string) *agent.Agent {
	return agent.New(name, agent.Bid(room,
		func(context.Context, Question) (Price, error) { return Price{euros}, nil },
		func(_ context.Context, q Question, bid Price) (Reply, error) {
			return Reply{fmt.Sprintf("%s in %s for %d", result, q.City, bid.Euros)}, nil
		}))
}

// innkeeper bids and performs by a model, which looks into a book each time.
func innkeeper(prompt string, ran *int, replies ...agenttest.Reply) *agent.Agent {
	return agent.New("inn", agenttest.Replayable(), agent.Model(agenttest.NewScript(replies...)), agent.Answer(room, prompt),
		agent.Tool("book", "The book of the inn.", func(context.Context, Question) (string, error) { *ran++; return "free", nil }))
}

func cheapest(_ context.Context, bids []agent.Tender[Price]) ([]agent.Tender[Price], error) {
	slices.SortFunc(bids, func(a, b agent.Tender[Price]) int { return a.Bid.Euros - b.Bid.Euros })
	return bids, nil
}

// auctioned records an auction that the inn wins.
func auctioned(t *testing.T) (s store.Store, conversation string, ran int) {
	t.Helper()
	visitor := agent.New("visitor")
	inn := innkeeper("Let the room.", &ran,
		agenttest.Calls(agenttest.Call("book", Question{"Turku"})), agenttest.Calls(agenttest.Call("propose", Price{70})),
		agenttest.Calls(agenttest.Call("book", Question{"Turku"})), agenttest.Calls(agenttest.Call("inform", Reply{"Room 3"})))
	host := agenttest.Host(t, visitor, inn, hotel("grand", 90, "A suite"))
	got, err := agent.CallForProposals(t.Context(), visitor, []string{"inn", "grand"}, room, Question{"Turku"}, agent.AuctionTerms[Question, Price]{Pick: cheapest})
	if err != nil || len(got.Delivered) != 1 || got.Delivered[0].Result.Text != "Room 3" {
		t.Fatalf("CallForProposals = %+v, %v", got, err)
	}
	synctest.Wait()
	return host.Store(), got.Conversation, ran
}

func TestABidderBidsAndPerformsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, conversation, _ := auctioned(t)
		ran := 0
		again := rerun(t, s, conversation, innkeeper("Let the room.", &ran), hotel("grand", 90, "A suite"))
		if len(again.Differences) > 0 || len(again.Exchanges) != 2 || ran != 0 {
			t.Errorf("differences %v, worked on %v, %d tools run", again.Differences, again.Exchanges, ran)
		}
		again = rerun(t, s, conversation, hotel("grand", 60, "A suite"))
		if len(again.Differences) != 1 || again.Differences[0].Event != "!propose" || again.Differences[0].Pointer != "/content/euros" {
			t.Errorf("another bid: %v", again.Differences)
		}
		m := missed(t, s, conversation, innkeeper("Let it.", &ran))
		if m.Kind != agenttest.MissReply || len(m.Differences) != 1 || m.Differences[0].Pointer != "/prompt" {
			t.Errorf("another prompt: %v", m)
		}
	})
}

func TestARecordOfALaterPhaseIsToldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, conversation, _ := auctioned(t)
		other := edition{s, func(n int, reply map[string]any) {
			if n == 3 { // the model delivers under another name
				reply["Calls"].([]any)[0].(map[string]any)["Arguments"] = `{"text":"Room 4"}`
			}
		}}
		ran := 0
		again := rerun(t, other, conversation, innkeeper("Let the room.", &ran))
		want := `!inform /content/text: recorded "Room 3", now "Room 4"`
		if len(again.Differences) != 1 || !strings.HasSuffix(again.Differences[0].String(), want) {
			t.Errorf("differences %v, want %s", again.Differences, want)
		}
		short := edition{s, func(n int, reply map[string]any) {
			if n == 2 { // the model does not look into the book before it delivers
				reply["Calls"] = []any{map[string]any{"ID": "1", "Name": "inform", "Arguments": `{"text":"Room 3"}`}}
			}
		}}
		var said []string
		for _, d := range rerun(t, short, conversation, innkeeper("Let the room.", &ran)).Differences {
			said = append(said, d.String())
		}
		if !slices.Equal(said, []string{
			`agent://local/inn to agent://local/visitor, !inform /labels/integrity: recorded "tool", now "peer"`,
			"agent://local/inn to agent://local/visitor, /replies: recorded 4, now 3"}) {
			t.Errorf("differences %q", said)
		}
		if ran != 0 {
			t.Errorf("%d tools run", ran)
		}
	})
}

func TestAHandlerHoldsItsAuctionAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		newPlanner := func(pick func(context.Context, []agent.Tender[Price]) ([]agent.Tender[Price], error)) *agent.Agent {
			var self *agent.Agent
			self = agent.New("planner", agent.Handle(plan, func(ctx context.Context, in Trip) (Plan, error) {
				got, err := agent.CallForProposals(ctx, self, []string{"grand", "inn", "silent"}, room, Question(in),
					agent.AuctionTerms[Question, Price]{Pick: pick}, agent.Within(5*time.Second))
				if err != nil {
					return Plan{}, err
				}
				return Plan{Text: got.Delivered[0].Result.Text}, nil
			}))
			return self
		}
		silent := agent.New("silent", agent.Bid(room, func(ctx context.Context, _ Question) (Price, error) {
			<-ctx.Done()
			return Price{}, context.Cause(ctx)
		}, func(context.Context, Question, Price) (Reply, error) { return Reply{}, nil }))
		visitor := agent.New("visitor")
		host := agenttest.Host(t, visitor, newPlanner(cheapest), hotel("grand", 90, "A suite"), hotel("inn", 70, "A room"), silent)
		x, err := agent.Start(t.Context(), visitor, "planner", plan, Trip{"Turku"})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := x.Wait(t.Context()); err != nil || got.Text != "A room in Turku for 70" {
			t.Fatalf("Wait = %v, %v", got, err)
		}
		time.Sleep(time.Minute)
		agenttest.Replay(t, host.Store(), x.ID(), newPlanner(cheapest), hotel("grand", 90, "A suite"), hotel("inn", 70, "A room"))
		// Whom a handler picked is a step of its own, and recorded.
		agenttest.Replay(t, host.Store(), x.ID(), newPlanner(func(context.Context, []agent.Tender[Price]) ([]agent.Tender[Price], error) {
			return nil, errors.New("picked again")
		}))
	})
}

func TestAMemberOfAGatherContributesAgainAndAHandlerGathersAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		newPlanner := func() *agent.Agent {
			var self *agent.Agent
			self = agent.New("planner", agent.Handle(plan, func(ctx context.Context, in Trip) (Plan, error) {
				got, err := agent.Gather(ctx, self, []string{"a", "b"}, survey, Question(in), agent.GatherTerms{}, agent.Within(5*time.Second))
				if err != nil {
					return Plan{}, err
				}
				return Plan{Text: string(got.Value)}, nil
			}))
			return self
		}
		member := func(name, text string) *agent.Agent {
			return agent.New(name, agent.Contribute(survey, func(context.Context, Question) (Reply, error) { return Reply{text}, nil }))
		}
		visitor := agent.New("visitor")
		host := agenttest.Host(t, visitor, newPlanner(), member("a", "rain"), member("b", "sun"))
		x, err := agent.Start(t.Context(), visitor, "planner", plan, Trip{"Turku"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		again := rerun(t, host.Store(), x.ID(), newPlanner(), member("a", "rain"), member("b", "sun"))
		if len(again.Differences) > 0 || len(again.Exchanges) != 3 {
			t.Errorf("differences %v, worked on %v", again.Differences, again.Exchanges)
		}
		again = rerun(t, host.Store(), x.ID(), newPlanner(), member("b", "fog"))
		if len(again.Differences) != 1 || again.Differences[0].Now != `"fog"` {
			t.Errorf("another contribution: %v", again.Differences)
		}
	})
}

func TestAPublisherTellsItsItemsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		publisher := func(text string, endless bool) *agent.Agent {
			return agent.New("publisher", agent.Publish(ticker, func(ctx context.Context, q Question, emit func(Reply) error) error {
				for i := 0; i < 3 || endless; i++ {
					if err := agent.Sleep(ctx, time.Minute); err != nil {
						return err
					}
					if err := emit(Reply{fmt.Sprint(text, i)}); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		for _, endless := range []bool{false, true} {
			visitor := agent.New("visitor")
			host := agenttest.Host(t, visitor, publisher("rain ", endless))
			var conversation string
			heard := 0
			for _, err := range agent.Subscribe(t.Context(), visitor, "publisher", ticker, Question{"Turku"}, agent.Opened(func(id string) { conversation = id })) {
				if heard++; err != nil || heard == 4 {
					break
				}
			}
			time.Sleep(time.Minute)
			agenttest.Replay(t, host.Store(), conversation, publisher("rain ", endless))
			again := rerun(t, host.Store(), conversation, publisher("sun ", endless))
			if len(again.Differences) < 3 || again.Differences[0].Event != "!inform~" || again.Differences[0].Now != `"sun 0"` {
				t.Errorf("other items: %v", again.Differences)
			}
		}
	})
}

func TestAnOfferIsConsideredAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guest := func(err error) *agent.Agent {
			return agent.New("guest", agent.Consider(lunch, func(context.Context, Question) error { return err }))
		}
		visitor := agent.New("visitor")
		host := agenttest.Host(t, visitor, guest(nil))
		var conversation string
		if err := agent.Propose(t.Context(), visitor, "guest", lunch, Question{"Turku"}, agent.Opened(func(id string) { conversation = id })); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		agenttest.Replay(t, host.Store(), conversation, guest(nil))
		again := rerun(t, host.Store(), conversation, guest(agent.Refuse("capacity", "no-appetite")))
		if !slices.ContainsFunc(again.Differences, func(d agenttest.Difference) bool { return d.Pointer == "/act" && d.Now == `"refuse"` }) {
			t.Errorf("differences %v", again.Differences)
		}
	})
}
