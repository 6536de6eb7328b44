package agent_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
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

// ahead is a clock that runs before the others.
type ahead struct{ by time.Duration }

func (c ahead) Now() time.Time { return time.Now().Add(c.by) }

func (c ahead) At(t time.Time, f func()) func() {
	wait := time.Until(t.Add(-c.by))
	if wait <= 0 { // as the system's clock
		go f()
		return func() {}
	}
	timer := time.AfterFunc(wait, f)
	return func() { timer.Stop() }
}

// untimed keeps no timer's step: the disk is full whenever one fires.
type untimed struct{ store.Store }

func (s untimed) Commit(ctx context.Context, w store.WriteSet) error {
	if slices.ContainsFunc(w.Entries, func(e store.Entry) bool { return e.Kind == store.Fired }) {
		return errors.New("no space")
	}
	return s.Store.Commit(ctx, w)
}

// What was accepted at the last moment is not begun when its time is over by
// then. A cancel that comes before the timer finds nobody at work, and must be
// answered all the same, not after the cancel window.
func TestACancelThatFindsNobodyAtWorkIsAnsweredAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := agent.New("planner")
		flights := answers(func(context.Context, Seat) (Booking, error) {
			t.Error("the handler ran after its time")
			return Booking{}, nil
		})
		a := begin(t, nil, nil, planner)
		b := begin(t, ahead{10*time.Second + 500*time.Millisecond}, untimed{open(t, filepath.Join(t.TempDir(), "b.db"))}, flights)
		agent.Introduce(a, b)
		x, err := agent.Start(t.Context(), planner, "flights", book, seat, agent.Within(10*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		began := time.Now()
		if err := x.Cancel(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, err = x.Wait(t.Context())
		if _, stopped := errors.AsType[*protocol.CancelledError](err); !stopped {
			t.Errorf("Wait = %v", err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("the cancel was answered after %v", took)
		}
	})
}
