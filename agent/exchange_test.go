package agent_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// held is an agent that answers R1 when it is released.
func held(release <-chan struct{}) *agent.Agent {
	return answers(func(ctx context.Context, _ Seat) (Booking, error) {
		select {
		case <-release:
			return Booking{Reference: "R1"}, nil
		case <-ctx.Done():
			return Booking{}, ctx.Err()
		}
	})
}

func begun(t *testing.T, from *agent.Agent, opts ...agent.AskOption) *agent.Exchange[Booking] {
	t.Helper()
	x, err := agent.Start(t.Context(), from, "flights", book, seat, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestStartReturnsBeforeTheAnswerAndWaitGivesItAsOftenAsItIsCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		planner, a, _ := pair(t, nil, held(release))
		x := begun(t, planner)
		if got := state(t, a, planner, x.ID()); got.Done() || x.Peer() != "agent://local/flights" {
			t.Errorf("after Start the exchange with %s is in %q", x.Peer(), got)
		}
		close(release)
		for range 3 {
			if out, err := x.Wait(t.Context()); err != nil || out.Reference != "R1" {
				t.Errorf("Wait = %v, %v", out, err)
			}
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if out, err := x.Wait(ended); err != nil || out.Reference != "R1" {
			t.Errorf("Wait for what has ended, under an ended context = %v, %v", out, err)
		}
		if err := x.Cancel(t.Context()); err != nil {
			t.Errorf("Cancel of what has ended = %v", err)
		}
		if got := state(t, a, planner, x.ID()); got != "done:ok" {
			t.Errorf("the exchange is in %q, want done:ok", got)
		}
	})
}

func TestTheEndOfWaitsContextLeavesTheExchangeGoingAndThatOfAsksCancelsIt(t *testing.T) {
	why := errors.New("nobody waits any more")
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		planner, a, _ := pair(t, nil, held(release))
		x := begun(t, planner)
		q, cancelAsk := context.WithCancelCause(t.Context())
		asked := askIn(q, t, planner, "flights", book, Seat{"AY122"})
		w, cancelWait := context.WithCancelCause(t.Context())
		waited := make(chan error)
		go func() {
			_, err := x.Wait(w)
			waited <- err
		}()
		at(time.Second)
		cancelWait(why)
		cancelAsk(why)
		if err := <-waited; !errors.Is(err, why) {
			t.Errorf("Wait = %v", err)
		}
		if _, err := asked.wait(); !errors.Is(err, why) {
			t.Errorf("Ask = %v", err)
		}
		at(time.Second)
		if got := state(t, a, planner, asked.id); got != "done:cancelled" {
			t.Errorf("what Ask opened is in %q, want done:cancelled", got)
		}
		close(release)
		if out, err := x.Wait(t.Context()); err != nil || out.Reference != "R1" {
			t.Errorf("waited for again: %v, %v", out, err)
		}
	})
}

func TestWaitTellsWhatCameOfACancel(t *testing.T) {
	for name, tt := range map[string]struct {
		handler func(context.Context, Seat) (Booking, error)
		kind    string
	}{
		"the work stopped":     {func(ctx context.Context, _ Seat) (Booking, error) { <-ctx.Done(); return Booking{}, ctx.Err() }, "cancelled"},
		"the work was done":    {func(ctx context.Context, _ Seat) (Booking, error) { <-ctx.Done(); return Booking{"R1"}, nil }, "<nil>"},
		"the work did not end": {func(ctx context.Context, _ Seat) (Booking, error) { <-time.After(time.Hour); return Booking{"R1"}, nil }, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				planner, _, _ := pair(t, nil, answers(tt.handler))
				x := begun(t, planner, agent.Within(10*time.Minute))
				at(time.Second)
				for range 2 {
					if err := x.Cancel(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				out, err := x.Wait(t.Context())
				if kind, _ := ending(err); kind != tt.kind || (err == nil) != (out.Reference == "R1") {
					t.Errorf("Wait = %v, %v, want %s", out, err, tt.kind)
				}
				at(2 * time.Hour)
			})
		})
	}
}

func TestACancelUnderAnEndedContextLeavesTheQuestionStanding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		planner, _, _ := pair(t, nil, held(release))
		x := begun(t, planner)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := x.Cancel(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Cancel = %v", err)
		}
		close(release)
		if out, err := x.Wait(t.Context()); err != nil || out.Reference != "R1" {
			t.Errorf("Wait = %v, %v", out, err)
		}
	})
}

func TestUnderAnEndedContextNothingIsOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, a, _ := pair(t, nil, answers(reference))
		why := errors.New("too late")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		if _, err := agent.Start(ctx, planner, "flights", book, seat); !errors.Is(err, why) {
			t.Errorf("Start = %v", err)
		}
		if _, err := agent.Ask(ctx, planner, "flights", book, seat); !errors.Is(err, why) {
			t.Errorf("Ask = %v", err)
		}
		if list, err := a.Store().Conversations(t.Context(), planner.URI(), 10); err != nil || len(list) != 0 {
			t.Errorf("conversations %v, %v", list, err)
		}
	})
}

