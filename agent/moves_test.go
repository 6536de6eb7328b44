package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// modelled is an agent whose model answers the contract by the script.
func modelled(name string, c agent.Contract, script llm.Model, opts ...agent.Option) *agent.Agent {
	return agent.New(name, append(opts, agent.Model(script), agent.Answer(c, "Do it well."))...)
}

// does is a reply that calls one function.
func does(function string, arguments any) agenttest.Reply {
	return agenttest.Calls(agenttest.Call(function, arguments))
}

var busy = map[string]string{"code": "capacity", "reason": "busy"}

// auctioned holds the auction among the bidders and returns what it came to.
func auctioned(t *testing.T, from *agent.Agent, c protocol.Auction[Job, Price, Done], opts ...agent.AskOption) (agent.Auctioned[Price, Done], error) {
	t.Helper()
	return agent.CallForProposals(t.Context(), from, []string{"ann"}, c, piano, agent.AuctionTerms[Job, Price]{Pick: cheapest}, opts...)
}

// opinions gathers what ann has to say.
func opinions(t *testing.T, from *agent.Agent) (agent.Gathered[Price], error) {
	t.Helper()
	return agent.Gather(t.Context(), from, []string{"ann"}, opinion, piano, agent.GatherTerms{Reducer: protocol.ReducerPreserveDissent})
}

// listens is what a subscription with ann tells, and how it ends.
func listens(t *testing.T, from *agent.Agent) (list []int, err error) {
	t.Helper()
	for tick, failed := range agent.Subscribe(t.Context(), from, "ann", ticks, piano) {
		if failed != nil {
			return list, failed
		}
		list = append(list, tick.N)
	}
	return list, nil
}

func TestAModelIsOfferedTheMovesOfItsPhaseAndStateAndNothingElse(t *testing.T) {
	tool := forecast(func(context.Context) (string, error) { return "Snow.", nil }, agent.ReadOnly)
	for name, tt := range map[string]struct {
		contract agent.Contract
		replies  []agenttest.Reply
		ask      func(*testing.T, *agent.Agent) error
		want     []string
	}{
		"a bidder, and then whoever got the award": {haul, []agenttest.Reply{does("propose", Price{70}), does("inform", Done{"ann"})},
			func(t *testing.T, p *agent.Agent) error { return second(auctioned(t, p, haul)) },
			[]string{"failure forecast propose refuse", "failure forecast inform"}},
		"whoever got an award with progress": {move, []agenttest.Reply{does("propose", Price{70}), does("progress", Step{50}), does("inform", Done{"ann"})},
			func(t *testing.T, p *agent.Agent) error { return second(auctioned(t, p, move)) },
			[]string{"failure forecast propose refuse", "failure forecast inform progress", "failure forecast inform progress"}},
		"whoever considers": {promise, []agenttest.Reply{callForecast, does("agree", struct{}{})},
			func(t *testing.T, p *agent.Agent) error {
				return agent.Propose(t.Context(), p, "ann", promise, Price{70})
			},
			[]string{"agree failure forecast refuse", "agree failure forecast refuse"}},
		"a member": {opinion, []agenttest.Reply{callForecast, does("inform", Price{70})},
			func(t *testing.T, p *agent.Agent) error { return second(opinions(t, p)) },
			[]string{"dissent failure forecast inform refuse", "dissent failure forecast inform refuse"}},
		"a publisher, before and after it has begun": {ticks, []agenttest.Reply{does("item", Tick{1}), does("inform", struct{}{})},
			func(t *testing.T, p *agent.Agent) error { return second(listens(t, p)) },
			[]string{"failure forecast inform item refuse", "failure forecast inform item"}},
		"whoever answers with progress": {trek, []agenttest.Reply{does("progress", Step{50}), does("inform", Booking{"R1"})},
			func(t *testing.T, p *agent.Agent) error { return second(agent.Ask(t.Context(), p, "ann", trek, seat)) },
			[]string{"failure forecast inform progress refuse", "failure forecast inform progress"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := agenttest.NewScript(tt.replies...)
				planner, _, _ := meet(t, modelled("ann", tt.contract, script, tool))
				if err := tt.ask(t, planner); err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, r := range script.Requests() {
					got = append(got, strings.Join(names(r), " "))
					if r.Choice != llm.ChoiceRequired {
						t.Errorf("the choice is %q", r.Choice)
					}
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("offered\n%q, want\n%q", got, tt.want)
				}
			})
		})
	}
}

