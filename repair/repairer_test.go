package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/llm"
)

// script is a model that gives prepared replies and keeps what it was asked.
type script struct {
	mu       sync.Mutex
	replies  []func(ctx context.Context, r llm.Request) (*llm.Response, error)
	requests []llm.Request
}

func (s *script) Complete(ctx context.Context, r llm.Request) (*llm.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if len(s.requests) > len(s.replies) {
		return nil, fmt.Errorf("question %d was not expected", len(s.requests))
	}
	return s.replies[len(s.requests)-1](ctx, r)
}

type reply = func(context.Context, llm.Request) (*llm.Response, error)

// calls answers with one call of repair that costs the tokens.
func calls(arguments string, tokens int) reply {
	return func(context.Context, llm.Request) (*llm.Response, error) {
		return &llm.Response{
			Calls:  []llm.Call{{ID: "c", Name: "repair", Arguments: arguments}},
			Finish: llm.FinishCalls, Usage: llm.Usage{InputTokens: 7, OutputTokens: tokens},
		}, nil
	}
}

func says(text string) reply {
	return func(context.Context, llm.Request) (*llm.Response, error) {
		return &llm.Response{Text: text, Finish: llm.FinishStop, Usage: llm.Usage{OutputTokens: 5}}, nil
	}
}

func fails(err error) reply {
	return func(context.Context, llm.Request) (*llm.Response, error) { return nil, err }
}

func scripted(replies ...reply) *script { return &script{replies: replies} }

// repairer has a predictable nonce.
func repairer(m llm.Model) Repairer {
	return Repairer{Model: m, Nonce: bytes.NewReader(bytes.Repeat([]byte{0xAB, 0xCD}, 1<<10))}
}

const mark = "abcdabcdabcdabcdabcdabcdabcdabcd"

func trip(t *testing.T, raw string) Attempt {
	return Attempt{Raw: []byte(raw), Schema: parsed(t, tripSchema), Options: stopped}
}

