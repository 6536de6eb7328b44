package agenttest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/protocol"
)

// A cancelled work is cancelled again, wherever it was then.
func TestACancelledWorkIsCancelledAgain(t *testing.T) {
	waiting := func(ctx context.Context, _ Question) (Reply, error) {
		_, err := agent.Once(ctx, "wait", func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, context.Cause(ctx)
		})
		return Reply{}, err
	}
	sleeping := func(ctx context.Context, _ Question) (Reply, error) { return Reply{}, agent.Sleep(ctx, 20*time.Second) }
	for name, handler := range map[string]func(context.Context, Question) (Reply, error){"in a step": waiting, "asleep": sleeping} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				visitor := agent.New("visitor")
				host := agenttest.Host(t, visitor, agent.New("forecaster", agent.Handle(weather, handler)))
				x, err := agent.Start(t.Context(), visitor, "forecaster", weather, Question{"Turku"})
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Second)
				if err := x.Cancel(t.Context()); err != nil {
					t.Fatal(err)
				}
				_, err = x.Wait(t.Context())
				if _, ok := errors.AsType[*protocol.CancelledError](err); !ok {
					t.Fatalf("Wait = %v", err)
				}
				synctest.Wait()
				agenttest.Replay(t, host.Store(), x.ID(), agent.New("forecaster", agent.Handle(weather, handler)))
			})
		})
	}
}

func TestACancelDoesNotComeBeforeWhatItMet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		newPlanner := func(asks int) *agent.Agent {
			var self *agent.Agent
			self = agent.New("planner", agent.Handle(plan, func(ctx context.Context, in Trip) (Plan, error) {
				for range asks {
					if _, err := agent.Ask(ctx, self, "forecaster", weather, Question(in)); err != nil {
						return Plan{}, err
					}
				}
				<-ctx.Done()
				return Plan{}, context.Cause(ctx)
			}))
			return self
		}
		visitor := agent.New("visitor")
		host := agenttest.Host(t, visitor, newPlanner(3), forecaster("It rains."))
		x, err := agent.Start(t.Context(), visitor, "planner", plan, Trip{"Turku"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if err := x.Cancel(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		agenttest.Replay(t, host.Store(), x.ID(), newPlanner(3))
		_, err = agenttest.Reexecute(t.Context(), host.Store(), x.ID(), newPlanner(2))
		if err == nil || !strings.Contains(err.Error(), "stands still") {
			t.Errorf("asking less: %v", err)
		}
	})
}

func TestAModelThatWasBeingAskedWhenTheWorkWasCancelledIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var endless agenttest.Reply = func(ctx context.Context, _ llm.Request) (*llm.Response, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		visitor := agent.New("visitor")
		colleague := agent.New("colleague")
		host := agenttest.Host(t, visitor, colleague, hired().agent(agenttest.Calls(agenttest.Call("radar", Search{"Turku", "3"})), endless))
		x, err := agent.Start(t.Context(), visitor, "clerk", weather, Question{"Turku"})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := x.Cancel(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, err = x.Wait(t.Context())
		if _, ok := errors.AsType[*protocol.CancelledError](err); !ok {
			t.Fatalf("Wait = %v", err)
		}
		synctest.Wait()
		agenttest.Replay(t, host.Store(), x.ID(), hired().agent())
	})
}

func TestWorkThatStandsStillIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, conversation := planned(t)
		stuck := agent.New("forecaster", agent.Handle(weather, func(ctx context.Context, _ Question) (Reply, error) {
			<-ctx.Done()
			return Reply{}, ctx.Err()
		}))
		_, err := agenttest.Reexecute(t.Context(), s, conversation, stuck)
		if err == nil || !strings.Contains(err.Error(), "the work of agent://local/forecaster for agent://local/planner stands still; the record goes on with !inform") {
			t.Errorf("Reexecute = %v", err)
		}
	})
}

// Who waits longer than a peer answers, or works longer than he has, does so
// again, in no time.
func TestTimeThatRanOutRunsOutAgain(t *testing.T) {
	patient := func() *agent.Agent {
		var self *agent.Agent
		self = agent.New("planner", agent.Handle(plan, func(ctx context.Context, in Trip) (Plan, error) {
			_, err := agent.Ask(ctx, self, "forecaster", weather, Question(in), agent.Within(3*time.Second))
			return Plan{Text: fmt.Sprintf("no forecast: %T", err)}, nil
		}))
		return self
	}
	busy := func() *agent.Agent {
		return agent.New("planner", agent.Handle(plan, func(ctx context.Context, in Trip) (Plan, error) {
			<-ctx.Done()
			return Plan{}, context.Cause(ctx)
		}))
	}
	for name, planner := range map[string]func() *agent.Agent{"an answer": patient, "the work": busy} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				visitor := agent.New("visitor")
				silent := agent.New("forecaster", agent.Handle(weather, func(ctx context.Context, _ Question) (Reply, error) {
					<-ctx.Done()
					return Reply{}, context.Cause(ctx)
				}))
				host := agenttest.Host(t, visitor, planner(), silent)
				x, err := agent.Start(t.Context(), visitor, "planner", plan, Trip{"Turku"}, agent.Within(20*time.Second))
				if err != nil {
					t.Fatal(err)
				}
				x.Wait(t.Context())
				time.Sleep(time.Minute)
				before := time.Now()
				agenttest.Replay(t, host.Store(), x.ID(), planner())
				if took := time.Since(before); took > time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

func TestWorkThatTookLongAgreesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(wait time.Duration) *agent.Agent {
			return agent.New("forecaster", agent.Handle(weather, func(context.Context, Question) (Reply, error) {
				time.Sleep(wait)
				return Reply{"It rains."}, nil
			}))
		}
		visitor := agent.New("visitor")
		host := agenttest.Host(t, visitor, slow(time.Second))
		x, err := agent.Start(t.Context(), visitor, "forecaster", weather, Question{"Turku"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, wait := range []time.Duration{time.Second, 0} {
			agenttest.Replay(t, host.Store(), x.ID(), slow(wait))
		}
	})
}
