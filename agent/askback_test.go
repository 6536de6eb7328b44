package agent_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
)

var which = protocol.QuestionAsked{Text: "Which seat?", Choices: []string{"window", "aisle"}}

// curious is an agent that asks back before it answers, and says what came of
// that as its reference.
func curious(q protocol.QuestionAsked, opts ...agent.AskOption) *agent.Agent {
	return answers(func(ctx context.Context, _ Seat) (Booking, error) {
		a, err := agent.AskBack(ctx, q, opts...)
		if err != nil {
			return Booking{Reference: looked(err)}, nil
		}
		return Booking{Reference: a.Choice + string(a.Text) + a.Value}, nil
	})
}

// forthcoming is a planner that answers questions.
func forthcoming(fn func(context.Context, protocol.QuestionAsked) (protocol.QuestionAnswered, error)) *agent.Agent {
	return agent.New("planner", agent.Handle(protocol.Question, fn))
}

func replying(a protocol.QuestionAnswered) func(context.Context, protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
	return func(context.Context, protocol.QuestionAsked) (protocol.QuestionAnswered, error) { return a, nil }
}

// facing starts two hosts that know each other.
func facing(t *testing.T, x, y *agent.Agent) (*agent.Host, *agent.Host) {
	t.Helper()
	a, b := begin(t, nil, nil, x), begin(t, nil, nil, y)
	agent.Introduce(a, b)
	return a, b
}

func TestWhoAskedAnswersWhatWasLeftOpen(t *testing.T) {
	day := protocol.QuestionAsked{Text: "Which day?", Schema: `{"type":"object","required":["day"],"properties":{"day":{"type":"integer","minimum":1}}}`}
	free := protocol.QuestionAsked{Text: "Why?"}
	for name, tt := range map[string]struct {
		asked    protocol.QuestionAsked
		answered protocol.QuestionAnswered
		want     string
	}{
		"a choice":                 {which, protocol.QuestionAnswered{Choice: "aisle"}, "aisle"},
		"free text":                {free, protocol.QuestionAnswered{Text: "Because."}, "Because."},
		"a value":                  {day, protocol.QuestionAnswered{Value: `{"day":12}`}, `{"day":12}`},
		"no choice of those":       {which, protocol.QuestionAnswered{Choice: "roof"}, "failed permanent handler"},
		"text for a choice":        {which, protocol.QuestionAnswered{Text: "aisle"}, "failed permanent handler"},
		"two answers":              {which, protocol.QuestionAnswered{Choice: "aisle", Text: "please"}, "failed permanent handler"},
		"no answer":                {free, protocol.QuestionAnswered{}, "failed permanent handler"},
		"a value that does not do": {day, protocol.QuestionAnswered{Value: `{"day":0}`}, "failed permanent handler"},
		"a value that is no JSON":  {day, protocol.QuestionAnswered{Value: `the twelfth`}, "failed permanent handler"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var about, sender string
				planner := forthcoming(func(ctx context.Context, q protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
					w, _ := agent.Current(ctx)
					about, sender = w.About, w.Sender
					if q.Text != tt.asked.Text || len(q.Choices) != len(tt.asked.Choices) || q.Schema != tt.asked.Schema {
						t.Errorf("asked %+v, want %+v", q, tt.asked)
					}
					return tt.answered, nil
				})
				flights := curious(tt.asked)
				facing(t, planner, flights)
				q := ask(t, planner, "flights", book, seat)
				out, err := q.wait()
				if err != nil || out.Reference != tt.want {
					t.Errorf("Ask = %v, %v, want %s", out, err, tt.want)
				}
				if about != q.id || sender != flights.URI() {
					t.Errorf("the question is about %s by %s, want %s by the flights", about, sender, q.id)
				}
			})
		})
	}
}

func TestAQuestionIsAnExchangeBelowTheOneThatItIsAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w agent.Work
		planner := forthcoming(func(ctx context.Context, _ protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
			w, _ = agent.Current(ctx)
			return protocol.QuestionAnswered{Choice: "aisle"}, nil
		})
		facing(t, planner, curious(which))
		began := time.Now()
		q := ask(t, planner, "flights", book, seat, agent.Within(time.Hour))
		if _, err := q.wait(); err != nil {
			t.Fatal(err)
		}
		if w.Hop != 1 || w.Deadline.Sub(began) != 54*time.Minute {
			t.Errorf("hop %d, deadline after %s, want 1 and a tenth less than an hour", w.Hop, w.Deadline.Sub(began))
		}
	})
}

