package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/envelope"
)

// capital is a check that lets only upper-case references pass.
func capital(_ context.Context, b Booking) error {
	if b.Reference != strings.ToUpper(b.Reference) {
		return fmt.Errorf("%s: reference %q is not in capitals\a", secret, b.Reference)
	}
	return nil
}

func TestAResultThatBreaksACheckIsToldToTheModelAndTheNextTryIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := agenttest.NewScript(says("r1"), says("R1"))
		out, err := asked(t, clerk(script, agent.Check(look, capital)))
		if err != nil || out.Reference != "R1" {
			t.Fatalf("Ask = %v, %v", out, err)
		}
		told := results(script.Requests()[1])
		if len(told) != 1 || !strings.Contains(told[0], `reference \"r1\" is not in capitals`) || !strings.Contains(told[0], "integrity=tool") {
			t.Errorf("told %q", told)
		}
	})
}

func TestAResultThatKeepsBreakingACheckFailsTheExchangeAndItsTextStaysHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := agenttest.NewScript(says("r1"), says("r1"), says("r1"), says("R1"))
		c := clerk(script, agent.Check(look, capital))
		planner, a, b := pair(t, nil, c)
		q := ask(t, planner, "clerk", look, seat)
		_, err := q.wait()
		if kind, e := ending(err); kind != "failed" || e.Code != envelope.CodePermanent || e.Reason != "check" {
			t.Errorf("Ask = %v, want failed (permanent, check)", err)
		}
		if len(script.Requests()) != 3 {
			t.Errorf("the model was asked %d times, want 3", len(script.Requests()))
		}
		for _, e := range append(logOf(t, a, planner, q.id), logOf(t, b, c, q.id)...) {
			if strings.Contains(string(e.Envelope), secret) {
				t.Errorf("%s %s carries the text of the check", e.Kind, e.Event)
			}
		}
	})
}

func TestACheckOfAGoHandlersResultIsItsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flights := agent.New("flights", agent.Handle(look, func(context.Context, Seat) (Booking, error) { return Booking{"r1"}, nil }), agent.Check(look, capital))
		planner, _, _ := pair(t, nil, flights)
		_, err := agent.Ask(t.Context(), planner, "flights", look, seat)
		if kind, e := ending(err); kind != "failed" || e.Code != envelope.CodePermanent || e.Reason != "handler" {
			t.Errorf("Ask = %v, want failed (permanent, handler)", err)
		}
	})
}

func TestChecksAreCalledInOrderForResultsThatWouldEndTheWorkOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		note := func(name string, fails bool) agent.Option {
			return agent.Check(look, func(ctx context.Context, b Booking) error {
				if _, ok := agent.Current(ctx); !ok {
					t.Error("a check does not know its work")
				}
				order = append(order, name+" "+b.Reference)
				if fails && b.Reference == "R1" {
					return errors.New("not this one")
				}
				return nil
			})
		}
		script := agenttest.NewScript(
			agenttest.Calls(agenttest.Call("inform", Booking{"GUESS"}), agenttest.Call("forecast", City{"Turku"})), says("R1"), says("R2"))
		c := clerk(script, note("first", true), note("second", false), forecast(func(context.Context) (string, error) { return "Snow.", nil }))
		if out, err := asked(t, c); err != nil || out.Reference != "R2" {
			t.Errorf("Ask = %v, %v", out, err)
		}
		if want := []string{"first R1", "first R2", "second R2"}; !slices.Equal(order, want) {
			t.Errorf("called %v, want %v", order, want)
		}
	})
}

func TestACheckOfWhatIsNotAnsweredIsReportedAtTheStart(t *testing.T) {
	h := agent.NewHost(agent.Config{Store: open(t, filepath.Join(t.TempDir(), "x.db")), Log: slog.New(slog.DiscardHandler)},
		agent.New("flights", agent.Handle(look, reference), agent.Check(book, capital)))
	err := h.Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), book.Name().Capability()) {
		t.Errorf("Start = %v", err)
	}
	if err := h.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAHintReachesTheModelAsDataFromTheToolAndTheNextCallCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := agent.Tool("weather", "The weather.", func(_ context.Context, c City) (string, error) {
			if c.Name == "Springfield" {
				return "", fmt.Errorf("%s: %w", secret, agent.Retry("which state?\a\xff "+strings.Repeat("ä", 600)))
			}
			return "It rains.", nil
		})
		script := agenttest.NewScript(agenttest.Calls(agenttest.Call("weather", City{"Springfield"})),
			agenttest.Calls(agenttest.Call("weather", City{"Springfield, Oregon"})), says("R1"))
		if out, err := asked(t, clerk(script, tool)); err != nil || out.Reference != "R1" {
			t.Fatalf("Ask = %v, %v", out, err)
		}
		told := results(script.Requests()[2])
		if len(told) != 2 || !strings.Contains(told[0], `"outcome":"retry"`) || !strings.Contains(told[0], "which state? ") ||
			!strings.Contains(told[0], `from="weather" integrity=tool`) || strings.Contains(told[0], secret) || len(told[0]) > 1300 {
			t.Errorf("told %q", told)
		}
		if len(told) == 2 && !strings.Contains(told[1], "It rains.") {
			t.Errorf("the second call: %q", told[1])
		}
	})
}