func TestAMoveOfAnotherPhaseIsToldAsUnknownAndTheModelMayTryAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		contract agent.Contract
		wrong    agenttest.Reply
		right    []agenttest.Reply
		ask      func(*testing.T, *agent.Agent) error
	}{
		"a bidder that delivers": {haul, does("inform", Done{"ann"}), []agenttest.Reply{does("propose", Price{70}), does("inform", Done{"ann"})},
			func(t *testing.T, p *agent.Agent) error { return second(auctioned(t, p, haul)) }},
		"a bidder that accepts": {haul, does("agree", struct{}{}), []agenttest.Reply{does("propose", Price{70}), does("inform", Done{"ann"})},
			func(t *testing.T, p *agent.Agent) error { return second(auctioned(t, p, haul)) }},
		"whoever considers and delivers": {promise, does("inform", struct{}{}), []agenttest.Reply{does("agree", struct{}{})},
			func(t *testing.T, p *agent.Agent) error {
				return agent.Propose(t.Context(), p, "ann", promise, Price{70})
			}},
		"a member that proposes": {opinion, does("propose", Price{70}), []agenttest.Reply{does("inform", Price{70})},
			func(t *testing.T, p *agent.Agent) error { return second(opinions(t, p)) }},
		"a publisher that tells progress": {ticks, does("progress", Step{50}), []agenttest.Reply{does("inform", struct{}{})},
			func(t *testing.T, p *agent.Agent) error { return second(listens(t, p)) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := agenttest.NewScript(append([]agenttest.Reply{tt.wrong}, tt.right...)...)
				planner, _, b := meet(t, modelled("ann", tt.contract, script))
				if err := tt.ask(t, planner); err != nil {
					t.Fatal(err)
				}
				told := results(script.Requests()[1])
				if len(told) != 1 || !strings.Contains(told[0], "unknown-function") {
					t.Errorf("told %q", told)
				}
				if n := b.Counts()["unsaid"]; n != 0 {
					t.Errorf("%d acts were decided and could not be said", n)
				}
			})
		})
	}
}

