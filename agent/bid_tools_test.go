package agent_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
)

// No prompt keeps a model from having effects before it has the award.
func TestAModelThatBidsIsOfferedNothingThatHasEffects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := agenttest.NewScript(
			agenttest.Calls(agenttest.Call("crane", "{}")),
			agenttest.Calls(agenttest.Call("propose", `{"euros":40}`)),
			agenttest.Calls(agenttest.Call("crane", "{}")),
			agenttest.Calls(agenttest.Call("inform", `{"by":"ann"}`)))
		runs := 0
		crane := func(context.Context, struct{}) (Done, error) { runs++; return Done{By: "crane"}, nil }
		ann := agent.New("ann", agent.Model(model), agent.Answer(haul, "Haul."),
			agent.Tool("crane", "Orders a crane.", crane, agent.Keyed), agent.Tool("phone", "Calls somebody.", crane),
			agent.Tool("map", "Looks at a map.", crane, agent.ReadOnly), agent.MayAsk("flights", book, look))
		planner, _, _ := pair(t, nil, ann, agent.New("flights", agent.Handle(book, reference), agent.Handle(look, reference)))
		out, err := agent.CallForProposals(t.Context(), planner, []string{"ann"}, haul, piano, best)
		if err != nil || !slices.Equal(delivered(out), []string{"ann"}) || runs != 1 {
			t.Fatalf("CallForProposals = %+v, %v; %d effects", out, err, runs)
		}
		bidding := []string{"propose", "refuse", "failure", "map", "flights__acme_flight_look_v1"}
		performing := []string{"inform", "failure", "crane", "phone", "map", "flights__acme_flight_book_v1", "flights__acme_flight_look_v1"}
		for i, want := range [][]string{bidding, bidding, performing, performing} {
			var got []string
			for _, f := range model.Requests()[i].Functions {
				got = append(got, f.Name)
			}
			if !slices.Equal(got, want) {
				t.Errorf("request %d offers %v, want %v", i+1, got, want)
			}
		}
	})
}
