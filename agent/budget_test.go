package agent_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

func TestABudgetThatCannotBeKeptIsReportedAtTheStart(t *testing.T) {
	for want, b := range map[string]agent.Budget{
		"no model has a price":                 {Cost: 1},
		"a budget is below zero":               {Tokens: -1},
		`the price of model "m" is below zero`: {Prices: map[string]agent.Price{"m": {Output: -1}}},
	} {
		h := agent.NewHost(quiet(open(t, filepath.Join(t.TempDir(), "a.db"))), agent.New("clerk", agent.Spend(b)))
		if err := h.Start(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Start = %v, want %q", err, want)
		}
		if err := h.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestAConversationSpendsNoMoreOnModelsThanItsBudget(t *testing.T) {
	prices := map[string]agent.Price{"script": {Input: 2_000_000, Output: 10_000_000}}
	tool := spends(agenttest.Calls(agenttest.Call("weather", City{"Turku"})), 30, 10)
	answer := spends(says("R1"), 30, 10)
	for name, tt := range map[string]struct {
		budget  agent.Budget
		replies []agenttest.Reply
		ok      bool
		asked   int
	}{
		"tokens that are enough":     {agent.Budget{Tokens: 80}, []agenttest.Reply{tool, answer}, true, 2},
		"tokens that are crossed":    {agent.Budget{Tokens: 79}, []agenttest.Reply{tool, answer}, false, 2},
		"tokens that are used up":    {agent.Budget{Tokens: 40}, []agenttest.Reply{tool, answer}, false, 1},
		"money that is enough":       {agent.Budget{Cost: 320, Prices: prices}, []agenttest.Reply{tool, answer}, true, 2},
		"money that is crossed":      {agent.Budget{Cost: 319, Prices: prices}, []agenttest.Reply{tool, answer}, false, 2},
		"a price for all others":     {agent.Budget{Cost: 90, Prices: map[string]agent.Price{"": {Input: 1_000_000, Output: 1_000_000}}}, []agenttest.Reply{tool, answer}, true, 2},
		"a model that has no price":  {agent.Budget{Cost: math.MaxFloat64, Prices: map[string]agent.Price{"other": {}}}, []agenttest.Reply{answer}, false, 1},
		"what repairs take, as well": {agent.Budget{Tokens: 50}, []agenttest.Reply{spends(agenttest.Calls(agenttest.Call("inform", "{}")), 30, 10), spends(repairs(t, "R1"), 10, 1)}, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := agenttest.NewScript(tt.replies...)
				_, err := asked(t, clerk(script, weather(new(atomic.Int32)), agent.Spend(tt.budget)))
				if kind, e := ending(err); tt.ok != (err == nil) || err != nil && (kind != "failed" || e.Code != envelope.CodeCapacity || e.Reason != guard.ReasonBudget) {
					t.Errorf("Ask = %v, want failed (capacity, budget) unless %v", err, tt.ok)
				}
				if got := len(script.Requests()); got != tt.asked {
					t.Errorf("the model was asked %d times, want %d", got, tt.asked)
				}
			})
		})
	}
}

func TestWhatAConversationSpentCountsInItsNextPhase(t *testing.T) {
	for tokens, ok := range map[int]bool{80: true, 79: false} {
		synctest.Test(t, func(t *testing.T) {
			bidder := agent.New("ann", agent.Model(agenttest.NewScript(
				spends(agenttest.Calls(agenttest.Call("propose", Price{50})), 30, 10),
				spends(agenttest.Calls(agenttest.Call("inform", Done{By: "ann"})), 30, 10))),
				agent.Answer(haul, prompt), agent.Spend(agent.Budget{Tokens: tokens}))
			planner, _, _ := pair(t, nil, bidder)
			out, err := agent.CallForProposals(t.Context(), planner, []string{"ann"}, haul, piano, best)
			if ok != (err == nil) {
				t.Fatalf("with %d tokens: %+v, %v", tokens, out, err)
			}
			if kind, e := ending(out.Failed[bidder.URI()]); !ok && (kind != "failed" || e.Code != envelope.CodeCapacity || e.Reason != guard.ReasonBudget) {
				t.Errorf("it failed with %v", out.Failed)
			}
		})
	}
}

