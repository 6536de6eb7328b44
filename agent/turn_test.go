package agent_test

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/llm"
)

const prompt = "Find the seat and say its reference."

// clerk is an agent whose model answers both contracts by the script.
func clerk(script llm.Model, opts ...agent.Option) *agent.Agent {
	return agent.New("clerk", append(opts, agent.Model(script), agent.Answer(look, prompt), agent.Answer(book, prompt))...)
}

// says is the reply that gives the result and ends the turn.
func says(ref string) agenttest.Reply {
	return agenttest.Calls(agenttest.Call("inform", Booking{Reference: ref}))
}

// asked puts the seat to the clerk.
func asked(t *testing.T, c *agent.Agent, others ...*agent.Agent) (Booking, error) {
	t.Helper()
	planner, _, _ := pair(t, nil, append(others, c)...)
	return agent.Ask(t.Context(), planner, "clerk", look, seat)
}

func names(r llm.Request) []string {
	var list []string
	for _, f := range r.Functions {
		list = append(list, f.Name)
	}
	slices.Sort(list)
	return list
}

type City struct {
	Name string `json:"name" jsonschema:"minLength=1"`
}

// weather is a tool that counts its runs.
func weather(runs *atomic.Int32, opts ...agent.ToolOption) agent.Option {
	return agent.Tool("weather", "The weather in a city.", func(_ context.Context, c City) (string, error) {
		runs.Add(1)
		return "It rains in " + c.Name + ".", nil
	}, opts...)
}

// results are the results of calls that the model is shown, in order.
func results(r llm.Request) []string {
	var list []string
	for _, m := range r.Messages {
		if m.Role == llm.RoleTool {
			list = append(list, m.Text)
		}
	}
	return list
}

func TestAFunctionThatDoesNotExistIsToldWithTheNamesOfThoseThatDo(t *testing.T) {
	for _, invented := range []string{"agree", "not-understood", "cancel", "book it, please", strings.Repeat("x", 200)} {
		t.Run(invented[:5], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := agenttest.NewScript(agenttest.Calls(agenttest.Call(invented, `{"a":1}`)), says("R1"))
				c := clerk(script)
				planner, _, b := pair(t, nil, c)
				q := ask(t, planner, "clerk", look, seat)
				if out, err := q.wait(); err != nil || out.Reference != "R1" {
					t.Fatalf("Ask = %v, %v", out, err)
				}
				second := script.Requests()[1]
				told := results(second)
				if len(told) != 1 || !strings.Contains(told[0], "unknown-function") || !strings.Contains(told[0], `["inform","failure","refuse"]`) && !strings.Contains(told[0], `"inform"`) {
					t.Errorf("told %q", told)
				}
				allowed := regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
				for _, m := range second.Messages {
					for _, call := range m.Calls {
						if !allowed.MatchString(call.Name) {
							t.Errorf("the call is shown as %q, which endpoints refuse", call.Name)
						}
					}
				}
				for _, e := range sentOf(t, b, c, q.id) {
					if e.Act() == envelope.Agree {
						t.Error("agree was sent before any work")
					}
				}
			})
		})
	}
}

func TestAnActBesideOtherCallsIsNotTakenYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		script := agenttest.NewScript(
			agenttest.Calls(agenttest.Call("inform", Booking{"GUESS"}), agenttest.Call("weather", City{"Turku"})), says("R1"))
		out, err := asked(t, clerk(script, weather(&runs)))
		if err != nil || out.Reference != "R1" || runs.Load() != 1 {
			t.Fatalf("Ask = %v, %v after %d runs of the tool", out, err, runs.Load())
		}
		told := results(script.Requests()[1])
		if len(told) != 2 || !strings.Contains(told[0], "calls-first") || !strings.Contains(told[1], "It rains in Turku.") {
			t.Errorf("told %q", told)
		}
	})
}