func TestAHandlerDecidesAloneWhenNobodyAnswers(t *testing.T) {
	silent := func(ctx context.Context, _ protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
		<-ctx.Done()
		return protocol.QuestionAnswered{}, ctx.Err()
	}
	for name, tt := range map[string]struct {
		planner *agent.Agent
		want    string
	}{
		"who asked answers no questions": {agent.New("planner"), "not-understood validation unsupported-version"},
		"who asked will not say": {forthcoming(func(context.Context, protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
			return protocol.QuestionAnswered{}, agent.Refuse(envelope.CodePermanent, "no-comment")
		}), "refused permanent no-comment"},
		"who asked does not say in time": {forthcoming(silent), "unknown deadline lapsed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				// Both sides' time is over at one moment: the cancel is lost, so that it does not come first.
				losing(t, none, first(envelope.Cancel, theMessage), tt.planner, curious(which, agent.Within(5*time.Second)))
				out, err := agent.Ask(t.Context(), tt.planner, "flights", book, seat)
				if err != nil || out.Reference != tt.want {
					t.Errorf("Ask = %v, %v, want %s", out, err, tt.want)
				}
			})
		})
	}
}

func TestAQuestionThatCannotBeAnsweredIsNotAsked(t *testing.T) {
	if _, err := agent.AskBack(t.Context(), which); !errors.Is(err, agent.ErrOutside) {
		t.Errorf("outside a handler: %v", err)
	}
	for pointer, q := range map[string]protocol.QuestionAsked{
		"/text":      {},
		"/schema":    {Text: "Which?", Choices: []string{"a"}, Schema: `{}`},
		"/choices/1": {Text: "Which?", Choices: []string{"a", "a"}},
		"/choices/0": {Text: "Which?", Choices: []string{""}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var got error
			planner := forthcoming(replying(protocol.QuestionAnswered{Text: "a"}))
			facing(t, planner, answers(func(ctx context.Context, _ Seat) (Booking, error) {
				_, got = agent.AskBack(ctx, q)
				return Booking{Reference: "R1"}, nil
			}))
			if _, err := agent.Ask(t.Context(), planner, "flights", book, seat); err != nil {
				t.Fatal(err)
			}
			if bad, ok := errors.AsType[*protocol.QuestionError](got); !ok || bad.Pointer != pointer {
				t.Errorf("%+v: %v, want a fault at %s", q, got, pointer)
			}
		})
	}
}

func TestAnExchangeHasOneOpenQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		planner := forthcoming(func(context.Context, protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
			asked.Add(1)
			<-time.After(2 * time.Second)
			return protocol.QuestionAnswered{Choice: "aisle"}, nil
		})
		flights := answers(func(ctx context.Context, _ Seat) (Booking, error) {
			first := make(chan error, 1)
			go func() { first <- second(agent.AskBack(ctx, which)) }()
			<-time.After(time.Second)
			if _, err := agent.AskBack(ctx, protocol.QuestionAsked{Text: "Why?"}); !errors.Is(err, agent.ErrQuestionOpen) {
				t.Errorf("a second question: %v", err)
			}
			if err := <-first; err != nil {
				t.Errorf("the first question: %v", err)
			}
			a, err := agent.AskBack(ctx, which) // again, after the first one
			return Booking{Reference: a.Choice}, err
		})
		facing(t, planner, flights)
		if out, err := agent.Ask(t.Context(), planner, "flights", book, seat); err != nil || out.Reference != "aisle" || asked.Load() != 2 {
			t.Errorf("Ask = %v, %v after %d questions", out, err, asked.Load())
		}
	})
}

func TestAQuestionEndsWithTheWorkThatItIsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := make(chan error, 1)
		planner := forthcoming(func(ctx context.Context, _ protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
			<-ctx.Done()
			stopped <- context.Cause(ctx)
			return protocol.QuestionAnswered{}, ctx.Err()
		})
		facing(t, planner, curious(which))
		x, err := agent.Start(t.Context(), planner, "flights", book, seat, agent.Within(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		at(time.Minute)
		if err := x.Cancel(t.Context()); err != nil {
			t.Fatal(err)
		}
		at(time.Second)
		select {
		case <-stopped:
		default:
			t.Error("the question is still open")
		}
	})
}

