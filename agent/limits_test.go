package agent_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/llm"
)

func TestEachLimitEndsTheTurnInItsOwnWay(t *testing.T) {
	tool := agenttest.Calls(agenttest.Call("weather", City{"Turku"}))
	broken := agenttest.Calls(agenttest.Call("weather", "{}"))
	again := func(n int, replies ...agenttest.Reply) []agenttest.Reply { return slices.Repeat(replies, n) }
	for name, tt := range map[string]struct {
		limits  agent.Limits
		replies []agenttest.Reply
		code    envelope.Code
		reason  string
		asked   int
		runs    int32
	}{
		"rounds":               {agent.Limits{Rounds: 2}, again(5, tool), envelope.CodeCapacity, "budget", 2, 2},
		"no rounds":            {agent.Limits{Rounds: -1}, again(5, tool), envelope.CodeCapacity, "budget", 0, 0},
		"model calls":          {agent.Limits{ModelCalls: 3}, again(5, tool), envelope.CodeCapacity, "budget", 3, 3},
		"model calls, repairs": {agent.Limits{ModelCalls: 2}, []agenttest.Reply{broken, repairs(t, "Turku"), tool}, envelope.CodeCapacity, "budget", 2, 1},
		"nudges":               {agent.Limits{Nudges: 1}, again(5, agenttest.Says("Hm.")), envelope.CodePermanent, "model", 2, 0},
		"no nudges":            {agent.Limits{Nudges: -1}, again(5, agenttest.Says("Hm.")), envelope.CodePermanent, "model", 1, 0},
		"tokens":               {agent.Limits{Tokens: 100}, again(5, spends(tool, 30, 10)), envelope.CodeCapacity, "budget", 3, 2},
		"tokens, repairs":      {agent.Limits{Tokens: 10}, []agenttest.Reply{spends(broken, 3, 1), repairs(t, "Turku"), tool}, envelope.CodeCapacity, "budget", 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var runs atomic.Int32
				script := agenttest.NewScript(tt.replies...)
				_, err := asked(t, clerk(script, weather(&runs), agent.Limit(tt.limits)))
				if kind, e := ending(err); kind != "failed" || e.Code != tt.code || e.Reason != tt.reason {
					t.Errorf("Ask = %v, want failed (%s, %s)", err, tt.code, tt.reason)
				}
				if len(script.Requests()) != tt.asked || runs.Load() != tt.runs {
					t.Errorf("the model was asked %d times and the tool ran %d times, want %d and %d", len(script.Requests()), runs.Load(), tt.asked, tt.runs)
				}
			})
		})
	}
}

func TestCallsBeyondTheLimitOfAReplyAreNotMadeAndTheModelIsTold(t *testing.T) {
	for name, tt := range map[string]struct {
		limits agent.Limits
		made   int32
	}{"as set": {agent.Limits{Calls: 2}, 2}, "by default": {agent.Limits{}, 16}, "none": {agent.Limits{Calls: -1}, 0}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var runs atomic.Int32
				calls := append(slices.Repeat([]llm.Call{agenttest.Call("weather", City{"Turku"})}, 17), agenttest.Call("weather", "{}"))
				script := agenttest.NewScript(agenttest.Calls(calls...), agenttest.Calls(agenttest.Call("failure", map[string]string{"code": "permanent", "reason": "done"})))
				_, err := asked(t, clerk(script, weather(&runs), agent.Limit(tt.limits)))
				if _, e := ending(err); tt.made > 0 && e.Reason != "done" {
					t.Errorf("Ask = %v", err)
				}
				told := results(script.Requests()[1])
				if len(told) != len(calls) || runs.Load() != tt.made {
					t.Fatalf("%d results and %d runs, want %d and %d", len(told), runs.Load(), len(calls), tt.made)
				}
				for i, text := range told {
					if beyond := i >= int(tt.made); beyond != strings.Contains(text, "too-many-calls") {
						t.Errorf("call %d: told %q", i+1, text)
					}
				}
			})
		})
	}
}

func TestALimitOfTokensIsNotReachedByAReplyThatFits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := agenttest.NewScript(spends(says("R1"), 70, 30))
		if out, err := asked(t, clerk(script, agent.Limit(agent.Limits{Tokens: 100}))); err != nil || out.Reference != "R1" {
			t.Errorf("Ask = %v, %v", out, err)
		}
	})
}