func TestOfTwoActsInOneReplyNoneIsTakenUntilThereIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := agenttest.NewScript(
			agenttest.Calls(agenttest.Call("inform", Booking{"R1"}), agenttest.Call("inform", Booking{"R2"})), says("R3"))
		c := clerk(script)
		planner, _, b := pair(t, nil, c)
		q := ask(t, planner, "clerk", look, seat)
		if out, err := q.wait(); err != nil || out.Reference != "R3" {
			t.Fatalf("Ask = %v, %v", out, err)
		}
		for _, told := range results(script.Requests()[1]) {
			if !strings.Contains(told, "one-act-a-turn") {
				t.Errorf("told %q", told)
			}
		}
		if sent := sentOf(t, b, c, q.id); len(sent) != 1 {
			t.Errorf("sent %d acts, want the one", len(sent))
		}
	})
}

// question is the line of data in a targeted re-ask.
type question struct {
	Ptr    string `json:"ptr"`
	Errors []struct{ Kw string }
}

// repairs replies to a targeted re-ask with a value for the place asked for.
func repairs(t *testing.T, value any) agenttest.Reply {
	return func(ctx context.Context, r llm.Request) (*llm.Response, error) {
		if r.Choice != "repair" || len(r.Functions) != 1 || len(r.Messages) != 2 {
			t.Errorf("the request is no targeted re-ask: choice %q, %d functions, %d messages", r.Choice, len(r.Functions), len(r.Messages))
		}
		var q question
		if err := json.Unmarshal([]byte(strings.Split(r.Messages[1].Text, "\n")[1]), &q); err != nil {
			t.Error(err)
		}
		reply, err := agenttest.Calls(agenttest.Call("repair", map[string]any{"ptr": q.Ptr, "value": value}))(ctx, r)
		reply.Usage = llm.Usage{InputTokens: 5, OutputTokens: 2}
		return reply, err
	}
}

// spends is a reply with a usage.
func spends(reply agenttest.Reply, in, out int) agenttest.Reply {
	return func(ctx context.Context, r llm.Request) (*llm.Response, error) {
		done, err := reply(ctx, r)
		if err == nil {
			done.Usage = llm.Usage{InputTokens: in, OutputTokens: out}
		}
		return done, err
	}
}

func TestBrokenArgumentsAreMendedOnTheSpotOrByOneTargetedQuestion(t *testing.T) {
	for name, tt := range map[string]struct {
		arguments string
		questions int
	}{
		"a fence and a trailing comma": {"```json\n{\"reference\": \"R1\",}\n```", 0},
		"a member is missing":          {`{}`, 1},
		"a member is empty":            {`{"reference": ""}`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := agenttest.NewScript(agenttest.Calls(agenttest.Call("inform", tt.arguments)), repairs(t, "R1"))
				c := clerk(script)
				planner, _, b := pair(t, nil, c)
				out, err := agent.Ask(t.Context(), planner, "clerk", look, seat)
				if err != nil || out.Reference != "R1" {
					t.Fatalf("Ask = %v, %v", out, err)
				}
				if got := len(script.Requests()) - 1; got != tt.questions {
					t.Errorf("the model was asked again %d times, want %d", got, tt.questions)
				}
				if got := b.Counts()["repair"]; got != 1 {
					t.Errorf("repairs counted %d, want 1", got)
				}
			})
		})
	}
}

func TestArgumentsThatCannotBeRepairedEndTheTurnWithAPointerAndNoneOfTheirText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := agenttest.Calls(agenttest.Call("inform", `{"reference":"","`+secret+`":1}`))
		script := agenttest.NewScript(slices.Repeat([]agenttest.Reply{broken, agenttest.Says(secret), agenttest.Says(secret)}, 5)...)
		c := clerk(script)
		planner, a, b := pair(t, nil, c)
		q := ask(t, planner, "clerk", look, seat)
		_, err := q.wait()
		kind, e := ending(err)
		if kind != "failed" || e.Code != envelope.CodePermanent || e.Reason != "schema" || !strings.HasPrefix(e.Pointer, "/") {
			t.Fatalf("Ask = %v, want failed (schema) with a pointer", err)
		}
		if len(script.Requests()) != 9 {
			t.Errorf("the model was asked %d times, want three replies and what their repair took", len(script.Requests()))
		}
		for _, entry := range append(logOf(t, a, planner, q.id), logOf(t, b, c, q.id)...) {
			if strings.Contains(strings.ReplaceAll(string(entry.Envelope), e.Pointer, ""), secret) {
				t.Errorf("the %s %s carries the model's text: %s", entry.Kind, entry.Event, entry.Envelope)
			}
		}
	})
}