func TestAModelsMoveIsTheActOfTheTable(t *testing.T) {
	for name, tt := range map[string]struct {
		contract agent.Contract
		replies  []agenttest.Reply
		ask      func(t *testing.T, from *agent.Agent) string
		want     string
	}{
		"a bidder that refuses": {haul, []agenttest.Reply{does("refuse", busy)}, func(t *testing.T, p *agent.Agent) string {
			out, err := auctioned(t, p, haul)
			unmet(t, err, protocol.TerminalBlocked)
			return strings.Join([]string{"delivered", string('0' + rune(len(out.Delivered)))}, " ")
		}, "delivered 0"},
		"an award that fails": {haul, []agenttest.Reply{does("propose", Price{70}), does("failure", busy)}, func(t *testing.T, p *agent.Agent) string {
			out, _ := auctioned(t, p, haul)
			kind, e := ending(out.Failed[uri("ann")])
			return kind + " " + e.Reason
		}, "failed busy"},
		"an award that is refused too late": {haul, []agenttest.Reply{does("propose", Price{70}), does("refuse", busy), does("inform", Done{"ann"})}, func(t *testing.T, p *agent.Agent) string {
			out, _ := auctioned(t, p, haul)
			kind, e := ending(out.Failed[uri("ann")])
			return kind + " " + e.Reason
		}, "failed busy"},
		"a rejection": {promise, []agenttest.Reply{does("refuse", busy)}, func(t *testing.T, p *agent.Agent) string {
			kind, e := answered(agent.Propose(t.Context(), p, "ann", promise, Price{70}))
			return kind + " " + e.Reason
		}, "rejected busy"},
		"a consideration that fails": {promise, []agenttest.Reply{does("failure", busy)}, func(t *testing.T, p *agent.Agent) string {
			kind, e := answered(agent.Propose(t.Context(), p, "ann", promise, Price{70}))
			return kind + " " + e.Reason
		}, "failed busy"},
		"dissent": {opinion, []agenttest.Reply{does("dissent", Price{70})}, func(t *testing.T, p *agent.Agent) string {
			out, _ := opinions(t, p)
			return string(out.Terminal) + " " + string(out.Value)
		}, `DISSENT_RECORDED {"contributions":[],"dissent":[{"euros":70}]}`},
		"a contribution": {opinion, []agenttest.Reply{does("inform", Price{70})}, func(t *testing.T, p *agent.Agent) string {
			out, _ := opinions(t, p)
			return string(out.Terminal) + " " + string(out.Value)
		}, `COMPLETED {"contributions":[{"euros":70}],"dissent":[]}`},
		"a member that abstains": {opinion, []agenttest.Reply{does("refuse", busy)}, func(t *testing.T, p *agent.Agent) string {
			out, _ := opinions(t, p)
			return string(out.Terminal) + " " + strings.Join(out.Abstained, " ")
		}, "BLOCKED " + uri("ann")},
		"a stream": {ticks, []agenttest.Reply{does("item", Tick{1}),
			agenttest.Calls(agenttest.Call("item", Tick{2}), agenttest.Call("item", Tick{3})), does("inform", struct{}{})}, func(t *testing.T, p *agent.Agent) string {
			list, err := listens(t, p)
			if err != nil {
				t.Error(err)
			}
			return strings.Repeat("item ", len(list))
		}, "item item item "},
		"a stream that fails": {ticks, []agenttest.Reply{does("item", Tick{1}), does("failure", busy)}, func(t *testing.T, p *agent.Agent) string {
			list, err := listens(t, p)
			kind, e := ending(err)
			return strings.Repeat("item ", len(list)) + kind + " " + e.Reason
		}, "item failed busy"},
		"a stream that is refused": {ticks, []agenttest.Reply{does("refuse", busy)}, func(t *testing.T, p *agent.Agent) string {
			_, err := listens(t, p)
			kind, e := ending(err)
			return kind + " " + e.Reason
		}, "refused busy"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				planner, _, _ := meet(t, modelled("ann", tt.contract, agenttest.NewScript(tt.replies...)))
				if got := tt.ask(t, planner); got != tt.want {
					t.Errorf("it came to %q, want %q", got, tt.want)
				}
			})
		})
	}
}

func TestWhatAModelTellsOnTheWaySaysWhichModelMadeItAndIsAsTaintedAsWhatItRead(t *testing.T) {
	for name, tt := range map[string]struct {
		contract agent.Contract
		told     agenttest.Reply
		end      agenttest.Reply
		ask      func(*testing.T, *agent.Agent) error
	}{
		"an item": {ticks, does("item", Tick{1}), does("inform", struct{}{}), func(t *testing.T, p *agent.Agent) error { return second(listens(t, p)) }},
		"progress": {trek, does("progress", Step{50}), does("inform", Booking{"R1"}), func(t *testing.T, p *agent.Agent) error {
			return second(agent.Ask(t.Context(), p, "ann", trek, seat))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ann := modelled("ann", tt.contract, agenttest.NewScript(callForecast, tt.told, tt.end), forecast(func(context.Context) (string, error) { return "Snow.", nil }))
				planner, _, b := meet(t, ann)
				if err := tt.ask(t, planner); err != nil {
					t.Fatal(err)
				}
				list, err := b.Store().Conversations(t.Context(), ann.URI(), 1)
				if err != nil || len(list) != 1 {
					t.Fatalf("conversations %v, %v", list, err)
				}
				told := logged(t, b, ann.URI(), list[0].ID, "!inform~")
				if len(told) != 1 {
					t.Fatalf("%d partial informs", len(told))
				}
				h := told[0].Header()
				if h.Provenance == nil || h.Provenance.Model != "script" {
					t.Errorf("the provenance is %+v", h.Provenance)
				}
				if h.Labels.Integrity != envelope.Tool {
					t.Errorf("the integrity is %q though a tool was read", h.Labels.Integrity)
				}
			})
		})
	}
}