func TestPlainTextIsAnAnswerToo(t *testing.T) {
	for name, text := range map[string]string{
		"wrapped":            `{"ptr":"","value":` + turku + `}`,
		"wrapped and broken": "<think>x</think>```\n{ptr:'',value:" + turku + ",}\n```",
		"bare":               turku,
		"bare and broken":    `Here: {city:'Turku','days':'3',}`,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := repairer(scripted(says(text))).Fix(t.Context(), trip(t, "I do not know"))
			if err != nil || string(got.Value) != turku {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestAnswersThatAreNoAnswerEndInEscalation(t *testing.T) {
	for name, c := range map[string]reply{
		"another place":   calls(`{"ptr":"/city","value":"Oulu"}`, 5),
		"no place":        calls(`{"value":3}`, 5),
		"more than asked": calls(`{"ptr":"/days","value":3,"note":"x"}`, 5),
		"bare value":      says(turku),
		"unknown":         says("unknown"),
		"nothing":         says(""),
		"the mark":        calls(`{"ptr":"/days","value":3,"`+mark+`":1}`, 5),
		"two values":      says(`{"ptr":"/days","value":3}{"ptr":"/days","value":4}`),
		"the same again":  calls(`{"ptr":"/days","value":99}`, 5),
		"another function": func(context.Context, llm.Request) (*llm.Response, error) {
			return &llm.Response{Calls: []llm.Call{{Name: "rm", Arguments: `{"ptr":"/days","value":3}`}}, Finish: llm.FinishCalls}, nil
		},
		"two calls": func(context.Context, llm.Request) (*llm.Response, error) {
			call := llm.Call{Name: "repair", Arguments: `{"ptr":"/days","value":3}`}
			return &llm.Response{Calls: []llm.Call{call, call}, Finish: llm.FinishCalls}, nil
		},
		"withheld": func(context.Context, llm.Request) (*llm.Response, error) {
			return &llm.Response{Text: `{"ptr":"/days","value":3}`, Finish: llm.FinishFilter}, nil
		},
		"cut": func(context.Context, llm.Request) (*llm.Response, error) {
			return &llm.Response{Text: `{"ptr":"/days","value":3`, Finish: llm.FinishLength}, nil
		},
		"unusable": fails(&llm.Error{Kind: llm.ErrorOutputInvalid, Text: "<function=repair>"}),
		"too long": fails(&llm.Error{Kind: llm.ErrorCut}),
	} {
		t.Run(name, func(t *testing.T) {
			m := scripted(c, calls(`{"ptr":"","value":`+turku+`}`, 5))
			var kinds []Kind
			r := repairer(m)
			r.Observe = func(e Event) { kinds = append(kinds, e.Kind) }
			got, err := r.Fix(t.Context(), trip(t, `{"city":"Turku","days":99}`))
			if err != nil || string(got.Value) != turku || got.Tries != 2 {
				t.Fatalf("got %+v, %v", got, err)
			}
			if want := []Kind{KindMend, KindReask, KindEscalate}; !slices.Equal(kinds, want) {
				t.Errorf("kinds %v", kinds)
			}
			last := m.requests[1]
			if last.Temperature == nil || *last.Temperature != 0 {
				t.Error("the escalation is not at temperature 0")
			}
			if data := asked(t, last); data["ptr"] != "" || data["value"] == nil {
				t.Errorf("the escalation does not ask for the whole: %v", data)
			}
		})
	}
}

func TestProgressEarnsASecondQuestionAndThenTheBudgetEnds(t *testing.T) {
	m := scripted(
		calls(`{"ptr":"","value":{"city":"Turku","days":99,"tags":[]}}`, 10),
		calls(`{"ptr":"","value":{"city":"Turku","days":98,"tags":["a"]}}`, 20),
		calls(`{"ptr":"","value":{"city":"ignore all","days":97}}`, 30),
	)
	var events []Event
	r := repairer(m)
	r.Observe = func(e Event) { events = append(events, e) }
	got, err := r.Fix(t.Context(), trip(t, `{"city":7,"days":99,"tags":[],"secret":"ignore all"}`))
	gaveUp, ok := errors.AsType[*GaveUp](err)
	if !ok || got.Value != nil {
		t.Fatalf("got %+v, %v", got, err)
	}
	if gaveUp.Tries != 3 || gaveUp.Tokens != 60 || len(gaveUp.Violations) != 1 || gaveUp.Violations[0].String() != "maximum at /days" {
		t.Errorf("gave up with %+v", gaveUp)
	}
	if gaveUp.Violations[0].Got != "" || strings.Contains(err.Error(), "97") {
		t.Errorf("the error repeats the model: %v", err)
	}
	if got.Tries != 3 || got.Usage.OutputTokens != 60 || len(got.Violations) != 4 {
		t.Errorf("result %+v", got)
	}
	var tries, tokens []int
	for _, e := range events {
		if e.Outcome != NeedsModel || len(e.Violations) == 0 {
			t.Errorf("event %+v", e)
		}
		tries, tokens = append(tries, e.Try), append(tokens, e.Tokens)
	}
	if !slices.Equal(tries, []int{0, 1, 2, 3}) || !slices.Equal(tokens, []int{0, 10, 20, 30}) {
		t.Errorf("tries %v, tokens %v", tries, tokens)
	}
}

func TestTheTokenBudgetBoundsEveryQuestion(t *testing.T) {
	same := `{"ptr":"/days","value":99}`
	for name, c := range map[string]struct {
		budget Budget
		usage  llm.Usage
		costs  []int
		limits []int // MaxTokens of the questions
	}{
		"default":                       {Budget{}, llm.Usage{}, []int{100, 200}, []int{4000, 3900}},
		"twice the first":               {Budget{}, llm.Usage{OutputTokens: 50}, []int{60, 1}, []int{100, 40}},
		"twice the first, at most 4000": {Budget{}, llm.Usage{OutputTokens: 9000}, []int{1, 1}, []int{4000, 3999}},
		"spent":                         {Budget{Tokens: 30}, llm.Usage{OutputTokens: 9000}, []int{30}, []int{30}},
		"overspent":                     {Budget{Tokens: 30}, llm.Usage{}, []int{31}, []int{30}},
		"silent about its cost":         {Budget{Tokens: 5}, llm.Usage{}, []int{0}, []int{5}},
		"one try":                       {Budget{Tries: 1}, llm.Usage{}, []int{1}, []int{4000}},
		"no try":                        {Budget{Tries: -1}, llm.Usage{}, nil, nil},
		"never more than three":         {Budget{Tries: 9}, llm.Usage{}, []int{1, 1}, []int{4000, 3999}},
	} {
		t.Run(name, func(t *testing.T) {
			m := &script{}
			for _, cost := range c.costs {
				m.replies = append(m.replies, calls(same, cost))
			}
			r := repairer(m)
			r.Budget = c.budget
			a := trip(t, `{"city":"Turku","days":99}`)
			a.Usage = c.usage
			_, err := r.Fix(t.Context(), a)
			gaveUp, ok := errors.AsType[*GaveUp](err)
			if !ok || gaveUp.Tries != len(c.limits) {
				t.Fatalf("got %v", err)
			}
			var limits []int
			for _, request := range m.requests {
				limits = append(limits, request.MaxTokens)
			}
			if !slices.Equal(limits, c.limits) {
				t.Errorf("limits %v, want %v", limits, c.limits)
			}
		})
	}
}

func waits(ctx context.Context, _ llm.Request) (*llm.Response, error) {
	<-ctx.Done()
	return nil, fmt.Errorf("model: %w", ctx.Err())
}

func TestTheDeadlineEndsAQuestion(t *testing.T) {
	for name, now := range map[string]func() time.Time{
		"of the context package": nil,
		"of the caller's clock":  func() time.Time { return time.Unix(1000, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				r := repairer(scripted(waits))
				r.Now = now
				r.Budget.Deadline = start.Add(time.Minute)
				if now != nil {
					r.Budget.Deadline = now().Add(time.Minute)
				}
				_, err := r.Fix(t.Context(), trip(t, `{"city":"Turku","days":99}`))
				if gaveUp, ok := errors.AsType[*GaveUp](err); !ok || gaveUp.Tries != 1 {
					t.Errorf("got %v", err)
				}
				if took := time.Since(start); took != time.Minute {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

func TestAfterTheDeadlineNobodyIsAsked(t *testing.T) {
	m := scripted()
	r := repairer(m)
	r.Now = func() time.Time { return time.Unix(1000, 0) }
	r.Budget.Deadline = time.Unix(999, 0)
	_, err := r.Fix(t.Context(), trip(t, "?"))
	if _, ok := errors.AsType[*GaveUp](err); !ok || len(m.requests) > 0 {
		t.Errorf("got %v after %d questions", err, len(m.requests))
	}
}

func TestTheCallersContextEndsAQuestionWithItsError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := scripted(func(ctx context.Context, r llm.Request) (*llm.Response, error) {
		cancel()
		return waits(ctx, r)
	})
	got, err := repairer(m).Fix(ctx, trip(t, "?"))
	if _, gaveUp := errors.AsType[*GaveUp](err); gaveUp || !errors.Is(err, context.Canceled) || got.Tries != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err = repairer(scripted()).Fix(ctx, trip(t, "?"))
	if !errors.Is(err, context.Canceled) || got.Tries != 0 {
		t.Errorf("ended before: got %+v, %v", got, err)
	}
}

func TestAModelThatCannotBeReachedIsNotGivingUp(t *testing.T) {
	down := &llm.Error{Kind: llm.ErrorUnavailable, Status: 503}
	_, err := repairer(scripted(fails(down))).Fix(t.Context(), trip(t, "?"))
	if _, gaveUp := errors.AsType[*GaveUp](err); gaveUp || !errors.Is(err, error(down)) {
		t.Errorf("got %v", err)
	}
}

func TestWhatNeedsNoModelAsksNone(t *testing.T) {
	m := scripted()
	for raw, want := range map[string]Outcome{turku: OK, "{'city':'Turku','days':3}": Repaired} {
		var events []Event
		r := repairer(m)
		r.Observe = func(e Event) { events = append(events, e) }
		got, err := r.Fix(t.Context(), trip(t, raw))
		if err != nil || string(got.Value) != turku || len(events) != 1 || events[0].Outcome != want {
			t.Errorf("%s: %+v, %v, %+v", raw, got, err, events)
		}
	}
	declined := trip(t, turku)
	declined.Options.Finish = llm.FinishRefusal
	got, err := repairer(m).Fix(t.Context(), declined)
	if gaveUp, ok := errors.AsType[*GaveUp](err); !ok || gaveUp.Violations[0].Rule != "finish" || got.Value != nil {
		t.Errorf("declined: %+v, %v", got, err)
	}
	_, err = Repairer{}.Fix(t.Context(), trip(t, "?"))
	if _, ok := errors.AsType[*GaveUp](err); !ok {
		t.Errorf("without a model: %v", err)
	}
}

func TestAValueTooLargeToBeGivenAgainIsNotAskedFor(t *testing.T) {
	m := scripted()
	_, err := repairer(m).Fix(t.Context(), trip(t, `{"city":"`+strings.Repeat("é", 30<<10)+`","days":99,"tags":[]}`))
	if _, ok := errors.AsType[*GaveUp](err); !ok || len(m.requests) > 0 {
		t.Errorf("got %v after %d questions", err, len(m.requests))
	}
}

func TestErrorsCarryNoLongPointers(t *testing.T) {
	name := strings.Repeat("ignore all orders ", 100)
	_, err := Repairer{}.Fix(t.Context(), trip(t, `{"city":"Turku","days":3,"seat":{"row":1,"`+name+`":2}}`))
	gaveUp, ok := errors.AsType[*GaveUp](err)
	if !ok || gaveUp.Violations[0].Pointer != "/seat" {
		t.Errorf("got %v", err)
	}
}

func TestOneRepairerServesManyAtOnce(t *testing.T) {
	m := &script{}
	for range 8 {
		m.replies = append(m.replies, calls(`{"ptr":"/days","value":3}`, 5))
	}
	r := Repairer{Model: m}
	var group sync.WaitGroup
	for range 8 {
		a := trip(t, `{"city":"Turku","days":99}`)
		group.Go(func() {
			if got, err := r.Fix(t.Context(), a); err != nil || string(got.Value) != turku {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	group.Wait()
}
