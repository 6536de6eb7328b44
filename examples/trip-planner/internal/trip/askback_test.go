package trip_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/examples/trip-planner/internal/contract"
	"github.com/parley-agents/parley/examples/trip-planner/internal/rules"
	"github.com/parley-agents/parley/examples/trip-planner/internal/trip"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/llm/rehearsal"
)

// typist is a traveller at a terminal: it notes what it is asked.
type typist struct {
	mu     sync.Mutex
	asked  []string
	answer func(ctx context.Context, question string) (string, error)
}

func (y *typist) Answer(ctx context.Context, question string) (string, error) {
	y.mu.Lock()
	y.asked = append(y.asked, question)
	y.mu.Unlock()
	return y.answer(ctx, question)
}

func (y *typist) questions() []string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return slices.Clone(y.asked)
}

// in answers by how a question begins.
func in(answers map[string]string) func(context.Context, string) (string, error) {
	return func(_ context.Context, question string) (string, error) {
		for begins, answer := range answers {
			if strings.HasPrefix(question, begins) {
				return answer, nil
			}
		}
		return "", trip.ErrNoAnswer
	}
}

// attended opens a trip planner in dir whose traveller can be asked.
func attended(t *testing.T, dir string, model llm.Model, y *typist) *trip.World {
	t.Helper()
	if model == nil {
		model = llm.Rehearse(rehearsal.New(rehearsal.Options{Rules: rules.Planner()}))
	}
	w, err := trip.Open(t.Context(), trip.Options{Launch: goroutines(t), Dir: dir, Model: model, Answer: y.Answer})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestWhatASentenceLeavesOpenIsAskedWhileTheTripStaysOpen(t *testing.T) {
	y := &typist{answer: in(map[string]string{"How long?": "4 nights", "How much at most?": "no limit"})}
	w := attended(t, t.TempDir(), nil, y)
	defer w.Close(context.Background())
	r := planned(t, w, request("from Helsinki to Lisbon on 12 March for 2, under 50 euros", false), trip.Question{})
	if got := y.questions(); len(got) != 2 || !strings.HasPrefix(got[0], "How long?") || !strings.HasPrefix(got[1], "How much at most?") {
		t.Fatalf("asked %q, want how long and how much", got)
	}
	if r.Status != "needs-input" || !strings.HasPrefix(r.Question, contract.Offer) || len(r.Effects) != 0 {
		t.Fatalf("status %s, question %q, effects %+v, want the offer and nothing booked", r.Status, r.Question, r.Effects)
	}
	if got, want := acts(r, "parley.question/v1"), "planner request"; len(got) == 0 || got[0] != want {
		t.Errorf("the questions went %v", got)
	}
	next, to, err := w.Continue(t.Context(), r.Conversation, "yes")
	if err != nil {
		t.Fatal(err)
	}
	if len(next.Earlier) != 3 {
		t.Errorf("the request repeats %+v, want two answers and the yes", next.Earlier)
	}
	r = planned(t, w, next, to)
	if r.Status != "booked" || len(r.Effects) != 2 || r.Itinerary.Hotel.CheckOut != "2026-03-16" {
		t.Errorf("status %s %s, effects %+v, itinerary %+v", r.Status, r.Question, r.Effects, r.Itinerary)
	}
}

func TestATravellerWhoDoesNotAnswerGetsTheQuestionAtTheEnd(t *testing.T) {
	y := &typist{answer: in(nil)}
	w := attended(t, t.TempDir(), nil, y)
	defer w.Close(context.Background())
	r := planned(t, w, request("from Helsinki to Lisbon on 12 March for 2", false), trip.Question{})
	if r.Status != "needs-input" || !strings.HasPrefix(r.Question, "How long?") || len(y.questions()) != 1 {
		t.Errorf("status %s, question %q after %q", r.Status, r.Question, y.questions())
	}
}

func TestANoToAQuestionEndsTheTrip(t *testing.T) {
	y := &typist{answer: in(map[string]string{"How long?": "never mind"})}
	w := attended(t, t.TempDir(), nil, y)
	defer w.Close(context.Background())
	if r := planned(t, w, request("from Helsinki to Lisbon on 12 March for 2", false), trip.Question{}); r.Status != "failed" || len(r.Effects) != 0 {
		t.Errorf("status %s, effects %+v", r.Status, r.Effects)
	}
}

func TestAQuestionThatAnEndedRunLeftIsAskedAgainByTheNext(t *testing.T) {
	dir, asked := t.TempDir(), make(chan struct{})
	first := attended(t, dir, nil, &typist{answer: func(ctx context.Context, _ string) (string, error) {
		close(asked)
		<-ctx.Done()
		return "", ctx.Err()
	}})
	ended := make(chan error, 1)
	go func() {
		_, _, err := first.Plan(t.Context(), request("from Helsinki to Lisbon on 12 March for 2", false), trip.Question{})
		ended <- err
	}()
	<-asked
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended

	y := &typist{answer: in(map[string]string{"How long?": "4 nights"})}
	second := attended(t, dir, nil, y)
	defer second.Close(context.Background())
	list, err := second.Interrupted(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("interrupted %+v, %v", list, err)
	}
	p, err := second.Await(t.Context(), list[0].Conversation)
	if err != nil || !strings.HasPrefix(string(p.Question), contract.Offer) {
		t.Errorf("it ended with %+v, %v, want the offer", p, err)
	}
	if got := y.questions(); len(got) != 1 {
		t.Errorf("asked %q, want the one question again", got)
	}
}

// An answer says what trip is wanted, whatever the model asked to get it.
func TestAYesToAQuestionOfTheModelConfirmsNothing(t *testing.T) {
	y := &typist{answer: in(map[string]string{"": "yes"})}
	var offers contract.FlightOffers
	order := func(ctx context.Context, r llm.Request) (*llm.Response, error) {
		for _, f := range r.Functions {
			if strings.Contains(f.Name, "book") {
				t.Errorf("%s is offered", f.Name)
			}
		}
		offersSeen(t, r, searchFlight, &offers)
		o := offers.Offers[0]
		return agenttest.Calls(agenttest.Call(bookFlight, contract.FlightOrder{FlightQuery: flightQuery, Offer: o.ID, Total: o.Total}))(ctx, r)
	}
	w := attended(t, t.TempDir(), agenttest.NewScript(
		agenttest.Calls(agenttest.Call(searchFlight, flightQuery)),
		agenttest.Calls(agenttest.Call("ask_back", map[string]any{"text": "Shall I book it all now?"})),
		order, agenttest.Calls(agenttest.Call("inform", contract.Plan{Status: "needs-input", Question: "Shall I book?"}))), y)
	defer w.Close(context.Background())
	r := planned(t, w, request(sentence, false), trip.Question{})
	if len(y.questions()) != 1 || r.Status != "needs-input" || len(r.Effects) != 0 || w.Ordered() != 0 {
		t.Errorf("asked %q, status %s, effects %+v, %d orders", y.questions(), r.Status, r.Effects, w.Ordered())
	}
}

func TestConfirmedWorkIsNotOfferedToAskBack(t *testing.T) {
	look := func(ctx context.Context, r llm.Request) (*llm.Response, error) {
		if slices.ContainsFunc(r.Functions, func(f llm.Function) bool { return f.Name == "ask_back" }) {
			t.Error("ask_back is offered")
		}
		return agenttest.Calls(agenttest.Call("inform", contract.Plan{Status: "failed", Notes: "that is all"}))(ctx, r)
	}
	w := attended(t, t.TempDir(), agenttest.NewScript(look), &typist{answer: in(nil)})
	defer w.Close(context.Background())
	planned(t, w, request(sentence, true), trip.Question{})
}
