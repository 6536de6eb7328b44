package agent_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store"
)

func TestWorkWhoseTimeHasPassedIsNotBegunByTheNextHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "b.db")
		var runs atomic.Int32
		flights := func() *agent.Agent {
			return answers(func(ctx context.Context, _ Seat) (Booking, error) {
				runs.Add(1)
				<-ctx.Done()
				return Booking{}, context.Cause(ctx)
			})
		}
		planner := agent.New("planner")
		a := begin(t, nil, nil, planner)
		b := begin(t, nil, open(t, path), flights())
		agent.Introduce(a, b)
		x, err := agent.Start(t.Context(), planner, "flights", book, seat, agent.Within(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		at(time.Second)
		if err := b.Kill(); err != nil {
			t.Fatal(err)
		}
		at(12 * time.Hour)
		agent.Introduce(a, begin(t, nil, open(t, path), flights()))
		at(time.Minute)
		if runs.Load() != 1 {
			t.Errorf("the handler ran %d times, want once", runs.Load())
		}
		if kind, _ := ending(second(x.Wait(t.Context()))); kind != "unknown" {
			t.Errorf("the asker ended as %s, want unknown", kind)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// stumbling is a store that fails a few commits that settle.
type stumbling struct {
	store.Store
	left atomic.Int32
}

func (s *stumbling) Commit(ctx context.Context, w store.WriteSet) error {
	if completes(w) && s.left.Add(-1) >= 0 {
		return errors.New("disk I/O error")
	}
	return s.Store.Commit(ctx, w)
}

func TestAResultThatCouldNotBeWrittenIsWrittenLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &stumbling{Store: open(t, filepath.Join(t.TempDir(), "b.db"))}
		disk.left.Store(3)
		var runs atomic.Int32
		planner := agent.New("planner")
		a := begin(t, nil, nil, planner)
		b := begin(t, nil, disk, answers(func(context.Context, Seat) (Booking, error) {
			runs.Add(1)
			return Booking{Reference: "R1"}, nil
		}))
		agent.Introduce(a, b)
		out, err := agent.Ask(t.Context(), planner, "flights", book, seat)
		if err != nil || out.Reference != "R1" || runs.Load() != 1 {
			t.Errorf("Ask = %v, %v after %d runs", out, err, runs.Load())
		}
	})
}