func TestAnAwardSetsTheEffectKeyOfAKeyedTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var keys []string
		tool := forecast(func(ctx context.Context) (string, error) {
			keys = append(keys, agent.EffectKey(ctx))
			return "Snow.", nil
		}, agent.Keyed)
		script := agenttest.NewScript(does("propose", Price{70}), callForecast, does("inform", Done{"ann"}),
			does("propose", Price{70}), callForecast, does("inform", Done{"ann"}))
		planner, _, b := meet(t, modelled("ann", haul, script, tool))
		for _, key := range []string{"k1", "k2"} {
			out, err := auctioned(t, planner, haul, agent.Key(key))
			if err != nil {
				t.Fatal(err)
			}
			if award := logged(t, b, uri("ann"), out.Conversation, "?agree"); len(award) != 1 || award[0].Header().IdempotencyKey == "" {
				t.Errorf("the award carries no key")
			}
		}
		if len(keys) != 2 || keys[0] == "" || keys[0] == keys[1] {
			t.Errorf("keys %q, want one for each award", keys)
		}
	})
}

func TestAModelThatDiesInAPhaseIsNotAskedAgainForWhatIsRecorded(t *testing.T) {
	for name, tt := range map[string]struct {
		when  func(store.WriteSet) bool
		after bool
		// replies that the second life's model has to give, runs of the keyed tool in both
		replies []agenttest.Reply
		runs    int
	}{
		"before the bid is recorded":         {records(store.Reply, 1), false, []agenttest.Reply{does("propose", Price{70}), callForecast, does("inform", Done{"ann"})}, 1},
		"after the bid is recorded":          {records(store.Reply, 1), true, []agenttest.Reply{callForecast, does("inform", Done{"ann"})}, 1},
		"after the bid is made":              {logs("!propose"), true, []agenttest.Reply{callForecast, does("inform", Done{"ann"})}, 1},
		"after the award has come":           {logs("?agree"), true, []agenttest.Reply{callForecast, does("inform", Done{"ann"})}, 1},
		"before the tool's call is recorded": {records(store.Reply, 2), false, []agenttest.Reply{callForecast, does("inform", Done{"ann"})}, 1},
		"after the tool's call is recorded":  {records(store.Reply, 2), true, []agenttest.Reply{does("inform", Done{"ann"})}, 1},
		"before its result is recorded":      {records(store.Result, 1), false, []agenttest.Reply{does("inform", Done{"ann"})}, 2},
		"after its result is recorded":       {records(store.Result, 1), true, []agenttest.Reply{does("inform", Done{"ann"})}, 1},
		"after the delivery is recorded":     {records(store.Reply, 3), true, nil, 1},
		"before the delivery is made":        {completes, false, nil, 1},
		"after the delivery is made":         {completes, true, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var bank ledger
				tool := forecast(func(ctx context.Context) (string, error) {
					bank.add(agent.EffectKey(ctx))
					return "Snow.", nil
				}, agent.Keyed)
				later := agenttest.NewScript(tt.replies...)
				scripts := []*agenttest.Script{agenttest.NewScript(does("propose", Price{70}), callForecast, does("inform", Done{"ann"})), later}
				life := 0
				reopenedAsker(t, tt.when, tt.after, func() *agent.Agent {
					life++
					return modelled("ann", haul, scripts[life-1], tool)
				}, func(planner *agent.Agent, opened agent.AskOption) error {
					out, err := auctioned(t, planner, haul, opened, agent.Within(10*time.Minute))
					if err == nil && (len(out.Delivered) != 1 || out.Delivered[0].Bid.Euros != 70 || out.Delivered[0].Result.By != "ann") {
						t.Errorf("it came to %+v", out)
					}
					return err
				})
				if got := len(later.Requests()); got != len(tt.replies) {
					t.Errorf("the second life asked its model %d times, want %d", got, len(tt.replies))
				}
				if bank.total() != tt.runs || len(bank.by) != 1 {
					t.Errorf("the effects are %v, want %d under one key", bank.by, tt.runs)
				}
			})
		})
	}
}

