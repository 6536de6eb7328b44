package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/llm"
)

type (
	nextModel = func(context.Context, llm.Request) (*llm.Response, error)
	nextTool  = func(context.Context, agent.ToolCall) (json.RawMessage, error)
	nextAct   = func(context.Context, agent.Act) error
)

var callWeather = agenttest.Calls(agenttest.Call("weather", City{"Turku"}))

// acting is a layer around acts alone, modelling and tooling around the rest.
func acting(f func(context.Context, agent.Act, nextAct) error) agent.Option {
	return agent.Around(agent.Layer{Act: f})
}

func modelling(f func(context.Context, llm.Request, nextModel) (*llm.Response, error)) agent.Option {
	return agent.Around(agent.Layer{Model: f})
}

func tooling(f func(context.Context, agent.ToolCall, nextTool) (json.RawMessage, error)) agent.Option {
	return agent.Around(agent.Layer{Tool: f})
}

func TestTheFirstLayerIsTheOutermost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var order []string
		note := func(what string) { mu.Lock(); order = append(order, what); mu.Unlock() }
		layer := func(name string) agent.Option {
			return agent.Around(agent.Layer{
				Model: func(ctx context.Context, r llm.Request, next nextModel) (*llm.Response, error) {
					note(name + " model")
					defer note(name + " model back")
					return next(ctx, r)
				},
				Tool: func(ctx context.Context, c agent.ToolCall, next nextTool) (json.RawMessage, error) {
					note(name + " " + c.Tool)
					return next(ctx, c)
				},
				Act: func(ctx context.Context, a agent.Act, next nextAct) error {
					note(fmt.Sprintf("%s %s %s to %s", name, a.Performative, a.Contract, a.To))
					return next(ctx, a)
				},
			})
		}
		script := agenttest.NewScript(callWeather, says("R1"))
		c := clerk(script, weather(new(atomic.Int32)), layer("outer"), agent.Around(agent.Layer{}), layer("inner"))
		if out, err := asked(t, c); err != nil || out.Reference != "R1" {
			t.Fatalf("Ask = %v, %v", out, err)
		}
		model := []string{"outer model", "inner model", "inner model back", "outer model back"}
		end := "inform acme.flight.look/v1 to agent://local/planner"
		want := slices.Concat(model, []string{"outer weather", "inner weather"}, model, []string{"outer " + end, "inner " + end})
		if !slices.Equal(order, want) {
			t.Errorf("called\n%v, want\n%v", order, want)
		}
	})
}

func TestAVetoOfAnOpeningActIsReturnedAndNothingIsSent(t *testing.T) {
	policy := errors.New("not on a Sunday")
	for name, tt := range map[string]struct {
		layer func(context.Context, agent.Act, nextAct) error
		want  string
		is    error
	}{
		"an error":            {func(context.Context, agent.Act, nextAct) error { return policy }, "", policy},
		"an error after next": {func(ctx context.Context, a agent.Act, next nextAct) error { return errors.Join(next(ctx, a), policy) }, "", policy},
		"next is not called":  {func(context.Context, agent.Act, nextAct) error { return nil }, "policy", nil},
		"a panic":             {func(context.Context, agent.Act, nextAct) error { panic("lost") }, "panic: lost", nil},
		"content that is no fit": {func(ctx context.Context, a agent.Act, next nextAct) error {
			a.Content = []byte(`{"flight":7}`)
			return next(ctx, a)
		}, "/flight", nil},
		"content that is no JSON": {func(ctx context.Context, a agent.Act, next nextAct) error {
			a.Content = []byte(`{`)
			return next(ctx, a)
		}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				planner := agent.New("planner", acting(tt.layer))
				a, b := begin(t, nil, nil, planner), begin(t, nil, nil, answers(reference))
				agent.Introduce(a, b)
				_, err := agent.Ask(t.Context(), planner, "flights", look, seat)
				if err == nil || !strings.Contains(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
					t.Errorf("Ask = %v, want %q", err, tt.want)
				}
				if list, err := a.Store().Conversations(t.Context(), "", 10); err != nil || len(list) != 0 {
					t.Errorf("opened %v, %v", list, err)
				}
			})
		})
	}
}

func TestALayerMayChangeWhatIsSaidButNotWhoSaysWhatToWhom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forge := func(content string) agent.Option {
			return acting(func(ctx context.Context, a agent.Act, next nextAct) error {
				if a.Performative == envelope.Refuse {
					content = `{"leak":1}`
				}
				return next(ctx, agent.Act{Performative: envelope.Failure, Contract: "acme.other/v1", To: "agent://local/mallory",
					Content: []byte(content), Code: envelope.CodeCapacity, Reason: "later"})
			})
		}
		planner := agent.New("planner", forge(` { "flight" : "AY999" } `))
		flights := agent.New("flights", forge(`{"reference":"redacted"}`),
			agent.Handle(look, func(_ context.Context, s Seat) (Booking, error) { return Booking{s.Flight}, nil }),
			agent.Handle(book, func(context.Context, Seat) (Booking, error) {
				return Booking{}, agent.Refuse(envelope.CodePermanent, "sold-out")
			}))
		a, b := begin(t, nil, nil, planner), begin(t, nil, nil, flights)
		agent.Introduce(a, b)
		q := ask(t, planner, "flights", look, seat)
		if out, err := q.wait(); err != nil || out.Reference != "redacted" {
			t.Errorf("Ask = %v, %v", out, err)
		}
		if got := string(sentOf(t, a, planner, q.id)[0].Content()); got != `{"flight":"AY999"}` {
			t.Errorf("asked %s", got)
		}
		_, err := agent.Ask(t.Context(), planner, "flights", book, seat)
		if kind, e := ending(err); kind != "refused" || e.Code != envelope.CodeCapacity || e.Reason != "later" {
			t.Errorf("Ask = %v, want refused (capacity, later)", err)
		}
	})
}

