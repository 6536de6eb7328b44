package agent_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/store"
)

// lives asks an agent whose host dies once and is opened again with another
// agent of that name. The host dies when the first life calls crash, or at the
// commit that when picks: before it, or after it if after is set.
type lives struct {
	when   func(store.WriteSet) bool
	after  bool
	first  func(crash func()) *agent.Agent
	second *agent.Agent
	others []*agent.Agent
}

func (l lives) ask(t *testing.T) (Booking, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "b.db")
	planner := agent.New("planner")
	a := begin(t, nil, nil, append(l.others, planner)...)
	var b *agent.Host
	reopened := make(chan struct{})
	var died atomic.Bool
	crash := func() {
		died.Store(true)
		if err := b.Kill(); err != nil {
			t.Error(err)
		}
		go func() {
			defer close(reopened)
			agent.Introduce(a, beginWith(t, nil, open(t, path), []*agent.Host{a}, l.second))
		}()
	}
	if l.when == nil {
		l.when = func(store.WriteSet) bool { return false }
	}
	disk := &crashing{Store: open(t, path), when: l.when, after: l.after, crash: crash}
	disk.armed.Store(true)
	first := l.first(crash)
	b = begin(t, nil, disk, first)
	agent.Introduce(a, b)
	bare := strings.TrimPrefix(first.URI(), "agent://local/")
	out, err := agent.Ask(t.Context(), planner, bare, look, seat, agent.Within(10*time.Minute))
	if !died.Load() {
		t.Fatalf("the host did not die; Ask = %v, %v", out, err)
	}
	<-reopened
	return out, err
}

// records picks the commit of the n-th turn record of the kind.
func records(kind store.TurnKind, n int) func(store.WriteSet) bool {
	var seen atomic.Int32
	return func(w store.WriteSet) bool {
		return len(w.Turns) > 0 && w.Turns[0].Kind == kind && seen.Add(1) == int32(n)
	}
}

func TestASecondRunOfAHandlerMeetsTheConversationsOfTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var outer, inner atomic.Int32
		flights := answers(func(context.Context, Seat) (Booking, error) {
			n := inner.Add(1)
			<-time.After(2 * time.Second)
			return Booking{Reference: "R" + string('0'+n)}, nil
		})
		middle := func(crash func()) *agent.Agent {
			var m *agent.Agent
			m = agent.New("middle", agent.Handle(look, func(ctx context.Context, s Seat) (Booking, error) {
				if outer.Add(1) == 1 {
					time.AfterFunc(3*time.Second, crash) // in the middle of the second question
				}
				var all string
				for range 2 { // of equal content, and yet two
					b, err := agent.Ask(ctx, m, "flights", book, s)
					if err != nil {
						return b, err
					}
					all += b.Reference
				}
				return Booking{Reference: all}, nil
			}))
			return m
		}
		out, err := lives{first: middle, second: middle(nil), others: []*agent.Agent{flights}}.ask(t)
		if err != nil || out.Reference != "R1R2" {
			t.Fatalf("Ask = %v, %v", out, err)
		}
		if outer.Load() != 2 || inner.Load() != 2 {
			t.Errorf("the handler ran %d times and the flights %d times, want twice and twice", outer.Load(), inner.Load())
		}
	})
}

// forecast is a tool that runs f.
func forecast(f func(context.Context) (string, error), opts ...agent.ToolOption) agent.Option {
	return agent.Tool("forecast", "Tomorrow's weather.", func(ctx context.Context, _ City) (string, error) { return f(ctx) }, opts...)
}

var callForecast = agenttest.Calls(agenttest.Call("forecast", City{"Turku"}))

