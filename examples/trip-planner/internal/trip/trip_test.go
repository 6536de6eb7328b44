package trip_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/examples/trip-planner/internal/contract"
	"github.com/parley-agents/parley/examples/trip-planner/internal/fares"
	"github.com/parley-agents/parley/examples/trip-planner/internal/places"
	"github.com/parley-agents/parley/examples/trip-planner/internal/rules"
	"github.com/parley-agents/parley/examples/trip-planner/internal/trip"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/llm/rehearsal"
)

const (
	sentence = "two of us from Helsinki to Lisbon on 12 March for 4 nights, under 900 euros"
	today    = "2026-03-01"
)

// world opens a trip planner on stores of its own.
func world(t *testing.T, f trip.Faults, accidents ...rehearsal.Accident) (*trip.World, *rehearsal.Server) {
	t.Helper()
	if f.BadJSON {
		accidents = append(accidents, rules.BadJSON()...)
	}
	server := rehearsal.New(rehearsal.Options{Rules: rules.Planner(), Accidents: accidents})
	w, err := trip.Open(t.Context(), trip.Options{Launch: goroutines(t), Dir: t.TempDir(), Model: llm.Rehearse(server), Faults: f, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), SupplierDelay: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := w.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return w, server
}

// planned is the report of a request.
func planned(t *testing.T, w *trip.World, r contract.PlanRequest, to trip.Question) trip.Report {
	t.Helper()
	p, conversation, err := w.Plan(t.Context(), r, to)
	report, failed := w.Report(t.Context(), p, conversation, err)
	if failed != nil {
		t.Fatal(failed)
	}
	return report
}

func request(text string, confirmed bool) contract.PlanRequest {
	return contract.PlanRequest{Sentence: agent.Text(text), Today: today, Confirmed: confirmed}
}

// acts are the timeline's lines of an exchange, as "from act".
func acts(r trip.Report, about string) []string {
	var out []string
	for _, l := range r.Timeline {
		if l.About == about {
			out = append(out, l.From+" "+l.Act)
		}
	}
	return out
}

func attempts(r trip.Report, about, act string) int {
	for _, l := range r.Timeline {
		if l.About == about && l.Act == act {
			return l.Attempt
		}
	}
	return 0
}

func TestOneSeatAndOneRoomAreBookedWhateverHappens(t *testing.T) {
	for mask := range 16 {
		f := trip.Faults{RestartHotel: mask&1 != 0, DropReply: mask&2 != 0, BadJSON: mask&4 != 0, Injection: mask&8 != 0}
		t.Run(fmt.Sprintf("%+v", f), func(t *testing.T) {
			t.Parallel()
			w, _ := world(t, f)
			r := planned(t, w, request(sentence, true), trip.Question{})
			if r.Status != "booked" || r.Itinerary == nil || r.Itinerary.Hotel == nil {
				t.Fatalf("status %s, question %q, error %q", r.Status, r.Question, r.Error)
			}
			if r.Itinerary.Total > 900 || r.Itinerary.Total != r.Itinerary.Flight.Price+r.Itinerary.Hotel.Price {
				t.Errorf("total %.2f is not the sum within the budget", r.Itinerary.Total)
			}
			kinds := map[string]int{}
			for _, e := range r.Effects {
				kinds[e.Kind] += e.Times
			}
			if kinds["seat"] != 1 || kinds["room"] != 1 || len(r.Effects) != 2 {
				t.Errorf("effects %+v, want one seat and one room", r.Effects)
			}
			checkAccidents(t, f, r)
			checkOneTrace(t, w, r)
		})
	}
}

// checkAccidents holds the report to what the protocol must have done.
func checkAccidents(t *testing.T, f trip.Faults, r trip.Report) {
	t.Helper()
	for _, c := range []struct {
		about string
		on    bool
	}{{"trip.hotel.search/v2", f.RestartHotel}, {"trip.hotel.book/v1", f.RestartHotel}, {"trip.flight.book/v1", f.DropReply}} {
		// A host that takes long to come back is asked a third time.
		if got := attempts(r, c.about, "request"); (got > 1) != c.on {
			t.Errorf("%s was sent %d times under %+v", c.about, got, f)
		}
	}
	if f.RestartHotel && r.Protocol["restarts"] != 2 {
		t.Errorf("the hotels' host was dropped %d times, want 2", r.Protocol["restarts"])
	}
	if (f.RestartHotel || f.DropReply) && r.Protocol["duplicate"] == 0 {
		t.Error("no duplicate was answered from the store")
	}
	if (r.Protocol["repair"] == 1) != f.BadJSON {
		t.Errorf("repairs %d under %+v", r.Protocol["repair"], f)
	}
	if (r.Protocol["orders"] > 0) != f.Injection || r.Protocol["obeyed"] != 0 {
		t.Errorf("orders %d, obeyed %d under %+v", r.Protocol["orders"], r.Protocol["obeyed"], f)
	}
}

// checkOneTrace holds every envelope of the run to one trace id.
func checkOneTrace(t *testing.T, w *trip.World, r trip.Report) {
	t.Helper()
	var b bytes.Buffer
	if err := w.Transcript(t.Context(), &b, r.Conversation); err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range bytes.Lines(b.Bytes()) {
		var entry trip.Recorded
		if err := json.Unmarshal(line, &entry); err != nil {
			t.Fatal(err)
		}
		if len(entry.Envelope) == 0 {
			continue
		}
		e, err := envelope.Decode(entry.Envelope)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(e.Header().Trace.Traceparent, r.TraceID) {
			t.Errorf("message %s is in another trace: %s", e.ID(), e.Header().Trace.Traceparent)
		}
		n++
	}
	if n < 10 {
		t.Errorf("only %d messages in the transcript", n)
	}
}

func TestEachExchangeFollowsItsProtocol(t *testing.T) {
	w, _ := world(t, trip.Faults{})
	r := planned(t, w, request(sentence, true), trip.Question{})
	for about, from := range map[string]string{"trip.flight.search/v2": "flights", "trip.hotel.search/v2": "hotels",
		"trip.flight.book/v1": "flights", "trip.hotel.book/v1": "hotels"} {
		want := []string{"planner request", from + " agree", from + " inform"}
		if got := acts(r, about); !slices.Equal(got, want) {
			t.Errorf("%s went %v, want %v", about, got, want)
		}
	}
	for _, l := range r.Timeline {
		if l.From != "planner" && l.Act == "inform" && l.State != "done:ok" {
			t.Errorf("%s left %s in %s", l.About, l.From, l.State)
		}
	}
}

func TestAccidentsOnTheWireCostNoModelCall(t *testing.T) {
	calls := map[bool]int{}
	for _, faulty := range []bool{false, true} {
		w, server := world(t, trip.Faults{RestartHotel: faulty, DropReply: faulty})
		if r := planned(t, w, request(sentence, true), trip.Question{}); r.Status != "booked" {
			t.Fatalf("status %s, question %q, error %q", r.Status, r.Question, r.Error)
		}
		calls[faulty] = server.Calls()
	}
	if calls[true] != calls[false] {
		t.Errorf("%d model calls with accidents, %d without", calls[true], calls[false])
	}
}

func TestACityWithoutARoomLeadsToAQuestionAndBooksNothing(t *testing.T) {
	city, month := soldOut(t)
	w, _ := world(t, trip.Faults{})
	text := fmt.Sprintf("from Helsinki to %s on 2026-%02d-10 for 3 nights for 2", city, month)
	r := planned(t, w, request(text, true), trip.Question{})
	if r.Status != "needs-input" || !strings.Contains(r.Question, "hotel") || !strings.Contains(r.Question, city) {
		t.Errorf("status %s, question %q", r.Status, r.Question)
	}
	if len(r.Effects) != 0 {
		t.Errorf("effects %+v, want none", r.Effects)
	}
	if got := acts(r, "trip.hotel.search/v2"); len(got) == 0 || got[len(got)-1] != "hotels failure" {
		t.Errorf("the hotel search went %v, want it to end in a failure", got)
	}
}

// soldOut finds a city and a month of 2026 without a room.
func soldOut(t *testing.T) (string, time.Month) {
	t.Helper()
	for _, a := range places.All() {
		for m := time.April; m <= time.December; m++ {
			if fares.SoldOut(a.City, m) && a.City != "Helsinki" {
				if all := places.ByCity(a.City); len(all) == 1 {
					return a.City, m
				}
			}
		}
	}
	t.Fatal("every city has a room in every month")
	return "", 0
}

func TestAQuestionIsAnsweredInANewConversationOfTheSameBusiness(t *testing.T) {
	w, _ := world(t, trip.Faults{})
	r := planned(t, w, request("from Helsinki to Lisbon on 12 March for 2", false), trip.Question{})
	for _, step := range []struct{ asks, answer string }{{"How long?", "4 nights"}, {"Shall I book", "yes please"}} {
		if r.Status != "needs-input" || !strings.HasPrefix(r.Question, step.asks) {
			t.Fatalf("status %s, question %q, want one that asks %q", r.Status, r.Question, step.asks)
		}
		if len(r.Effects) != 0 {
			t.Fatalf("effects %+v before the answer", r.Effects)
		}
		next, to, err := w.Continue(t.Context(), r.Conversation, step.answer)
		if err != nil {
			t.Fatal(err)
		}
		before := r.Conversation
		r = planned(t, w, next, to)
		if r.Conversation == before {
			t.Error("the answer went into the old conversation")
		}
	}
	if r.Status != "booked" || len(r.Effects) != 2 {
		t.Errorf("status %s, effects %+v", r.Status, r.Effects)
	}
}

func TestANoBooksNothing(t *testing.T) {
	w, _ := world(t, trip.Faults{})
	r := planned(t, w, request(sentence, false), trip.Question{})
	next, to, err := w.Continue(t.Context(), r.Conversation, "no, thanks")
	if err != nil {
		t.Fatal(err)
	}
	r = planned(t, w, next, to)
	if r.Status != "failed" || len(r.Effects) != 0 {
		t.Errorf("status %s, effects %+v", r.Status, r.Effects)
	}
}

func TestABudgetThatIsTooSmallIsAskedAbout(t *testing.T) {
	w, _ := world(t, trip.Faults{})
	r := planned(t, w, request("two of us from Helsinki to Lisbon on 12 March for 4 nights, under 50 euros", true), trip.Question{})
	if r.Status != "needs-input" || !strings.HasPrefix(r.Question, "How much at most?") || len(r.Effects) != 0 {
		t.Errorf("status %s, question %q, effects %+v", r.Status, r.Question, r.Effects)
	}
}

func TestWhateverTheModelsEndpointDoesOneSeatAndOneRoomAreBooked(t *testing.T) {
	for _, kind := range []rehearsal.Kind{rehearsal.MalformedJSON, rehearsal.MendableJSON, rehearsal.Truncated, rehearsal.Fenced,
		rehearsal.WrongType, rehearsal.UnknownFunction, rehearsal.EmptyArguments, rehearsal.ArgumentsObject, rehearsal.RateLimited,
		rehearsal.Unavailable, rehearsal.ErrorBody, rehearsal.Dropped} {
		for at := 1; at <= 3; at++ {
			t.Run(fmt.Sprintf("%s at %d", kind, at), func(t *testing.T) {
				t.Parallel()
				w, _ := world(t, trip.Faults{}, rehearsal.Accident{Kind: kind, At: at, Match: func(r rehearsal.Request) bool { return len(r.Functions) > 1 }})
				r := planned(t, w, request(sentence, true), trip.Question{})
				kinds := map[string]int{}
				for _, e := range r.Effects {
					kinds[e.Kind] += e.Times
				}
				if r.Status != "booked" || kinds["seat"] != 1 || kinds["room"] != 1 {
					t.Errorf("status %s %s %s, effects %+v", r.Status, r.Question, r.Error, r.Effects)
				}
			})
		}
	}
}