func TestAVetoOfAnEndingActIsWhatAHandlersErrorWouldBe(t *testing.T) {
	for name, tt := range map[string]struct {
		layer        func(context.Context, agent.Act, nextAct) error
		kind, reason string
	}{
		"a refusal":          {func(context.Context, agent.Act, nextAct) error { return agent.Refuse(envelope.CodeAuth, "secret") }, "failed", "secret"},
		"a failure":          {func(context.Context, agent.Act, nextAct) error { return agent.Fail(envelope.CodePermanent, "secret") }, "failed", "secret"},
		"an error":           {func(context.Context, agent.Act, nextAct) error { return errors.New(secret) }, "failed", "handler"},
		"next is not called": {func(context.Context, agent.Act, nextAct) error { return nil }, "failed", "policy"},
		"a panic":            {func(context.Context, agent.Act, nextAct) error { panic(secret) }, "failed", "handler"},
		"content without a fit": {func(ctx context.Context, a agent.Act, next nextAct) error {
			a.Content = []byte(`{}`)
			return next(ctx, a)
		}, "failed", "handler"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				planner, _, _ := pair(t, nil, agent.New("flights", agent.Handle(look, reference), acting(tt.layer)))
				_, err := agent.Ask(t.Context(), planner, "flights", look, seat)
				if kind, e := ending(err); kind != tt.kind || e.Reason != tt.reason || strings.Contains(err.Error(), "xyzzy") {
					t.Errorf("Ask = %v, want %s (%s)", err, tt.kind, tt.reason)
				}
			})
		})
	}
}

func TestALayerAroundTheModelSeesEveryCallAndMayVetoIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []llm.Choice
		redact := modelling(func(ctx context.Context, r llm.Request, next nextModel) (*llm.Response, error) {
			seen = append(seen, r.Choice)
			return next(ctx, r)
		})
		script := agenttest.NewScript(agenttest.Calls(agenttest.Call("inform", `{}`)), repairs(t, "R1"))
		if out, err := asked(t, clerk(script, redact)); err != nil || out.Reference != "R1" {
			t.Errorf("Ask = %v, %v", out, err)
		}
		if !slices.Equal(seen, []llm.Choice{llm.ChoiceRequired, "repair"}) {
			t.Errorf("the layer saw %v, want the turn's call and that of repair", seen)
		}
	})
	for name, tt := range map[string]struct {
		layer        func(context.Context, llm.Request, nextModel) (*llm.Response, error)
		kind, reason string
	}{
		"a refusal": {func(context.Context, llm.Request, nextModel) (*llm.Response, error) {
			return nil, agent.Refuse(envelope.CodeCapacity, "no-money")
		}, "refused", "no-money"},
		"an error": {func(context.Context, llm.Request, nextModel) (*llm.Response, error) { return nil, errors.New(secret) }, "failed", "handler"},
		"a model's error": {func(context.Context, llm.Request, nextModel) (*llm.Response, error) {
			return nil, &llm.Error{Kind: llm.ErrorUnavailable}
		}, "failed", "model"},
		"next is not called": {func(context.Context, llm.Request, nextModel) (*llm.Response, error) { return nil, nil }, "refused", "policy"},
		"a panic":            {func(context.Context, llm.Request, nextModel) (*llm.Response, error) { panic(secret) }, "failed", "handler-panic"},
		"a veto of repair": {func(ctx context.Context, r llm.Request, next nextModel) (*llm.Response, error) {
			if r.Choice == "repair" {
				return nil, agent.Fail(envelope.CodeCapacity, "no-money")
			}
			return next(ctx, r)
		}, "failed", "no-money"},
		"repair cannot be reached": {func(ctx context.Context, r llm.Request, next nextModel) (*llm.Response, error) {
			if r.Choice == "repair" {
				return nil, &llm.Error{Kind: llm.ErrorUnavailable}
			}
			return next(ctx, r)
		}, "failed", "model"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := agenttest.NewScript(agenttest.Calls(agenttest.Call("inform", `{}`)))
				_, err := asked(t, clerk(script, modelling(tt.layer)))
				if kind, e := ending(err); kind != tt.kind || e.Reason != tt.reason {
					t.Errorf("Ask = %v, want %s (%s)", err, tt.kind, tt.reason)
				}
			})
		})
	}
}