func TestAnExchangeIsResumedAfterTheAskingHostWasKilled(t *testing.T) {
	for name, answered := range map[string]bool{"the answer came before it was resumed": true, "the answer came afterwards": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				path := filepath.Join(t.TempDir(), "planner.db")
				planner := agent.New("planner")
				a := begin(t, nil, open(t, path), planner)
				b := begin(t, nil, nil, held(release))
				agent.Introduce(a, b)
				x := begun(t, planner, agent.Within(10*time.Minute))
				at(time.Second)
				if err := a.Kill(); err != nil {
					t.Fatal(err)
				}
				if _, err := x.Wait(t.Context()); !errors.Is(err, agent.ErrStopped) {
					t.Errorf("Wait on the killed host = %v", err)
				}
				again := agent.New("planner")
				agent.Introduce(begin(t, nil, open(t, path), again), b)
				if answered {
					close(release)
					at(time.Minute)
				}
				y, err := agent.Resume(t.Context(), again, "flights", x.ID(), book)
				if err != nil {
					t.Fatal(err)
				}
				if !answered {
					close(release)
				}
				if out, err := y.Wait(t.Context()); err != nil || out.Reference != "R1" || y.ID() != x.ID() {
					t.Errorf("Wait = %v, %v", out, err)
				}
			})
		})
	}
}

func TestResumeFindsOnlyWhatTheAgentOpenedForThatContract(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flights := answers(reference)
		planner, _, b := pair(t, nil, flights)
		x := begun(t, planner)
		if _, err := x.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		for name, resume := range map[string]func() error{
			"an unknown id": func() error {
				_, err := agent.Resume(t.Context(), planner, "flights", fresh(), book)
				return err
			},
			"another contract": func() error {
				_, err := agent.Resume(t.Context(), planner, "flights", x.ID(), look)
				return err
			},
			"another peer": func() error {
				_, err := agent.Resume(t.Context(), planner, "hotels", x.ID(), book)
				return err
			},
			"the side that was asked": func() error {
				_, err := agent.Resume(t.Context(), flights, "planner", x.ID(), book)
				return err
			},
		} {
			if err := resume(); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s: %v, want store.ErrNotFound", name, err)
			}
		}
		why := errors.New("in a hurry")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		if _, err := agent.Resume(ctx, planner, "flights", x.ID(), book); !errors.Is(err, why) {
			t.Errorf("under an ended context: %v", err)
		}
		if _, err := agent.Resume(t.Context(), agent.New("homeless"), "flights", x.ID(), book); !errors.Is(err, agent.ErrStopped) {
			t.Errorf("without a host: %v", err)
		}
		if err := b.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := agent.Resume(t.Context(), flights, "planner", x.ID(), book); !errors.Is(err, agent.ErrStopped) {
			t.Errorf("on a stopped host: %v", err)
		}
	})
}

func TestAHandleServesManyGoroutinesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, _, _ := pair(t, nil, answers(func(ctx context.Context, _ Seat) (Booking, error) {
			<-ctx.Done()
			return Booking{Reference: "R1"}, nil
		}))
		x := begun(t, planner)
		at(time.Second)
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				if out, err := x.Wait(t.Context()); err != nil || out.Reference != "R1" {
					t.Errorf("Wait = %v, %v", out, err)
				}
			})
			group.Go(func() {
				if err := x.Cancel(t.Context()); err != nil {
					t.Errorf("Cancel = %v", err)
				}
			})
			group.Go(func() {
				var last protocol.State
				for e, err := range x.Events(t.Context()) {
					if err != nil {
						t.Errorf("Events: %v", err)
						continue
					}
					if acted, ok := e.(*agent.Acted); ok {
						last = acted.To
					}
				}
				if last != "done:ok" {
					t.Errorf("the last act led to %q", last)
				}
			})
		}
		group.Wait()
	})
}

func TestAHandleOfAStoppedHostSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		planner, a, _ := pair(t, nil, held(release))
		x := begun(t, planner)
		waited := make(chan error)
		go func() {
			_, err := x.Wait(t.Context())
			waited <- err
		}()
		at(time.Second)
		if err := a.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-waited; !errors.Is(err, agent.ErrStopped) {
			t.Errorf("Wait while the host stops = %v", err)
		}
		if _, err := x.Wait(t.Context()); !errors.Is(err, agent.ErrStopped) {
			t.Errorf("Wait = %v", err)
		}
		if err := x.Cancel(t.Context()); !errors.Is(err, agent.ErrStopped) {
			t.Errorf("Cancel = %v", err)
		}
		for e, err := range x.Events(t.Context()) {
			if e != nil || !errors.Is(err, agent.ErrStopped) {
				t.Errorf("Events = %v, %v", e, err)
			}
		}
	})
}