func TestNothingThatATurnHasRecordedIsDoneAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		when  func(store.WriteSet) bool
		after bool
		// replies that the second life's model has to give, and runs of the tool in it
		replies []agenttest.Reply
		runs    int32
	}{
		"before the model's reply is recorded": {records(store.Reply, 1), false, []agenttest.Reply{callForecast, says("R1")}, 1},
		"after the model's reply is recorded":  {records(store.Reply, 1), true, []agenttest.Reply{says("R1")}, 1},
		"after the tool's result is recorded":  {records(store.Result, 1), true, []agenttest.Reply{says("R1")}, 0},
		"after the last reply is recorded":     {records(store.Reply, 2), true, nil, 0},
		"before the end is committed":          {completes, false, nil, 0},
		"after the end is committed":           {completes, true, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var runs atomic.Int32
				tool := func(n *atomic.Int32) agent.Option {
					return forecast(func(context.Context) (string, error) { n.Add(1); return "Snow.", nil })
				}
				script := agenttest.NewScript(tt.replies...)
				out, err := lives{when: tt.when, after: tt.after,
					first: func(func()) *agent.Agent {
						return clerk(agenttest.NewScript(callForecast, says("R1")), tool(new(atomic.Int32)))
					},
					second: clerk(script, tool(&runs))}.ask(t)
				if err != nil || out.Reference != "R1" {
					t.Fatalf("Ask = %v, %v", out, err)
				}
				if got := len(script.Requests()); got != len(tt.replies) || runs.Load() != tt.runs {
					t.Errorf("the second life asked its model %d times and ran the tool %d times, want %d and %d", got, runs.Load(), len(tt.replies), tt.runs)
				}
				if len(tt.replies) == 0 {
					return
				}
				last := script.Requests()[len(tt.replies)-1]
				if told := results(last); len(told) != 1 || !strings.Contains(told[0], "Snow.") {
					t.Errorf("the model was shown %q, want the tool's result", told)
				}
			})
		})
	}
}

func TestARepairThatWasRecordedIsNotAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := agenttest.NewScript()
		out, err := lives{when: records(store.Mended, 1), after: true,
			first: func(func()) *agent.Agent {
				return clerk(agenttest.NewScript(agenttest.Calls(agenttest.Call("inform", "{}")), repairs(t, "R1")))
			},
			second: clerk(script)}.ask(t)
		if err != nil || out.Reference != "R1" || len(script.Requests()) != 0 {
			t.Errorf("Ask = %v, %v after %d requests", out, err, len(script.Requests()))
		}
	})
}

func TestAToolThatDiedWithItsHostRunsAgainOnlyIfThatIsHarmless(t *testing.T) {
	for name, tt := range map[string]struct {
		opts  []agent.ToolOption
		again bool
	}{
		"read-only": {[]agent.ToolOption{agent.ReadOnly}, true},
		"keyed":     {[]agent.ToolOption{agent.Keyed}, true},
		"neither":   {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var keys []string
				note := func(ctx context.Context) {
					mu.Lock()
					defer mu.Unlock()
					keys = append(keys, agent.EffectKey(ctx))
				}
				script := agenttest.NewScript(says("R1"))
				out, err := lives{
					first: func(crash func()) *agent.Agent {
						return clerk(agenttest.NewScript(callForecast), forecast(func(ctx context.Context) (string, error) {
							note(ctx)
							crash()
							<-ctx.Done()
							return "", ctx.Err()
						}, tt.opts...))
					},
					second: clerk(script, forecast(func(ctx context.Context) (string, error) { note(ctx); return "Snow.", nil }, tt.opts...)),
				}.ask(t)
				if err != nil || out.Reference != "R1" {
					t.Fatalf("Ask = %v, %v", out, err)
				}
				told := results(script.Requests()[0])
				if tt.again {
					if len(keys) != 2 || keys[0] != keys[1] || keys[0] == "" {
						t.Errorf("it ran under the keys %v, want twice under one", keys)
					}
					if len(told) != 1 || !strings.Contains(told[0], "Snow.") {
						t.Errorf("the model was told %q", told)
					}
					return
				}
				if len(keys) != 1 {
					t.Errorf("it ran %d times, want once", len(keys))
				}
				if len(told) != 1 || !strings.Contains(told[0], `"outcome":"unknown","reason":"outcome-unknown"`) {
					t.Errorf("the model was told %q, want that the outcome is unknown", told)
				}
			})
		})
	}
}