func TestAWatcherHearsOfAModelBehindALayerOnlyWhatTheLayerLetsThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := make(chan struct{})
		redact := modelling(func(ctx context.Context, r llm.Request, next nextModel) (*llm.Response, error) {
			<-begin
			reply, err := next(ctx, r)
			if err == nil {
				reply.Text = "redacted"
			}
			return reply, err
		})
		c := clerk(&streaming{pieces: []string{secret, secret}}, redact)
		planner, _, _ := pair(t, nil, c)
		q := ask(t, planner, "clerk", look, seat)
		at(0)
		w := watch(t, agent.Watch(t.Context(), c, q.id, "planner"), nil)
		at(0)
		close(begin)
		<-w.done
		if text, _ := deltas(w.events); text != "redacted" {
			t.Errorf("the watcher heard %q", text)
		}
	})
}

func TestALayerAroundToolsMayChangeVetoAndRedact(t *testing.T) {
	for name, tt := range map[string]struct {
		layer func(context.Context, agent.ToolCall, nextTool) (json.RawMessage, error)
		want  string
		runs  int32
	}{
		"changed arguments": {func(ctx context.Context, c agent.ToolCall, next nextTool) (json.RawMessage, error) {
			return next(ctx, agent.ToolCall{Tool: "another", Arguments: []byte(`{"name":"Oulu"}`)})
		}, "It rains in Oulu.", 1},
		"arguments that do not fit": {func(ctx context.Context, c agent.ToolCall, next nextTool) (json.RawMessage, error) {
			c.Arguments = []byte(`{}`)
			return next(ctx, c)
		}, `"outcome":"failed"`, 0},
		"a redacted result": {func(ctx context.Context, c agent.ToolCall, next nextTool) (json.RawMessage, error) {
			_, err := next(ctx, c)
			return []byte(`"redacted"`), err
		}, `"result":"redacted"`, 1},
		"a result that is no JSON": {func(ctx context.Context, c agent.ToolCall, next nextTool) (json.RawMessage, error) {
			_, err := next(ctx, c)
			return []byte(`{`), err
		}, `{"code":"permanent","outcome":"failed","reason":"handler"}`, 1},
		"a veto": {func(context.Context, agent.ToolCall, nextTool) (json.RawMessage, error) {
			return nil, agent.Refuse(envelope.CodeAuth, "forbidden")
		}, `{"code":"auth","outcome":"failed","reason":"forbidden"}`, 0},
		"next is not called": {func(context.Context, agent.ToolCall, nextTool) (json.RawMessage, error) { return nil, nil },
			`{"code":"auth","outcome":"failed","reason":"policy"}`, 0},
		"a panic": {func(context.Context, agent.ToolCall, nextTool) (json.RawMessage, error) { panic(secret) },
			`{"code":"permanent","outcome":"failed","reason":"handler-panic"}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var runs atomic.Int32
				script := agenttest.NewScript(callWeather, says("R1"))
				if out, err := asked(t, clerk(script, weather(&runs), tooling(tt.layer))); err != nil || out.Reference != "R1" {
					t.Fatalf("Ask = %v, %v", out, err)
				}
				told := results(script.Requests()[1])
				if len(told) != 1 || !strings.Contains(told[0], tt.want) || runs.Load() != tt.runs {
					t.Errorf("told %q after %d runs, want %s after %d", told, runs.Load(), tt.want, tt.runs)
				}
			})
		})
	}
}

func TestAModelHearsThatAPolicyKeptItsQuestionBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keep := acting(func(ctx context.Context, a agent.Act, next nextAct) error {
			if a.Performative == envelope.Request {
				return agent.Refuse(envelope.CodeAuth, "not-allowed")
			}
			return next(ctx, a)
		})
		script := agenttest.NewScript(agenttest.Calls(agenttest.Call("flights__acme_flight_look_v1", seat)), says("R1"))
		flights := answers(func(context.Context, Seat) (Booking, error) { t.Error("the peer was asked"); return Booking{}, nil })
		out, err := asked(t, clerk(script, keep, agent.MayAsk("flights", look)), flights)
		if err != nil || out.Reference != "R1" {
			t.Fatalf("Ask = %v, %v", out, err)
		}
		if told := results(script.Requests()[1]); len(told) != 1 || !strings.Contains(told[0], `{"code":"auth","outcome":"refused","reason":"not-allowed"}`) {
			t.Errorf("told %q", told)
		}
	})
}

func TestAnOpeningActThatALayerSpoiltSaysWhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := agent.New("planner", acting(func(ctx context.Context, a agent.Act, next nextAct) error {
			a.Content = []byte(`{"flight":"nope"}`)
			return next(ctx, a)
		}))
		agent.Introduce(begin(t, nil, nil, planner), begin(t, nil, nil, answers(reference)))
		_, err := agent.Ask(t.Context(), planner, "flights", look, seat)
		if invalid, ok := errors.AsType[*schema.Invalid](err); !ok || invalid.Violations[0].Pointer != "/flight" {
			t.Errorf("Ask = %v, want the schema's violation", err)
		}
	})
}