func TestWhatAnEarlierLifeSpentCounts(t *testing.T) {
	for tokens, ok := range map[int]bool{80: true, 79: false} {
		synctest.Test(t, func(t *testing.T) {
			script := agenttest.NewScript(spends(says("R1"), 30, 10))
			limit := agent.Spend(agent.Budget{Tokens: tokens})
			out, err := lives{when: records(store.Result, 1), after: true,
				first: func(func()) *agent.Agent {
					return clerk(agenttest.NewScript(spends(callForecast, 30, 10)), limit, forecast(func(context.Context) (string, error) { return "Snow.", nil }))
				},
				second: clerk(script, limit, forecast(func(context.Context) (string, error) { return "Snow.", nil }))}.ask(t)
			if ok != (err == nil) || ok && out.Reference != "R1" {
				t.Errorf("with %d tokens: %v, %v", tokens, out, err)
			}
		})
	}
}

func TestAConversationHasRoomForNoMoreMessagesThanItsBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []error
		flights := agent.New("flights", agent.Spend(agent.Budget{Messages: 6}), agent.Handle(bookInSteps, func(ctx context.Context, s Seat) (Booking, error) {
			for percent := range 10 {
				told = append(told, agent.Progress(ctx, protocol.Progress[Booking]{Percent: percent}))
			}
			return reference(ctx, s)
		}))
		planner, _, b := pair(t, nil, flights)
		q := ask(t, planner, "flights", bookInSteps, seat)
		if out, err := q.wait(); err != nil || out.Reference != "R1" {
			t.Errorf("the end had no room: %v, %v", out, err)
		}
		said := 0
		for _, err := range told {
			if err == nil {
				said++
			} else if d, ok := errors.AsType[*agent.Decision](err); !ok || d.Code != envelope.CodeCapacity || d.Reason != guard.ReasonBudget {
				t.Errorf("telling more: %v", err)
			}
		}
		if said != 2 { // of six, the request and the agree are two, and two are kept for the end
			t.Errorf("%d steps were told", said)
		}
		if n := exchangeOf(t, b, flights, q.id).State.Messages; n > 6 {
			t.Errorf("%d messages", n)
		}
	})
}

func TestAMessageBeyondTheBudgetIsNackedOverAllExchangesOfTheConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(name string, d time.Duration) *agent.Agent { return juror(name, after(d, euros(1))) }
		planner := agent.New("planner", agent.Spend(agent.Budget{Messages: 4}))
		a := begin(t, nil, nil, planner)
		b := begin(t, nil, nil, slow("ann", time.Second), slow("bob", 2*time.Second), slow("cid", 3*time.Second))
		agent.Introduce(a, b)
		// Three copies of the opening act leave room for one contribution.
		out, err := agent.Gather(t.Context(), planner, []string{"ann", "bob", "cid"}, opinion, piano, agent.GatherTerms{}, agent.Within(20*time.Second))
		if err == nil || len(out.Contributions) != 1 || len(out.Missing) != 2 {
			t.Errorf("Gather = %+v, %v", out, err)
		}
		if n := a.Counts()["violation.budget"]; n < 2 {
			t.Errorf("%d were turned away", n)
		}
	})
}

func TestAConversationWorksNoLongerThanItsBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits := func(ctx context.Context, _ Seat) (Booking, error) { <-ctx.Done(); return Booking{}, context.Cause(ctx) }
		planner, _, _ := pair(t, nil, agent.New("flights", agent.Spend(agent.Budget{Time: 7 * time.Second}), agent.Handle(book, waits)))
		began := time.Now()
		_, err := agent.Ask(t.Context(), planner, "flights", book, seat, agent.Within(time.Minute))
		if kind, e := ending(err); kind != "failed" || e.Code != envelope.CodeCapacity || e.Reason != guard.ReasonBudget {
			t.Errorf("Ask = %v", err)
		}
		if took := time.Since(began); took != 7*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestADelegationDeeperThanTheBudgetIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var middle *agent.Agent
		middle = agent.New("middle", agent.Handle(book, func(ctx context.Context, s Seat) (Booking, error) {
			_, err := agent.Ask(ctx, middle, "near", look, s)
			if kind, e := ending(err); kind != "refused" || e.Code != envelope.CodePermanent || e.Reason != guard.ReasonHopLimit {
				t.Errorf("at the second hop: %v", err)
			}
			return agent.Ask(ctx, middle, "far", look, s)
		}))
		// A limit of hops below one cannot be given, so the first asks the second.
		var first *agent.Agent
		first = agent.New("first", agent.Handle(book, func(ctx context.Context, s Seat) (Booking, error) { return agent.Ask(ctx, first, "middle", book, s) }))
		planner, _, _ := pair(t, nil, first, middle,
			agent.New("near", agent.Handle(look, reference), agent.Spend(agent.Budget{Hops: 1})),
			agent.New("far", agent.Handle(look, reference), agent.Spend(agent.Budget{Hops: 2})))
		if _, err := agent.Ask(t.Context(), planner, "first", book, seat); err != nil {
			t.Error(err)
		}
	})
}
