package agent_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/store"
)

// ledger is an effect outside: how often it was had under each key.
type ledger struct {
	mu sync.Mutex
	by map[string]int
}

func (l *ledger) add(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[string]int{}
	}
	l.by[key]++
}

func (l *ledger) total() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, times := range l.by {
		n += times
	}
	return n
}

func TestAStepThatDiesWithItsHostEndsAsItsKindPromises(t *testing.T) {
	for name, tt := range map[string]struct {
		when  func() func(store.WriteSet) bool
		after bool
		opts  []agent.ToolOption
		want  string
		had   int
	}{
		"unmarked, before it is recorded that it begins": {func() func(store.WriteSet) bool { return records(store.Called, 1) }, false, nil, "R1", 1},
		"unmarked, before its effect":                    {func() func(store.WriteSet) bool { return records(store.Called, 1) }, true, nil, "unknown", 0},
		"unmarked, after its effect":                     {func() func(store.WriteSet) bool { return records(store.Result, 1) }, false, nil, "unknown", 1},
		"unmarked, after its result is recorded":         {func() func(store.WriteSet) bool { return records(store.Result, 1) }, true, nil, "R1", 1},
		"read-only, before its result is recorded":       {func() func(store.WriteSet) bool { return records(store.Result, 1) }, false, []agent.ToolOption{agent.ReadOnly}, "R1", 2},
		"read-only, after its result is recorded":        {func() func(store.WriteSet) bool { return records(store.Result, 1) }, true, []agent.ToolOption{agent.ReadOnly}, "R1", 1},
		"keyed, before its result is recorded":           {func() func(store.WriteSet) bool { return records(store.Result, 1) }, false, []agent.ToolOption{agent.Keyed}, "R1", 2},
		"keyed, after its result is recorded":            {func() func(store.WriteSet) bool { return records(store.Result, 1) }, true, []agent.ToolOption{agent.Keyed}, "R1", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var bank ledger
				flights := func(func()) *agent.Agent {
					return answers(func(ctx context.Context, _ Seat) (Booking, error) {
						out, err := agent.Once(ctx, "charge", func(ctx context.Context) (Booking, error) {
							bank.add(agent.EffectKey(ctx))
							return Booking{"R1"}, nil
						}, tt.opts...)
						if errors.Is(err, agent.ErrOutcomeUnknown) {
							return Booking{"unknown"}, nil
						}
						return out, err
					})
				}
				out, err := lives{when: tt.when(), after: tt.after, first: flights, second: flights(nil)}.ask(t)
				if err != nil || out.Reference != tt.want {
					t.Errorf("Ask = %v, %v, want %s", out, err, tt.want)
				}
				if bank.total() != tt.had || len(bank.by) > 1 {
					t.Errorf("the effect was had %v, want %d under one key", bank.by, tt.had)
				}
			})
		})
	}
}

// twice runs fn as a handler in two lives: the first dies when fn has
// returned.
func twice(t *testing.T, fn func(ctx context.Context, life int) error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		run := func(life int, crash func()) *agent.Agent {
			return answers(func(ctx context.Context, _ Seat) (Booking, error) {
				if err := fn(ctx, life); err != nil {
					t.Errorf("life %d: %v", life, err)
				}
				if crash != nil {
					crash()
				}
				return Booking{"R1"}, nil
			})
		}
		if out, err := (lives{first: func(crash func()) *agent.Agent { return run(1, crash) }, second: run(2, nil)}).ask(t); err != nil {
			t.Errorf("Ask = %v, %v", out, err)
		}
	})
}