func TestACallOfAKeyedToolIsKeyedByWhatItDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var keys []string
		tool := forecast(func(ctx context.Context) (string, error) {
			keys = append(keys, agent.EffectKey(ctx))
			return "Snow.", nil
		}, agent.Keyed)
		both := agenttest.Calls(agenttest.Call("forecast", City{"Turku"}), agenttest.Call("forecast", City{"Vaasa"}))
		again := agenttest.Calls(agenttest.Call("forecast", City{"Turku"}))
		if _, err := asked(t, clerk(agenttest.NewScript(both, again, says("R1")), tool)); err != nil {
			t.Fatal(err)
		}
		if len(keys) != 3 || keys[0] == keys[1] || keys[0] != keys[2] {
			t.Errorf("keys %v, want the first again at last and another one between", keys)
		}
	})
}

func TestAQuestionOfAModelIsAskedOnceThoughItsHostDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		var crash func()
		flights := answers(func(context.Context, Seat) (Booking, error) {
			runs.Add(1)
			crash()
			<-time.After(time.Second)
			return Booking{Reference: "R7"}, nil
		})
		peer := agent.MayAsk("flights", book)
		script := agenttest.NewScript(says("R1"))
		out, err := lives{
			first: func(c func()) *agent.Agent {
				crash = c
				return clerk(agenttest.NewScript(agenttest.Calls(agenttest.Call("flights__acme_flight_book_v1", seat))), peer)
			},
			second: clerk(script, peer), others: []*agent.Agent{flights}}.ask(t)
		if err != nil || out.Reference != "R1" || runs.Load() != 1 {
			t.Fatalf("Ask = %v, %v after %d runs of the flights", out, err, runs.Load())
		}
		if told := results(script.Requests()[0]); len(told) != 1 || !strings.Contains(told[0], "R7") {
			t.Errorf("the model was told %q", told)
		}
	})
}

func TestATurnThatGoesOnAfterARestartIsOfferedOnlyWhatIsStillLegal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := agenttest.NewScript(says("R1"))
		_, err := lives{
			first: func(crash func()) *agent.Agent {
				return clerk(agenttest.NewScript(func(ctx context.Context, _ llm.Request) (*llm.Response, error) {
					time.AfterFunc(time.Second, crash) // agree has been sent by then
					<-ctx.Done()
					return nil, ctx.Err()
				}))
			},
			second: clerk(script)}.ask(t)
		if err != nil {
			t.Fatal(err)
		}
		if got := names(script.Requests()[0]); !slices.Equal(got, []string{"failure", "inform"}) {
			t.Errorf("offered %v, want no refuse after agree", got)
		}
	})
}

func TestRecordsPointAtWhatTheyAreAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clerk(agenttest.NewScript(callForecast, says("R1")), forecast(func(context.Context) (string, error) { return "Snow.", nil }))
		planner, _, b := pair(t, nil, c)
		q := ask(t, planner, "clerk", look, seat)
		if _, err := q.wait(); err != nil {
			t.Fatal(err)
		}
		turns, err := b.Store().Turns(t.Context(), store.Key{Owner: c.URI(), Conversation: q.id, Peer: planner.URI()})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, r := range turns {
			if r.Ordinal != i+1 || !json.Valid(r.Data) {
				t.Errorf("record %d has ordinal %d and data %s", i, r.Ordinal, r.Data)
			}
			got = append(got, string(r.Kind)+" "+r.Name)
		}
		if want := []string{"reply 1", "called 1.1", "result 1.1", "reply 2"}; !slices.Equal(got, want) {
			t.Errorf("records %v, want %v", got, want)
		}
	})
}
