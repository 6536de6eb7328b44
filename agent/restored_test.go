package agent_test

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store/sqlite"
)

// TestARestoredAgentIsAnotherBodyThatKnowsWhatItHadDone loses the store of an
// agent that has had one effect and works on another one.
func TestARestoredAgentIsAnotherBodyThatKnowsWhatItHadDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost, backup, restored := filepath.Join(t.TempDir(), "parley.db"), filepath.Join(t.TempDir(), "backup.db"), filepath.Join(t.TempDir(), "parley.db")
		planner := agent.New("planner")
		first := answers(func(ctx context.Context, s Seat) (Booking, error) {
			if s != seat {
				<-ctx.Done()
			}
			return Booking{Reference: "R1"}, ctx.Err()
		})
		a, b := begin(t, nil, nil, planner), begin(t, nil, open(t, lost), first)
		agent.Introduce(a, b)
		if _, err := agent.Ask(t.Context(), planner, "flights", book, seat, agent.Key("trip-1")); err != nil {
			t.Fatal(err)
		}
		running := ask(t, planner, "flights", book, Seat{Flight: "AY122"}, agent.Key("trip-2"), agent.Within(time.Minute))
		at(time.Second) // it was agreed to
		if err := sqlite.Backup(t.Context(), lost, backup); err != nil {
			t.Fatal(err)
		}
		if err := b.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := sqlite.Restore(t.Context(), backup, restored, time.Now()); err != nil {
			t.Fatal(err)
		}
		runs := 0
		second := answers(func(context.Context, Seat) (Booking, error) { runs++; return Booking{Reference: "R2"}, nil })
		c := begin(t, nil, open(t, restored), second)
		agent.Introduce(a, c)

		// It works on what it was asked, but the peer that heard the first body
		// agree hears nothing of the second one in that exchange.
		out, err := running.wait()
		if err == nil {
			t.Errorf("the exchange from before the restore ended with %v", out)
		}
		if runs != 1 || c.Counts()["effect.recalled"] != 0 {
			t.Errorf("the second body ran %d times, want 1", runs)
		}
		// In new ones it is heard, and what it had done it does not do again.
		if out, err := agent.Ask(t.Context(), planner, "flights", book, seat, agent.Key("trip-1")); err != nil || out.Reference != "R1" || runs != 1 {
			t.Errorf("asked again with the key from before: %v, %v after %d runs", out, err, runs)
		}
		if out, err := agent.Ask(t.Context(), planner, "flights", book, seat, agent.Key("trip-3")); err != nil || out.Reference != "R2" || runs != 2 {
			t.Errorf("asked with a new key: %v, %v after %d runs", out, err, runs)
		}
	})
}