func TestTheTimeAndIDsOfTheFirstRunAreThoseOfEveryRun(t *testing.T) {
	seen := map[int][]string{}
	twice(t, func(ctx context.Context, life int) error {
		for range 2 {
			now, err := agent.Now(ctx)
			if err != nil {
				return err
			}
			id, err := agent.NewID(ctx)
			if err != nil {
				return err
			}
			<-time.After(time.Second)
			seen[life] = append(seen[life], now.String(), id)
		}
		return nil
	})
	if !reflect.DeepEqual(seen[1], seen[2]) || len(seen[1]) != 4 {
		t.Errorf("the runs saw %v", seen)
	}
	if seen[1][0] == seen[1][2] || seen[1][1] == seen[1][3] {
		t.Errorf("what comes later is the same: %v", seen[1])
	}
}

func TestAnErrorOfAStepIsKnownByItsTextInTheNextRun(t *testing.T) {
	declined := errors.New("declined")
	for _, failure := range []error{declined, errors.New("")} {
		twice(t, func(ctx context.Context, life int) error {
			_, err := agent.Once(ctx, "charge", func(context.Context) (string, error) { return "", failure })
			if life == 1 {
				if !errors.Is(err, failure) {
					return fmt.Errorf("in the first run: %v", err)
				}
				return nil
			}
			if step, ok := errors.AsType[*agent.StepError](err); !ok || step.Name != "charge" || step.Text != failure.Error() {
				return fmt.Errorf("in the second run: %#v", err)
			}
			return nil
		})
	}
}

func TestStepsOfDifferentNamesAreTakenAtOnceAndNothingIsAResultToo(t *testing.T) {
	var runs atomic.Int32
	twice(t, func(ctx context.Context, life int) error {
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				n, err := agent.Once(ctx, fmt.Sprint("step ", i), func(context.Context) (int, error) { runs.Add(1); return i, nil })
				if err != nil || n != i {
					t.Errorf("life %d: step %d = %d, %v", life, i, n, err)
				}
			})
		}
		group.Wait()
		none, err := agent.Once(ctx, "none", func(context.Context) (*int, error) { return nil, nil })
		if none != nil {
			return fmt.Errorf("none = %v", none)
		}
		return err
	})
	if runs.Load() != 8 {
		t.Errorf("%d runs, want 8", runs.Load())
	}
}

func TestAResultThatIsNoJSONIsAnErrorOfTheStep(t *testing.T) {
	twice(t, func(ctx context.Context, life int) error {
		if _, err := agent.Once(ctx, "channel", func(context.Context) (chan int, error) { return nil, nil }); err == nil {
			return errors.New("a channel was recorded")
		}
		return nil
	})
}

func TestSleepGoesOnAfterACrashForTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nap := func(crash func()) *agent.Agent {
			return answers(func(ctx context.Context, _ Seat) (Booking, error) {
				if crash != nil {
					go func() {
						<-time.After(2 * time.Minute)
						crash()
					}()
				}
				if err := agent.Sleep(ctx, 5*time.Minute); err != nil {
					if !errors.Is(err, agent.ErrStopped) {
						t.Errorf("Sleep = %v", err)
					}
					return Booking{}, err
				}
				return Booking{"R1"}, nil
			})
		}
		began := time.Now()
		out, err := lives{first: nap, second: nap(nil)}.ask(t)
		if err != nil || out.Reference != "R1" {
			t.Fatalf("Ask = %v, %v", out, err)
		}
		if took := time.Since(began); took < 5*time.Minute || took > 5*time.Minute+time.Second {
			t.Errorf("it slept %v in all, want 5 min", took)
		}
	})
}

func TestOutsideAHandlerNothingIsDurable(t *testing.T) {
	ctx := t.Context()
	if _, err := agent.Once(ctx, "charge", func(context.Context) (string, error) { t.Error("it ran"); return "", nil }); !errors.Is(err, agent.ErrOutside) {
		t.Errorf("Once = %v", err)
	}
	if _, err := agent.Now(ctx); !errors.Is(err, agent.ErrOutside) {
		t.Errorf("Now = %v", err)
	}
	if _, err := agent.NewID(ctx); !errors.Is(err, agent.ErrOutside) {
		t.Errorf("NewID = %v", err)
	}
	if err := agent.Sleep(ctx, time.Hour); !errors.Is(err, agent.ErrOutside) {
		t.Errorf("Sleep = %v", err)
	}
}