func TestAModelWhoseArgumentsCannotBeRepairedIsToldWhereAndMayTryAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		script := agenttest.NewScript(agenttest.Calls(agenttest.Call("weather", "{}"), agenttest.Call("weather", City{"Turku"})),
			agenttest.Says("?"), agenttest.Says("?"), says("R1"))
		c := clerk(script, weather(&runs))
		out, err := asked(t, c)
		if err != nil || out.Reference != "R1" || runs.Load() != 1 {
			t.Fatalf("Ask = %v, %v after %d runs of the tool", out, err, runs.Load())
		}
		told := results(script.Requests()[3])
		if len(told) != 2 || !strings.Contains(told[0], `"pointer":"/name"`) || !strings.Contains(told[0], "integrity=system") || !strings.Contains(told[1], "It rains") {
			t.Errorf("told %q", told)
		}
	})
}

func TestAModelThatOnlyTalksIsRemindedTwiceAndThenGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		talk := agenttest.Says("The seat is fine.")
		patient := agenttest.NewScript(talk, talk, says("R1"))
		if out, err := asked(t, clerk(patient)); err != nil || out.Reference != "R1" {
			t.Errorf("the third time: %v, %v", out, err)
		}
		for i, r := range patient.Requests()[1:] {
			if last := r.Messages[len(r.Messages)-1]; last.Role != llm.RoleUser || len(r.Messages) != 4+2*i {
				t.Errorf("reminder %d: %d messages, the last of %s", i+1, len(r.Messages), last.Role)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		talk := agenttest.Says("The seat is fine.")
		script := agenttest.NewScript(talk, talk, talk, says("never"))
		_, err := asked(t, clerk(script))
		if kind, e := ending(err); kind != "failed" || e.Code != envelope.CodePermanent || e.Reason != "model" {
			t.Errorf("Ask = %v, want failed (permanent, model)", err)
		}
		if len(script.Requests()) != 3 {
			t.Errorf("the model was asked %d times, want 3", len(script.Requests()))
		}
	})
}

func TestATurnHasAtMostSixteenRoundsAndThirtyTwoModelCalls(t *testing.T) {
	forever := func(calls ...llm.Call) agenttest.Reply { return agenttest.Calls(calls...) }
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		script := agenttest.NewScript(slices.Repeat([]agenttest.Reply{forever(agenttest.Call("weather", City{"Turku"}))}, 40)...)
		_, err := asked(t, clerk(script, weather(&runs)))
		if kind, e := ending(err); kind != "failed" || e.Code != envelope.CodeCapacity || e.Reason != "budget" {
			t.Errorf("Ask = %v, want failed (capacity, budget)", err)
		}
		if len(script.Requests()) != 16 || runs.Load() != 16 {
			t.Errorf("%d requests and %d runs, want 16", len(script.Requests()), runs.Load())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		// Each round costs three calls: a reply and the repair of its two calls.
		fix := repairs(t, "Turku")
		broken := forever(agenttest.Call("weather", "{}"), agenttest.Call("weather", "{}"))
		script := agenttest.NewScript(slices.Repeat([]agenttest.Reply{broken, fix, fix}, 20)...)
		_, err := asked(t, clerk(script, weather(new(atomic.Int32))))
		if kind, _ := ending(err); kind != "failed" {
			t.Errorf("Ask = %v, want failed", err)
		}
		if len(script.Requests()) != 32 {
			t.Errorf("%d model calls, want 32", len(script.Requests()))
		}
	})
}

func TestQuestionsToPeersInOneReplyOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most := 0, 0
		flights := answers(func(context.Context, Seat) (Booking, error) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			<-time.After(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			return Booking{Reference: "R1"}, nil
		})
		name := "flights__acme_flight_look_v1"
		script := agenttest.NewScript(agenttest.Calls(agenttest.Call(name, seat), agenttest.Call(name, seat), agenttest.Call(name, Seat{"AY122"})), says("R1"))
		began := time.Now()
		if _, err := asked(t, clerk(script, agent.MayAsk("flights", look)), flights); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); most != 3 || took != time.Second {
			t.Errorf("%d at a time in %v, want 3 in one second", most, took)
		}
		if told := results(script.Requests()[1]); len(told) != 3 {
			t.Errorf("told %d results, want 3", len(told))
		}
	})
}

func TestAModelThatDeclinesEndsTheExchangeByThatAct(t *testing.T) {
	sold := map[string]string{"code": "capacity", "reason": "sold-out"}
	for name, tt := range map[string]struct {
		replies []agenttest.Reply
		kind    string
	}{
		"refuse":              {[]agenttest.Reply{agenttest.Calls(agenttest.Call("refuse", sold))}, "refused"},
		"refuse after a tool": {[]agenttest.Reply{agenttest.Calls(agenttest.Call("weather", City{"x"})), agenttest.Calls(agenttest.Call("refuse", sold))}, "failed"},
		"failure":             {[]agenttest.Reply{agenttest.Calls(agenttest.Call("failure", sold))}, "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := asked(t, clerk(agenttest.NewScript(tt.replies...), weather(new(atomic.Int32))))
				if kind, e := ending(err); kind != tt.kind || e.Code != envelope.CodeCapacity || e.Reason != "sold-out" {
					t.Errorf("Ask = %v, want %s (capacity, sold-out)", err, tt.kind)
				}
			})
		})
	}
}

func TestAModelThatCannotBeReachedIsAFailureOfItsAgent(t *testing.T) {
	for kind, code := range map[llm.ErrorKind]envelope.Code{llm.ErrorRateLimit: envelope.CodeTransient, llm.ErrorUnavailable: envelope.CodeTransient,
		llm.ErrorBadRequest: envelope.CodePermanent, llm.ErrorUnauthorized: envelope.CodePermanent} {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := asked(t, clerk(agenttest.NewScript(agenttest.Fails(&llm.Error{Kind: kind, Text: secret}))))
				if what, e := ending(err); what != "failed" || e.Code != code || e.Reason != "model" {
					t.Errorf("Ask = %v, want failed (%s, model)", err, code)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		script := agenttest.NewScript(func(context.Context, llm.Request) (*llm.Response, error) { panic(secret) })
		_, err := asked(t, clerk(script))
		if what, e := ending(err); what != "failed" || e.Reason != "handler-panic" {
			t.Errorf("a model that panics: %v, want failed (handler-panic)", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		script := agenttest.NewScript(agenttest.Fails(&llm.Error{Kind: llm.ErrorOutputInvalid, Text: secret}), says("R1"))
		if out, err := asked(t, clerk(script)); err != nil || out.Reference != "R1" {
			t.Errorf("after an unusable reply: %v, %v", out, err)
		}
	})
}

func TestACancelEndsAModelsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := agenttest.NewScript(func(ctx context.Context, _ llm.Request) (*llm.Response, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		c := clerk(script)
		planner, a, _ := pair(t, nil, c)
		ctx, cancel := context.WithCancel(t.Context())
		q := askIn(ctx, t, planner, "clerk", look, seat)
		at(time.Second)
		cancel()
		at(time.Second)
		if got := state(t, a, planner, q.id); got != "done:cancelled" {
			t.Errorf("the initiator is in %q, want done:cancelled", got)
		}
	})
}