// A participant whose word is made here: it asks back whatever the test says.
func TestOnlyWhoWorksForAnAgentMayAskItBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		planner := forthcoming(func(ctx context.Context, _ protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
			asked.Add(1)
			<-ctx.Done()
			return protocol.QuestionAnswered{}, ctx.Err()
		})
		release := make(chan struct{})
		flights, hotels := held(release), agent.New("hotels", agent.Handle(look, reference))
		a, b, c := begin(t, nil, nil, planner), begin(t, nil, nil, flights), begin(t, nil, nil, hotels)
		agent.Introduce(a, b, c)
		live := ask(t, planner, "flights", look, seat, agent.Within(time.Hour))
		over := ask(t, planner, "hotels", look, seat)
		if _, err := over.wait(); err != nil {
			t.Fatal(err)
		}
		at(time.Second)
		request, other := sentOf(t, a, planner, live.id)[0], sentOf(t, a, planner, over.id)[0]
		put := func(from *agent.Agent, of *agent.Host, change func(*envelope.Header), content string) (*envelope.Error, protocol.State) {
			t.Helper()
			h := opening(from, planner, protocol.Question.Name(), protocol.QueryV1)
			h.CausationID, h.CorrelationID, h.Hop = request.ID(), request.Correlation(), 1
			if change != nil {
				change(&h)
			}
			hand(t, a, seal(t, h, content), token(t, of, from.URI(), planner.URI()))
			synctest.Wait()
			x := exchangeOf(t, a, planner, h.ConversationID).State
			return x.Error, x.State
		}
		const fine = `{"text":"Which seat?"}`
		for name, tt := range map[string]struct {
			from    *agent.Agent
			of      *agent.Host
			change  func(*envelope.Header)
			content string
			code    envelope.Code
			reason  string
		}{
			"about nothing":                     {flights, b, func(h *envelope.Header) { h.CausationID = "" }, fine, envelope.CodeAuth, guard.ReasonPolicy},
			"about what nobody sent":            {flights, b, func(h *envelope.Header) { h.CausationID = fresh() }, fine, envelope.CodeAuth, guard.ReasonPolicy},
			"about what somebody else does":     {hotels, c, nil, fine, envelope.CodeAuth, guard.ReasonPolicy},
			"about what has ended":              {hotels, c, func(h *envelope.Header) { h.CausationID, h.CorrelationID = other.ID(), other.Correlation() }, fine, envelope.CodeAuth, guard.ReasonPolicy},
			"as part of another business":       {flights, b, func(h *envelope.Header) { h.CorrelationID = fresh() }, fine, envelope.CodeAuth, guard.ReasonPolicy},
			"with choices and a schema":         {flights, b, nil, `{"text":"Which?","choices":["a"],"schema":"{}"}`, envelope.CodeValidation, guard.ReasonSchema},
			"with a schema that is no schema":   {flights, b, nil, `{"text":"Which?","schema":"{\"type\":7}"}`, envelope.CodeValidation, guard.ReasonSchema},
			"with a schema from somewhere else": {flights, b, nil, `{"text":"Which?","schema":"{\"$ref\":\"https://evil.example/s\"}"}`, envelope.CodeValidation, guard.ReasonSchema},
		} {
			told, state := put(tt.from, tt.of, tt.change, tt.content)
			if state != "done:refused" || told == nil || told.Code != tt.code || told.Reason != tt.reason {
				t.Fatalf("%s: %s, %+v, want refused(%s, %s)", name, state, told, tt.code, tt.reason)
			}
			if tt.code == envelope.CodeAuth && told.Detail != nil {
				t.Errorf("%s: told %+v", name, told.Detail)
			}
		}
		if asked.Load() != 0 {
			t.Fatalf("%d of them reached the handler", asked.Load())
		}
		if _, state := put(flights, b, nil, fine); state.Done() || asked.Load() != 1 {
			t.Errorf("one that is right: %s, asked %d times", state, asked.Load())
		}
		if told, state := put(flights, b, nil, `{"text":"And which meal?"}`); state != "done:refused" || told == nil || told.Code != envelope.CodeCapacity || told.Reason != "question-open" || asked.Load() != 1 {
			t.Errorf("a second one: %s, %+v, asked %d times", state, told, asked.Load())
		}
		close(release)
		if _, err := live.wait(); err != nil {
			t.Fatal(err)
		}
		if told, state := put(flights, b, nil, fine); state != "done:refused" || told == nil || told.Reason != guard.ReasonPolicy {
			t.Errorf("after the end: %s, %+v", state, told)
		}
	})
}

// The planner's runtime would not send an answer that is none: this one's word
// is made here.
func TestAnAnswerOfAnotherQuestionIsAFailureToAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := forthcoming(func(ctx context.Context, _ protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
			<-ctx.Done()
			return protocol.QuestionAnswered{}, ctx.Err()
		})
		var got error
		flights := answers(func(ctx context.Context, _ Seat) (Booking, error) {
			_, got = agent.AskBack(ctx, which)
			return Booking{Reference: "R1"}, nil
		})
		a, b := facing(t, planner, flights)
		q := ask(t, planner, "flights", book, seat)
		at(time.Second)
		var question *envelope.Envelope
		list, err := b.Store().Conversations(t.Context(), flights.URI(), 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			if e := logOf(t, b, flights, c.ID); c.ID != q.id && len(e) > 0 {
				question = sentOf(t, b, flights, c.ID)[0]
			}
		}
		// The planner has agreed already: its own result comes next.
		h := answering(a, t, question, envelope.Inform, 2)
		h.Schema, h.Status = protocol.Question.Name().Result(), envelope.Final
		hand(t, b, seal(t, h, `{"choice":"roof"}`), token(t, a, planner.URI(), flights.URI()))
		if _, err := q.wait(); err != nil {
			t.Fatal(err)
		}
		if kind, e := ending(got); kind != "failed" || e.Code != envelope.CodeValidation || e.Pointer != "/content/choice" || !strings.Contains(e.Want, "choices") {
			t.Errorf("AskBack = %v", got)
		}
	})
}