func TestAStepAfterTheEndOfItsContextReturnsTheCauseAndDoesNotRun(t *testing.T) {
	why := errors.New("enough")
	synctest.Test(t, func(t *testing.T) {
		flights := answers(func(ctx context.Context, _ Seat) (Booking, error) {
			ctx, cancel := context.WithCancelCause(ctx)
			cancel(why)
			_, once := agent.Once(ctx, "charge", func(context.Context) (string, error) { t.Error("it ran"); return "", nil })
			_, now := agent.Now(ctx)
			_, id := agent.NewID(ctx)
			for _, err := range []error{once, now, id, agent.Sleep(ctx, time.Hour)} {
				if !errors.Is(err, why) {
					t.Errorf("got %v, want the cause", err)
				}
			}
			return Booking{"R1"}, nil
		})
		planner, _, _ := pair(t, nil, flights)
		if _, err := agent.Ask(t.Context(), planner, "flights", look, seat); err != nil {
			t.Error(err)
		}
	})
}

func TestWhatAStepDidWhileItsHostStoppedIsKnownToTheNextHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "flights.db")
		var runs atomic.Int32
		flights := func() *agent.Agent {
			return answers(func(ctx context.Context, _ Seat) (Booking, error) {
				return agent.Once(ctx, "charge", func(ctx context.Context) (Booking, error) {
					runs.Add(1)
					<-ctx.Done()
					return Booking{"R1"}, nil
				})
			})
		}
		planner := agent.New("planner")
		a, b := begin(t, nil, nil, planner), begin(t, nil, open(t, path), flights())
		agent.Introduce(a, b)
		x := begun(t, planner, agent.Within(time.Hour))
		at(time.Second)
		if err := b.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		agent.Introduce(a, beginWith(t, nil, open(t, path), []*agent.Host{a}, flights()))
		if out, err := x.Wait(t.Context()); err != nil || out.Reference != "R1" || runs.Load() != 1 {
			t.Errorf("Wait = %v, %v after %d runs", out, err, runs.Load())
		}
	})
}

func TestStepsInsideAToolBelongToTheOneCallOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ids, notes := map[string]map[string]bool{}, map[string]string{}
		stamp := agent.Tool("stamp", "Stamps a city.", func(ctx context.Context, c City) (string, error) {
			id, err := agent.NewID(ctx)
			if err != nil {
				return "", err
			}
			if ids[c.Name] == nil {
				ids[c.Name] = map[string]bool{}
			}
			ids[c.Name][id] = true
			notes[c.Name], err = agent.Once(ctx, "note", func(context.Context) (string, error) { return c.Name, nil }, agent.Keyed)
			return id, err
		}, agent.ReadOnly)
		both := agenttest.Calls(agenttest.Call("stamp", City{"Turku"}), agenttest.Call("stamp", City{"Oulu"}))
		// The host dies when the second call has its id and nothing else.
		out, err := lives{when: records(store.Result, 4), after: true,
			first:  func(func()) *agent.Agent { return clerk(agenttest.NewScript(both), stamp) },
			second: clerk(agenttest.NewScript(says("R1")), stamp)}.ask(t)
		if err != nil || out.Reference != "R1" {
			t.Fatalf("Ask = %v, %v", out, err)
		}
		if !maps.Equal(notes, map[string]string{"Turku": "Turku", "Oulu": "Oulu"}) {
			t.Errorf("notes %v", notes)
		}
		if len(ids["Turku"]) != 1 || len(ids["Oulu"]) != 1 || reflect.DeepEqual(ids["Turku"], ids["Oulu"]) {
			t.Errorf("ids %v, want one for each call", ids)
		}
	})
}
