package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// judged holds an auction between three bidders, ann for 10, bob for 20 and cid
// for 30, which a scripted model decides.
func judged(t *testing.T, replies ...agenttest.Reply) (agent.Auctioned[Price, Done], *agenttest.Script, error) {
	t.Helper()
	model := agenttest.NewScript(replies...)
	planner := agent.New("planner", agent.Model(model))
	begin(t, nil, nil, planner, bidder("ann", euros(10), by("ann")), bidder("bob", euros(20), by("bob")), bidder("cid", euros(30), by("cid")))
	out, err := agent.CallForProposals(t.Context(), planner, []string{"ann", "bob", "cid"}, haul, piano,
		agent.AuctionTerms[Job, Price]{Pick: agent.Judge[Price](planner, "Take the dearest.")})
	return out, model, err
}

func TestAModelChoosesAmongTheProposalsByHandle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, model, err := judged(t, agenttest.Calls(agenttest.Call("agree", `{"ranking":["bid3","bid1"]}`)))
		if err != nil || !slices.Equal(delivered(out), []string{"cid"}) {
			t.Fatalf("CallForProposals = %+v, %v", out, err)
		}
		asked := model.Requests()[0]
		var names []string
		for _, f := range asked.Functions {
			names = append(names, f.Name)
		}
		if !slices.Equal(names, []string{"agree", "refuse"}) || asked.Choice != llm.ChoiceRequired {
			t.Errorf("offered %v, choice %s", names, asked.Choice)
		}
		if system := asked.Messages[0].Text; !strings.Contains(system, "Take the dearest.") || strings.Contains(system, "euros") {
			t.Errorf("the system message is %q", system)
		}
		quoted := asked.Messages[1].Text
		for _, want := range []string{`from="bid1" integrity=peer`, `{"euros":10}`, `from="bid3" integrity=peer`, `{"euros":30}`} {
			if !strings.Contains(quoted, want) {
				t.Errorf("the proposals are quoted without %s: %s", want, quoted)
			}
		}
		if strings.Contains(quoted, "agent://") {
			t.Errorf("the model can read names that are not its to write: %s", quoted)
		}
	})
}

func TestAChoiceThatNamesNothingKnownIsAskedForAgain(t *testing.T) {
	for name, first := range map[string]agenttest.Reply{
		"an unknown handle":   agenttest.Calls(agenttest.Call("agree", `{"ranking":["bid4"]}`)),
		"a URI":               agenttest.Calls(agenttest.Call("agree", `{"ranking":["agent://local/ann"]}`)),
		"one handle twice":    agenttest.Calls(agenttest.Call("agree", `{"ranking":["bid1","bid1"]}`)),
		"nobody":              agenttest.Calls(agenttest.Call("agree", `{"ranking":[]}`)),
		"an unknown function": agenttest.Calls(agenttest.Call("inform", `{}`)),
		"two choices":         agenttest.Calls(agenttest.Call("agree", `{"ranking":["bid1"]}`), agenttest.Call("agree", `{"ranking":["bid2"]}`)),
		"plain text":          agenttest.Says("I would take bid1."),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out, model, err := judged(t, first, agenttest.Calls(agenttest.Call("agree", `{"ranking":["bid2"]}`)))
				if err != nil || !slices.Equal(delivered(out), []string{"bob"}) || len(model.Requests()) != 2 {
					t.Errorf("CallForProposals = %+v, %v after %d requests", out, err, len(model.Requests()))
				}
			})
		})
	}
}

func TestAModelThatChoosesNobodyGivesNoAward(t *testing.T) {
	failed := &llm.Error{Kind: llm.ErrorUnavailable}
	for name, tt := range map[string]struct {
		replies []agenttest.Reply
		is      func(error) bool
	}{
		"it turns all down": {[]agenttest.Reply{agenttest.Calls(agenttest.Call("refuse", `{"code":"permanent","reason":"too-dear"}`))},
			func(err error) bool { return errors.Is(err, agent.ErrNoneChosen) }},
		"it never comes to a choice": {[]agenttest.Reply{agenttest.Says("hm"), agenttest.Says("hm"), agenttest.Says("hm")},
			func(err error) bool {
				d, ok := errors.AsType[*agent.Decision](err)
				return ok && d.Act == envelope.Failure && d.Reason == "model"
			}},
		"its endpoint is away": {[]agenttest.Reply{agenttest.Fails(failed)}, func(err error) bool { return errors.Is(err, failed) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out, _, err := judged(t, tt.replies...)
				if !tt.is(err) || len(out.Delivered) != 0 {
					t.Errorf("CallForProposals = %+v, %v", out, err)
				}
			})
		})
	}
}

func TestWhoHasNoModelCannotJudge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := agent.New("planner")
		pick := agent.Judge[Price](planner, "Any.")
		if _, err := pick(t.Context(), nil); !errors.Is(err, agent.ErrStopped) {
			t.Errorf("without a host: %v", err)
		}
		begin(t, nil, nil, planner)
		if _, err := pick(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "has no model") {
			t.Errorf("without a model: %v", err)
		}
	})
}

func TestABidderWithdrawsWhatHasNotBeenDecidedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, ann := agent.New("planner"), bidder("ann", euros(10), by("ann"))
		a := begin(t, nil, nil, planner)
		b := begin(t, nil, nil, ann, bidder("bob", euros(20), by("bob")))
		agent.Introduce(a, b)
		var id string
		terms := best
		terms.Pick = func(ctx context.Context, bids []agent.Tender[Price]) ([]agent.Tender[Price], error) {
			if err := agent.Withdraw(ctx, ann, id, "planner"); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			return cheapest(ctx, bids)
		}
		out, err := agent.CallForProposals(t.Context(), planner, []string{"ann", "bob"}, haul, piano, terms, agent.Opened(func(opened string) { id = opened }))
		if err != nil || !slices.Equal(delivered(out), []string{"bob"}) {
			t.Fatalf("CallForProposals = %+v, %v", out, err)
		}
		if _, withdrawn := errors.AsType[*protocol.WithdrawnError](out.Others[ann.URI()]); !withdrawn {
			t.Errorf("ann ended with %v", out.Others[ann.URI()])
		}
		if got := side(t, b, ann.URI(), id, planner.URI()).State; got != "done:withdrawn" {
			t.Errorf("ann is in %s", got)
		}
		// What has been decided on stands, and what is not there is not found.
		if err := agent.Withdraw(t.Context(), ann, id, "planner"); err != nil {
			t.Errorf("again: %v", err)
		}
		if err := agent.Withdraw(t.Context(), planner, id, "bob"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("by the one who called: %v", err)
		}
		if err := agent.Withdraw(t.Context(), ann, piano.Task, "planner"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("of no conversation: %v", err)
		}
	})
}
