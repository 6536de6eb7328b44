package trip_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/examples/trip-planner/internal/contract"
	"github.com/parley-agents/parley/examples/trip-planner/internal/rules"
	"github.com/parley-agents/parley/examples/trip-planner/internal/trip"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/llm/rehearsal"
)

// scripted opens a trip planner whose model replies as it is told to.
func scripted(t *testing.T, replies ...agenttest.Reply) *trip.World {
	t.Helper()
	w, err := trip.Open(t.Context(), trip.Options{Launch: goroutines(t), Dir: t.TempDir(), Model: agenttest.NewScript(replies...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(context.Background()) })
	return w
}

const (
	searchFlight = "flights__trip_flight_search_v2"
	bookFlight   = "flights__trip_flight_book_v1"
)

var flightQuery = contract.FlightQuery{From: "HEL", To: "LIS", Date: "2026-03-12", Travellers: 2}

// offersSeen are the offers in the last request of the model.
func offersSeen(t *testing.T, r llm.Request, name string, v any) {
	t.Helper()
	for _, m := range r.Messages {
		if m.Role != llm.RoleTool || m.Name != name {
			continue
		}
		line := strings.Split(m.Text, "\n")[1]
		var o struct{ Result json.RawMessage }
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(o.Result, v); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAModelCannotBookWhatTheTravellerDidNotConfirm(t *testing.T) {
	order := func(_ context.Context, r llm.Request) (*llm.Response, error) {
		for _, f := range r.Functions {
			if strings.Contains(f.Name, "book") {
				t.Errorf("%s is offered", f.Name)
			}
		}
		return agenttest.Calls(agenttest.Call(bookFlight, contract.FlightOrder{FlightQuery: flightQuery, Offer: "AY1-20260312", Total: 1}))(context.Background(), r)
	}
	give := agenttest.Calls(agenttest.Call("inform", contract.Plan{Status: "needs-input", Question: "Shall I book?"}))
	w := scripted(t, order, give)
	r := planned(t, w, request(sentence, false), trip.Question{})
	if len(r.Effects) != 0 || r.Status != "needs-input" || len(acts(r, "trip.flight.book/v1")) != 0 {
		t.Errorf("status %s, effects %+v, booking %v", r.Status, r.Effects, acts(r, "trip.flight.book/v1"))
	}
}

func TestAModelThatSaysBookedWithoutABookingIsNotBelieved(t *testing.T) {
	invented := contract.Itinerary{Total: 100, Flight: contract.FlightBooking{Status: "booked", Reference: "ABCDEF", Flight: contract.FlightOffer{
		ID: "AY1-20260312", Number: "AY1", From: "HEL", To: "LIS", Departs: "2026-03-12T09:00:00+02:00", Arrives: "2026-03-12T12:00:00Z", Total: 100}}}
	for name, p := range map[string]contract.Plan{
		"an invented itinerary": {Status: "booked", Itinerary: &invented},
		"no itinerary":          {Status: "booked"},
		"a question as well":    {Status: "booked", Itinerary: &invented, Question: "?"},
		"no question":           {Status: "needs-input"},
		"failed with bookings":  {Status: "failed", Itinerary: &invented},
	} {
		t.Run(name, func(t *testing.T) {
			lie := agenttest.Calls(agenttest.Call("inform", p))
			w := scripted(t, lie, lie, lie)
			r := planned(t, w, request(sentence, true), trip.Question{})
			if r.Status != "failed" || r.Itinerary != nil || !strings.Contains(r.Error, "check") {
				t.Errorf("status %s, itinerary %v, error %s", r.Status, r.Itinerary, r.Error)
			}
		})
	}
}

func TestAModelCannotOrderTwoFlightsInOneConversation(t *testing.T) {
	var offers contract.FlightOffers
	both := func(ctx context.Context, r llm.Request) (*llm.Response, error) {
		offersSeen(t, r, searchFlight, &offers)
		var calls []llm.Call
		for _, o := range offers.Offers[:2] {
			calls = append(calls, agenttest.Call(bookFlight, contract.FlightOrder{FlightQuery: flightQuery, Offer: o.ID, Total: o.Total}))
		}
		return agenttest.Calls(calls...)(ctx, r)
	}
	w := scripted(t, agenttest.Calls(agenttest.Call(searchFlight, flightQuery)), both,
		agenttest.Calls(agenttest.Call("inform", contract.Plan{Status: "failed", Notes: "that is all"})))
	r := planned(t, w, request("one way from Helsinki to Lisbon on 12 March for 2", true), trip.Question{})
	if len(r.Effects) != 1 || r.Effects[0].Times != 1 {
		t.Errorf("effects %+v, want one seat", r.Effects)
	}
}

func TestAnInterruptedRunIsTakenUpAndNotRepeated(t *testing.T) {
	dir := t.TempDir()
	open := func() *trip.World {
		w, err := trip.Open(t.Context(), trip.Options{Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Launch: goroutines(t), Dir: dir, SupplierDelay: 200 * time.Millisecond,
			Model: llm.Rehearse(rehearsal.New(rehearsal.Options{Rules: rules.Planner()}))})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	first := open()
	died := make(chan error, 1)
	go func() {
		_, _, err := first.Plan(t.Context(), request(sentence, true), trip.Question{})
		died <- err
	}()
	waitForOrders(t, first)
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
	<-died

	second := open()
	defer second.Close(context.Background())
	list, err := second.Interrupted(t.Context())
	if err != nil || len(list) != 1 || string(list[0].Request.Sentence) != sentence {
		t.Fatalf("interrupted %+v, %v", list, err)
	}
	p, err := second.Await(t.Context(), list[0].Conversation)
	r, failed := second.Report(t.Context(), p, list[0].Conversation, err)
	if failed != nil {
		t.Fatal(failed)
	}
	kinds := map[string]int{}
	for _, e := range r.Effects {
		kinds[e.Kind] += e.Times
	}
	if r.Status != "booked" || kinds["seat"] != 1 || kinds["room"] != 1 {
		t.Errorf("status %s %s, effects %+v", r.Status, r.Error, r.Effects)
	}
}

// waitForOrders returns when the planner has ordered something.
func waitForOrders(t *testing.T, w *trip.World) {
	t.Helper()
	for ctx := t.Context(); ctx.Err() == nil; {
		if w.Ordered() > 0 {
			return
		}
		runtime.Gosched()
	}
}

func TestAQuestionIsAnsweredOnce(t *testing.T) {
	w, _ := world(t, trip.Faults{})
	r := planned(t, w, request(sentence, false), trip.Question{})
	var references []string
	for range 2 {
		next, to, err := w.Continue(t.Context(), r.Conversation, "yes")
		if err != nil {
			t.Fatal(err)
		}
		again := planned(t, w, next, to)
		if again.Status != "booked" {
			t.Fatalf("status %s: %s", again.Status, again.Error)
		}
		references = append(references, again.Itinerary.Flight.Reference)
		if len(again.Effects) != 2 {
			t.Errorf("effects %+v, want one seat and one room", again.Effects)
		}
	}
	if references[0] != references[1] {
		t.Errorf("references %v differ", references)
	}
	next, to, err := w.Continue(t.Context(), r.Conversation, "no")
	if err != nil {
		t.Fatal(err)
	}
	if other := planned(t, w, next, to); other.Status != "failed" || !strings.Contains(other.Error, "answered already") {
		t.Errorf("another answer: status %s, error %q", other.Status, other.Error)
	}
}

func TestTheSameYesAfterTheModelFailedBooksNothingTwice(t *testing.T) {
	var down atomic.Int32
	w, _ := world(t, trip.Faults{}, rehearsal.Accident{Kind: rehearsal.Unavailable, Match: func(r rehearsal.Request) bool {
		_, ordered := r.Result(bookFlight)
		return ordered && down.Add(1) <= 3 // as often as the adapter tries
	}})
	r := planned(t, w, request(sentence, false), trip.Question{})
	for i, want := range []string{"failed", "booked"} {
		next, to, err := w.Continue(t.Context(), r.Conversation, "yes")
		if err != nil {
			t.Fatal(err)
		}
		again := planned(t, w, next, to)
		if again.Status != want {
			t.Fatalf("yes no. %d: status %s, %s", i+1, again.Status, again.Error)
		}
		if len(again.Effects) != 2 {
			t.Errorf("yes no. %d: effects %+v, want one seat and one room", i+1, again.Effects)
		}
	}
}

func TestAYesBooksWhatWasOfferedThatDayAndNothingElse(t *testing.T) {
	w, _ := world(t, trip.Faults{})
	first := planned(t, w, request("two of us from Helsinki to Lisbon in three weeks for 4 nights", false), trip.Question{})
	next, to, err := w.Continue(t.Context(), first.Conversation, "yes")
	if err != nil || next.Accepted == nil || next.Today != today {
		t.Fatalf("request %+v, %v", next, err)
	}
	other := next
	other.Accepted = &contract.Offered{Flight: "AY1-20260322", FlightCents: 1, Hotel: next.Accepted.Hotel, HotelCents: next.Accepted.HotelCents}
	if r := planned(t, w, other, trip.Question{}); r.Status == "booked" || len(acts(r, "trip.flight.book/v1")) != 0 {
		t.Errorf("status %s: another flight than the accepted one was ordered", r.Status)
	}
	if r := planned(t, w, next, to); r.Status != "booked" || !strings.Contains(next.Accepted.Flight, r.Itinerary.Flight.Number) {
		t.Errorf("status %s %s, itinerary %+v; accepted %+v", r.Status, r.Question, r.Itinerary, next.Accepted)
	}
}

func TestAnOrderThatAModelRepeatsIsStillOneBookingItCanReport(t *testing.T) {
	var offers contract.FlightOffers
	order := func(ctx context.Context, r llm.Request) (*llm.Response, error) {
		offersSeen(t, r, searchFlight, &offers)
		o := offers.Offers[0]
		return agenttest.Calls(agenttest.Call(bookFlight, contract.FlightOrder{FlightQuery: flightQuery, Offer: o.ID, Total: o.Total}))(ctx, r)
	}
	report := func(ctx context.Context, r llm.Request) (*llm.Response, error) {
		var b contract.FlightBooking
		offersSeen(t, r, bookFlight, &b)
		return agenttest.Calls(agenttest.Call("inform", contract.Plan{Status: "booked", Itinerary: &contract.Itinerary{Flight: b, Total: b.Flight.Total}}))(ctx, r)
	}
	w := scripted(t, agenttest.Calls(agenttest.Call(searchFlight, flightQuery)), order, order, report)
	r := planned(t, w, request("one way from Helsinki to Lisbon on 12 March for 2", true), trip.Question{})
	if r.Status != "booked" || len(r.Effects) != 1 {
		t.Errorf("status %s %s, effects %+v", r.Status, r.Error, r.Effects)
	}
}

func TestNobodyButTheTravellerCanConfirm(t *testing.T) {
	w, _ := world(t, trip.Faults{})
	mallory := agent.New("mallory")
	agent.Introduce(agenttest.Host(t, mallory), w.Planner())
	p, err := agent.Ask(t.Context(), mallory, "planner", contract.PlanTrip, request(sentence, true), agent.Within(time.Minute))
	if err == nil && p.Status == "booked" {
		t.Errorf("another agent's word booked %+v", p.Itinerary)
	}
	if n := w.Ordered(); n != 0 {
		t.Errorf("%d orders were placed on another agent's word", n)
	}
}