func TestAModelsStreamGoesOnAfterACrashWithoutTellingAnythingTwice(t *testing.T) {
	for name, tt := range map[string]struct {
		when    func(store.WriteSet) bool
		after   bool
		replies []agenttest.Reply
	}{
		"after a reply is recorded":   {records(store.Reply, 2), true, []agenttest.Reply{does("inform", struct{}{})}},
		"before an item is durable":   {tells(2), false, []agenttest.Reply{does("inform", struct{}{})}},
		"after an item is durable":    {tells(2), true, []agenttest.Reply{does("inform", struct{}{})}},
		"after the end is recorded":   {records(store.Reply, 3), true, nil},
		"before the end is committed": {completes, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				later := agenttest.NewScript(tt.replies...)
				scripts := []*agenttest.Script{agenttest.NewScript(does("item", Tick{1}), does("item", Tick{2}), does("inform", struct{}{})), later}
				life := 0
				var got []int
				reopenedAsker(t, tt.when, tt.after, func() *agent.Agent {
					life++
					return modelled("ann", ticks, scripts[life-1])
				}, func(planner *agent.Agent, opened agent.AskOption) error {
					for tick, err := range agent.Subscribe(t.Context(), planner, "ann", ticks, piano, opened) {
						if err != nil {
							return err
						}
						got = append(got, tick.N)
					}
					return nil
				})
				if !slices.Equal(got, upTo(2)) || len(later.Requests()) != len(tt.replies) {
					t.Errorf("told %v, the second life asked its model %d times", got, len(later.Requests()))
				}
			})
		})
	}
}

func TestAModelThatConsidersOrContributesIsNotAskedAgainAfterACrash(t *testing.T) {
	for name, tt := range map[string]struct {
		contract agent.Contract
		reply    agenttest.Reply
		ask      func(*testing.T, *agent.Agent, agent.AskOption) error
	}{
		"considering": {promise, does("agree", struct{}{}), func(t *testing.T, p *agent.Agent, o agent.AskOption) error {
			return agent.Propose(t.Context(), p, "ann", promise, Price{70}, o)
		}},
		"contributing": {opinion, does("inform", Price{70}), func(t *testing.T, p *agent.Agent, o agent.AskOption) error {
			return second(agent.Gather(t.Context(), p, []string{"ann"}, opinion, piano, agent.GatherTerms{}, o))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				later := agenttest.NewScript()
				scripts := []*agenttest.Script{agenttest.NewScript(tt.reply), later}
				life := 0
				reopenedAsker(t, records(store.Reply, 1), true, func() *agent.Agent {
					life++
					return modelled("ann", tt.contract, scripts[life-1])
				}, func(planner *agent.Agent, opened agent.AskOption) error { return tt.ask(t, planner, opened) })
				if n := len(later.Requests()); n != 0 {
					t.Errorf("the second life asked its model %d times", n)
				}
			})
		})
	}
}

// logs picks the first commit that logs the event.
func logs(on protocol.Event) func(store.WriteSet) bool {
	return once(func(w store.WriteSet) bool {
		return slices.ContainsFunc(w.Entries, func(e store.Entry) bool { return e.Event == on })
	})
}
