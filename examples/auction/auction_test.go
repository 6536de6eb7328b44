package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/llm"
)

func Example() {
	dir, err := os.MkdirTemp("", "auction")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	os.Setenv("PARLEY_DB", filepath.Join(dir, "parley.db"))
	os.Unsetenv("OPENAI_BASE_URL")
	os.Unsetenv("OPENAI_API_KEY")
	main()
	// Output:
	// 7200 kg from Oulu to Turku within 4 days: calling [baltic midnight polar]
	// offer: agent://local/baltic, a curtainsider for 591 euros in 5 days
	// offer: agent://local/polar, a reefer for 684 euros in 3 days
	// award: agent://local/polar, booked as PO-0001
	// no award: agent://local/baltic was turned down (not-chosen)
	// no award: agent://local/midnight refused: capacity (no-truck)
	// the conversation ended COMPLETED after 8 messages
}

var load = Load{From: "Oulu", To: "Turku", Kilos: 7200, Days: 4}

// scripted is a model that makes the calls, one a reply, each after a while.
// When no two models take equally long, what several agents say has one order.
func scripted(takes time.Duration, calls ...llm.Call) *agenttest.Script {
	var replies []agenttest.Reply
	for _, c := range calls {
		replies = append(replies, func(ctx context.Context, r llm.Request) (*llm.Response, error) {
			select {
			case <-time.After(takes):
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
			return agenttest.Calls(c)(ctx, r)
		})
	}
	return agenttest.NewScript(replies...)
}

var (
	looks    = agenttest.Call("rate", "{}")
	offers   = agenttest.Call("propose", Offer{Euros: 684, Days: 3, Truck: "reefer"})
	books    = agenttest.Call("book_truck", Order{7200})
	delivers = agenttest.Call("inform", `{"status":"booked","reference":"PO-0001"}`)
	refuses  = agenttest.Call("refuse", `{"code":"capacity","reason":"no-truck"}`)
)

// award is the shipper's choice of the n-th offer.
func award(n int) llm.Call {
	return agenttest.Call("agree", map[string]any{"ranking": []string{fmt.Sprintf("bid%d", n)}})
}

func TestAnAuctionReadsAsWrittenDown(t *testing.T) {
	for range 2 { // from run to run nothing differs
		synctest.Test(t, func(t *testing.T) {
			c := carriers(newLedger())
			shipper := agent.New("shipper", agent.Model(scripted(time.Second, award(2))))
			hosts := agenttest.Hosts(t, shipper,
				c[0].agent(scripted(time.Second, looks, agenttest.Call("propose", Offer{Euros: 591, Days: 5, Truck: "curtainsider"}))),
				c[1].agent(scripted(2*time.Second, looks, refuses)),
				c[2].agent(scripted(3*time.Second, looks, offers, books, delivers)))
			conversation, err := ship(t.Context(), io.Discard, shipper, []string{"baltic", "midnight", "polar"}, load, "order-8841")
			if err != nil {
				t.Fatal(err)
			}
			agenttest.Golden(t, filepath.Join("testdata", "auction.golden"), conversation, hosts...)
			agenttest.GoldenTrace(t, filepath.Join("testdata", "auction.trace.golden"), conversation, hosts[0])
		})
	}
}

// A prompt asks the model to wait for the award; the functions it is offered
// make it wait.
func TestNoTruckIsBookedBeforeTheAward(t *testing.T) {
	l := newLedger()
	eager := scripted(0, books, refuses)
	shipper := agent.New("shipper")
	hosts := agenttest.Hosts(t, shipper, carriers(l)[2].agent(eager))
	var out bytes.Buffer
	conversation, err := ship(t.Context(), &out, shipper, []string{"polar"}, load, "order-8841")
	if err == nil {
		err = conclude(t.Context(), &out, hosts[0], shipper, conversation)
	}
	if err != nil || !strings.Contains(out.String(), "polar refused: capacity (no-truck)\nthe conversation ended BLOCKED") {
		t.Errorf("%v after\n%s", err, out.String())
	}
	if len(l.booked) != 0 {
		t.Errorf("booked %v, want nothing", l.booked)
	}
	for i, r := range eager.Requests() {
		if slices.ContainsFunc(r.Functions, func(f llm.Function) bool { return f.Name == "book_truck" }) {
			t.Errorf("request %d offers book_truck", i+1)
		}
	}
}

func TestAReferenceThatTheLedgerDoesNotHaveIsNotDelivered(t *testing.T) {
	madeUp := agenttest.Call("inform", `{"status":"booked","reference":"PO-9999"}`)
	shipper := agent.New("shipper", agent.Model(scripted(0, award(1))))
	agenttest.Hosts(t, shipper, carriers(newLedger())[2].agent(scripted(0, looks, offers, madeUp, books, delivers)))
	var out bytes.Buffer
	_, err := ship(t.Context(), &out, shipper, []string{"polar"}, load, "order-8841")
	if err != nil || !strings.HasSuffix(out.String(), "award: agent://local/polar, booked as PO-0001\n") {
		t.Errorf("%v after\n%s", err, out.String())
	}
}

func TestAnOrderThatIsShippedAgainGetsTheSameTruck(t *testing.T) {
	l := newLedger()
	shipper := agent.New("shipper", agent.Model(scripted(0, award(1), award(1))))
	agenttest.Hosts(t, shipper, carriers(l)[2].agent(scripted(0, looks, offers, books, delivers, looks, offers)))
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if _, err := ship(t.Context(), out, shipper, []string{"polar"}, load, "order-8841"); err != nil {
			t.Fatal(err)
		}
	}
	if first.String() != second.String() || len(l.booked) != 1 {
		t.Errorf("booked %v after\n%s%s", l.booked, first.String(), second.String())
	}
}

func TestWhoIsLateOrAwayHoldsNobodyUp(t *testing.T) {
	for name, tt := range map[string]struct {
		away bool
		want string
	}{
		"late": {false, "baltic did not start in time: deadline (lapsed)\nthe conversation ended COMPLETED after 6 messages\n"},
		"away": {true, "baltic has not answered yet\nthe conversation has not ended\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := carriers(newLedger())
			shipper := agent.New("shipper", agent.Model(scripted(0, award(1))))
			hosts := agenttest.Hosts(t, shipper, c[0].agent(scripted(time.Hour, looks)), c[2].agent(scripted(time.Second, looks, offers, books, delivers)))
			if tt.away {
				if err := hosts[1].Kill(); err != nil {
					t.Fatal(err)
				}
			}
			var out bytes.Buffer
			conversation, err := ship(t.Context(), &out, shipper, []string{"baltic", "polar"}, load, "order-8841")
			if err == nil {
				err = conclude(t.Context(), &out, hosts[0], shipper, conversation)
			}
			if want := "polar, booked as PO-0001\nno award: agent://local/" + tt.want; err != nil || !strings.HasSuffix(out.String(), want) {
				t.Errorf("%s: %v after\n%s", name, err, out.String())
			}
		})
	}
}
