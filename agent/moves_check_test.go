package agent_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
)

func TestChecksJudgeBidsContributionsAndItems(t *testing.T) {
	even := func(_ context.Context, p Price) error {
		if p.Euros%2 != 0 {
			return errors.New("prices are even")
		}
		return nil
	}
	positive := func(_ context.Context, tick Tick) error {
		if tick.N > 5 {
			return errors.New("too late a tick")
		}
		return nil
	}
	for name, tt := range map[string]struct {
		contract agent.Contract
		check    agent.Option
		replies  []agenttest.Reply
		ask      func(*testing.T, *agent.Agent) error
		hint     string
	}{
		"a bid": {haul, agent.Check(haul, even), []agenttest.Reply{does("propose", Price{71}), does("propose", Price{70}), does("inform", Done{"ann"})},
			func(t *testing.T, p *agent.Agent) error { return second(auctioned(t, p, haul)) }, "prices are even"},
		"what was awarded": {haul, agent.Check(haul, func(_ context.Context, d Done) error {
			if d.By != "ann" {
				return errors.New("say who did it")
			}
			return nil
		}), []agenttest.Reply{does("propose", Price{71}), does("inform", Done{"bob"}), does("inform", Done{"ann"})},
			func(t *testing.T, p *agent.Agent) error { return second(auctioned(t, p, haul)) }, "say who did it"},
		"a contribution": {opinion, agent.Check(opinion, even), []agenttest.Reply{does("inform", Price{71}), does("inform", Price{70})},
			func(t *testing.T, p *agent.Agent) error { return second(opinions(t, p)) }, "prices are even"},
		"dissent": {opinion, agent.Check(opinion, even), []agenttest.Reply{does("dissent", Price{71}), does("dissent", Price{70})},
			func(t *testing.T, p *agent.Agent) error { return second(opinions(t, p)) }, "prices are even"},
		"an item": {ticks, agent.Check(ticks, positive), []agenttest.Reply{does("item", Tick{6}), does("item", Tick{5}), does("inform", struct{}{})},
			func(t *testing.T, p *agent.Agent) error {
				list, err := listens(t, p)
				if !slices.Equal(list, []int{5}) {
					t.Errorf("told %v", list)
				}
				return err
			}, "too late a tick"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := agenttest.NewScript(tt.replies...)
				planner, _, _ := meet(t, modelled("ann", tt.contract, script, tt.check))
				if err := tt.ask(t, planner); err != nil {
					t.Fatal(err)
				}
				heard := false
				for _, r := range script.Requests() {
					heard = heard || slices.ContainsFunc(results(r), func(s string) bool { return strings.Contains(s, tt.hint) })
				}
				if !heard || len(script.Requests()) != len(tt.replies) {
					t.Errorf("the model was asked %d times and not told %q", len(script.Requests()), tt.hint)
				}
			})
		})
	}
}

func TestAChecksErrorOfAGoPublisherIsThatOfEmit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wrong := errors.New("too late a tick")
		publisher := agent.New("ann", agent.Publish(ticks, func(_ context.Context, _ Job, emit func(Tick) error) error {
			if err := emit(Tick{6}); !errors.Is(err, wrong) {
				t.Errorf("emit = %v", err)
			}
			return emit(Tick{5})
		}), agent.Check(ticks, func(_ context.Context, tick Tick) error {
			if tick.N > 5 {
				return wrong
			}
			return nil
		}))
		planner, _, _ := meet(t, publisher)
		if list, err := listens(t, planner); err != nil || !slices.Equal(list, []int{5}) {
			t.Errorf("told %v, %v", list, err)
		}
	})
}

func TestAnOfferIsAFunctionThatTellsWhetherItWasAccepted(t *testing.T) {
	for name, tt := range map[string]struct {
		fn   func(context.Context, Price) error
		want string
	}{
		"accepted": {accept, `{"outcome":"accepted"}`},
		"rejected": {func(context.Context, Price) error { return agent.Refuse(envelope.CodeCapacity, "busy") },
			`{"code":"capacity","outcome":"rejected","reason":"busy"}`},
		"failed": {func(context.Context, Price) error { return errors.New(secret) }, `{"code":"permanent","outcome":"failed","reason":"handler"}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := agenttest.NewScript(does("buyer__acme_deal_promise_v1", Price{70}), says("R1"))
				if out, err := asked(t, clerk(script, agent.MayAsk("buyer", promise)), buyer(tt.fn)); err != nil || out.Reference != "R1" {
					t.Fatalf("Ask = %v, %v", out, err)
				}
				if told := results(script.Requests()[1]); len(told) != 1 || !strings.Contains(told[0], tt.want) {
					t.Errorf("told %q, want %s", told, tt.want)
				}
			})
		})
	}
}

func TestAnOfferOfAModelIsMadeOnceThoughItIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		b := buyer(func(context.Context, Price) error { runs.Add(1); return nil })
		again := does("buyer__acme_deal_promise_v1", Price{70})
		script := agenttest.NewScript(again, again, says("R1"))
		if _, err := asked(t, clerk(script, agent.MayAsk("buyer", promise)), b); err != nil {
			t.Fatal(err)
		}
		if runs.Load() != 1 {
			t.Errorf("it was considered %d times", runs.Load())
		}
	})
}

func TestWhatAModelCannotBeGivenIsReportedAtTheStart(t *testing.T) {
	nop := func(context.Context, City) (string, error) { return "", nil }
	for name, opts := range map[string]struct {
		opt  agent.Option
		want string
	}{
		"a peer with a stream":    {agent.MayAsk("x", ticks), protocol.SubscribeV1},
		"a peer with an auction":  {agent.MayAsk("x", haul), protocol.ContractNetV1},
		"a peer with a gathering": {agent.MayAsk("x", opinion), protocol.GatherV1},
		"a tool named dissent":    {agent.Tool("dissent", "", nop), `"dissent" is reserved`},
		"a tool named item":       {agent.Tool("item", "", nop), `"item" is reserved`},
		"a tool named progress":   {agent.Tool("progress", "", nop), `"progress" is reserved`},
		"a check of no such type": {agent.Check(ticks, func(context.Context, Price) error { return nil }), ticks.Name().Capability()},
	} {
		t.Run(name, func(t *testing.T) {
			h := agent.NewHost(agent.Config{Store: open(t, filepath.Join(t.TempDir(), "x.db")), Log: slog.New(slog.DiscardHandler)},
				agent.New("ann", agent.Publish(ticks, func(context.Context, Job, func(Tick) error) error { return nil }), opts.opt))
			if err := h.Start(t.Context()); err == nil || !strings.Contains(err.Error(), opts.want) {
				t.Errorf("Start = %v, want a fault with %s", err, opts.want)
			}
			if err := h.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOneAgentAnswersEveryKindOfContract(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := agenttest.NewScript(says("R1"), does("propose", Price{70}), does("inform", Done{"ann"}), does("inform", struct{}{}), does("agree", struct{}{}), does("inform", Price{1}))
		ann := agent.New("ann", agent.Model(script), agent.Answer(book, prompt), agent.Answer(haul, prompt), agent.Answer(ticks, prompt), agent.Answer(promise, prompt), agent.Answer(opinion, prompt))
		planner, _, _ := meet(t, ann)
		for name, err := range map[string]error{
			"request": second(agent.Ask(t.Context(), planner, "ann", book, seat)), "auction": second(auctioned(t, planner, haul)),
			"stream": second(listens(t, planner)), "offer": agent.Propose(t.Context(), planner, "ann", promise, Price{1}), "gather": second(opinions(t, planner)),
		} {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
