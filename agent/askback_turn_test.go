package agent_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/protocol"
)

func TestAModelIsOfferedToAskBackOnlyIfItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for want, opts := range map[bool][]agent.Option{false: nil, true: {agent.MayAskBack()}} {
			script := agenttest.NewScript(says("R1"))
			if _, err := asked(t, clerk(script, opts...)); err != nil {
				t.Fatal(err)
			}
			if got := slices.Contains(names(script.Requests()[0]), "ask_back"); got != want {
				t.Errorf("offered: %v, want %v", got, want)
			}
		}
	})
}

func TestAModelIsToldWhatCameOfItsQuestionsOneAfterTheOther(t *testing.T) {
	for name, tt := range map[string]struct {
		answer protocol.QuestionAnswered
		calls  []any
		want   []string
	}{
		"an answer":   {protocol.QuestionAnswered{Choice: "aisle"}, []any{which}, []string{`"result":{"choice":"aisle"}`}},
		"two answers": {protocol.QuestionAnswered{Choice: "aisle"}, []any{which, which}, []string{`"choice":"aisle"`, `"choice":"aisle"`}},
		"a question that cannot be answered": {protocol.QuestionAnswered{Choice: "a"}, []any{map[string]any{"text": "Which?", "choices": []string{"a", "a"}}},
			[]string{`"code":"validation","outcome":"failed","pointer":"/choices/1"`}},
		"no answer": {protocol.QuestionAnswered{}, []any{which}, []string{`"outcome":"failed","reason":"handler"`}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var open, most atomic.Int32
				planner := forthcoming(func(context.Context, protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
					most.Store(max(most.Load(), open.Add(1)))
					defer open.Add(-1)
					return tt.answer, nil
				})
				var calls []llm.Call
				for _, q := range tt.calls {
					calls = append(calls, agenttest.Call("ask_back", q))
				}
				script := agenttest.NewScript(agenttest.Calls(calls...), says("R1"))
				facing(t, planner, clerk(script, agent.MayAskBack()))
				if _, err := agent.Ask(t.Context(), planner, "clerk", look, seat); err != nil {
					t.Fatal(err)
				}
				told := results(script.Requests()[1])
				if len(told) != len(tt.want) || most.Load() > 1 {
					t.Fatalf("told %q, with %d questions open at once", told, most.Load())
				}
				for i, want := range tt.want {
					if !strings.Contains(told[i], want) {
						t.Errorf("told %q, want %q", told[i], want)
					}
				}
			})
		})
	}
}

func TestAModelHearsThatNobodyAnswersItsQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := agenttest.NewScript(agenttest.Calls(agenttest.Call("ask_back", which)), says("R1"))
		if _, err := asked(t, clerk(script, agent.MayAskBack())); err != nil {
			t.Fatal(err)
		}
		if told := results(script.Requests()[1]); len(told) != 1 || !strings.Contains(told[0], `"outcome":"not-understood"`) {
			t.Errorf("told %q", told)
		}
	})
}

func TestNoToolMayHaveTheNameOfAskingBack(t *testing.T) {
	c := clerk(agenttest.NewScript(), agent.Tool("ask_back", "Mine.", func(context.Context, City) (string, error) { return "", nil }))
	h := agent.NewHost(quiet(open(t, t.TempDir()+"/a.db")), c)
	if err := h.Start(t.Context()); err == nil || !strings.Contains(err.Error(), `"ask_back" is reserved`) {
		t.Errorf("Start = %v", err)
	}
}

// A model that answers a question is held to it as a handler is.
func TestAModelThatAnswersAQuestionMayTryAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := agenttest.NewScript(
			agenttest.Calls(agenttest.Call("inform", protocol.QuestionAnswered{Choice: "roof"})),
			agenttest.Calls(agenttest.Call("inform", protocol.QuestionAnswered{Choice: "window"})))
		planner := agent.New("planner", agent.Model(script), agent.Answer(protocol.Question, "Prefer windows."))
		facing(t, planner, curious(which))
		if out, err := agent.Ask(t.Context(), planner, "flights", book, seat); err != nil || out.Reference != "window" {
			t.Errorf("Ask = %v, %v", out, err)
		}
	})
}
