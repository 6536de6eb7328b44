package agent_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

func TestAResumedGatherTakesWhatCameWhileItsHostWasAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "a.db")
		slow := func(d time.Duration, n int) func(context.Context) (Price, error) {
			return func(context.Context) (Price, error) { <-time.After(d); return Price{n}, nil }
		}
		planner := agent.New("planner")
		a := begin(t, nil, open(t, path), planner)
		b := begin(t, nil, nil, juror("ann", slow(time.Second, 70)), juror("bob", slow(3*time.Second, 50)))
		agent.Introduce(a, b)
		g := gathering(t.Context(), t, planner, []string{"ann", "bob"}, agent.GatherTerms{}, agent.Within(time.Minute))
		at(2 * time.Second)
		if err := a.Kill(); err != nil {
			t.Fatal(err)
		}
		at(5 * time.Second) // bob has answered, and nobody was there
		again := agent.New("planner")
		a = beginWith(t, nil, open(t, path), []*agent.Host{b}, again)
		agent.Introduce(a, b)
		began := time.Now()
		out, err := agent.ResumeGather(t.Context(), again, g.id, opinion)
		if err != nil || string(out.Value) != `[{"euros":70},{"euros":50}]` || out.Terminal != protocol.TerminalCompleted {
			t.Fatalf("ResumeGather = %+v, %v", out, err)
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("it took %v: the deadline was waited for", took)
		}
		// It may be met any number of times, also when it is over.
		if twice, err := agent.ResumeGather(t.Context(), again, g.id, opinion); err != nil || string(twice.Value) != string(out.Value) {
			t.Errorf("again: %+v, %v", twice, err)
		}
		at(time.Minute)
		if got := concluded(t, a, again, g.id); got != protocol.TerminalCompleted {
			t.Errorf("the gather ended %s", got)
		}
	})
}

func TestWhoLeavesAResumedGatherDoesNotCancelIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, a, _ := pair(t, nil, juror("ann", func(context.Context) (Price, error) { <-time.After(10 * time.Second); return Price{7}, nil }))
		g := gathering(t.Context(), t, planner, []string{"ann"}, agent.GatherTerms{})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := agent.ResumeGather(ctx, planner, g.id, opinion); !errors.Is(err, context.Canceled) {
			t.Errorf("left with %v", err)
		}
		if _, err := agent.ResumeGather(t.Context(), planner, g.id, opinion); err != nil {
			t.Errorf("whoever stays gets %v", err)
		}
		at(time.Minute)
		if got := concluded(t, a, planner, g.id); got != protocol.TerminalCompleted {
			t.Errorf("the gather ended %s", got)
		}
	})
}

func TestOnlyAGatherOfOnesOwnIsResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ann := juror("ann", euros(7))
		planner, _, _ := pair(t, nil, ann)
		other := protocol.NewGathering[Job, Price]("acme.jury.verdict/v1")
		out, err := agent.Gather(t.Context(), planner, []string{"ann"}, opinion, piano, agent.GatherTerms{})
		if err != nil {
			t.Fatal(err)
		}
		for name, err := range map[string]error{
			"of no conversation":   failing(agent.ResumeGather(t.Context(), planner, piano.Task, opinion)),
			"of another contract":  failing(agent.ResumeGather(t.Context(), planner, out.Conversation, other)),
			"of somebody else's":   failing(agent.ResumeGather(t.Context(), ann, out.Conversation, opinion)),
			"by an agent not here": failing(agent.ResumeGather(t.Context(), agent.New("nobody"), out.Conversation, opinion)),
		} {
			if want := store.ErrNotFound; name != "by an agent not here" && !errors.Is(err, want) || err == nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func failing[T any](_ T, err error) error { return err }
