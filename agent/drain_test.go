package agent_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// leaving calls Stop in a goroutine, and returns when the host is about to end.
func leaving(t *testing.T, h *agent.Host, within time.Duration) (ended <-chan error) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		done <- h.Stop(ctx)
	}()
	synctest.Wait()
	return done
}

// relieved opens the store that the first host of the flights had, with another
// host of them.
func relieved(t *testing.T, path string, a *agent.Host, flights *agent.Agent) *agent.Host {
	t.Helper()
	b := beginWith(t, nil, open(t, path), []*agent.Host{a}, flights)
	a.Connect(agent.PeerHost(b))
	return b
}

func TestAHostThatStopsLetsRunningHandlersFinishAndSendsWhatTheyCameTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newBarrier()
		planner, _, b := bounded(t, agent.Config{Workers: 1, Drain: 10 * time.Second}, answers(g.pass))
		running, waiting := start(t, planner, "AY1"), start(t, planner, "AY2")
		began := time.Now()
		ended := leaving(t, b, time.Minute)
		time.AfterFunc(3*time.Second, func() { close(g.open) })
		if out, err := running.Wait(t.Context()); err != nil || out.Reference != "AY1" {
			t.Errorf("what ran ended with %v, %v", out, err)
		}
		if err := <-ended; err != nil || time.Since(began) > 4*time.Second {
			t.Errorf("Stop = %v after %v", err, time.Since(began))
		}
		if got := g.passed(); len(got) != 1 {
			t.Errorf("begun: %v, want nothing new", got)
		}
		if err := waiting.Cancel(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestWhatAHostThatStopsDidNotBeginIsDoneByTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "b.db")
		g := newBarrier()
		planner, a, b := bounded(t, agent.Config{Workers: 1, Drain: time.Second, Store: open(t, path)}, answers(g.pass))
		all := []*agent.Exchange[Booking]{start(t, planner, "AY1"), start(t, planner, "AY2"), start(t, planner, "AY3")}
		if err := <-leaving(t, b, time.Minute); err != nil {
			t.Error(err)
		}
		relieved(t, path, a, answers(func(_ context.Context, s Seat) (Booking, error) { return Booking{Reference: s.Flight}, nil }))
		for i, x := range all {
			if out, err := x.Wait(t.Context()); err != nil || out.Reference != "AY"+string('1'+rune(i)) {
				t.Errorf("%v, %v", out, err)
			}
		}
	})
}

func TestAHostThatStopsTakesOnNothingNewButHearsWhatBelongsToWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var flights *agent.Agent
		flights = agent.New("flights",
			agent.Handle(book, func(ctx context.Context, s Seat) (Booking, error) {
				<-release
				// Another agent of the host, which stops by now.
				return agent.Ask(ctx, flights, "hotels", look, s)
			}))
		hotels := agent.New("hotels", agent.Handle(look, reference))
		planner, a, b := bounded(t, agent.Config{Drain: time.Minute}, flights, hotels)
		x := start(t, planner, "AY1")
		ended := leaving(t, b, 2*time.Minute)
		e := seal(t, opening(planner, flights, book.Name(), protocol.RequestV1), seatJSON)
		told := wantNack(t, hand(t, b, e, token(t, a, planner.URI(), flights.URI())), envelope.CodeCapacity, guard.ReasonOverloaded)
		if told.RetryAfter <= 0 {
			t.Errorf("told %+v", told)
		}
		if xs, err := b.Store().Exchanges(t.Context(), flights.URI(), e.Conversation()); err != nil || len(xs) != 0 {
			t.Errorf("it keeps %v, %v of what it turned away", xs, err)
		}
		if _, err := agent.Ask(t.Context(), flights, "hotels", look, seat); !errors.Is(err, agent.ErrStopped) {
			t.Errorf("a question from outside any handler: %v", err)
		}
		if n := b.Counts()["violation.draining"]; n != 1 {
			t.Errorf("%d were turned away", n)
		}
		close(release)
		if out, err := x.Wait(t.Context()); err != nil || out.Reference != "R1" {
			t.Errorf("what ran ended with %v, %v", out, err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestACancelReachesAHandlerOfAHostThatStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newBarrier()
		planner, _, b := bounded(t, agent.Config{Drain: time.Minute}, answers(g.pass))
		x := start(t, planner, "AY1")
		ended := leaving(t, b, 2*time.Minute)
		began := time.Now()
		if err := x.Cancel(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, err := x.Wait(t.Context())
		if _, cancelled := errors.AsType[*protocol.CancelledError](err); !cancelled {
			t.Errorf("Wait = %v", err)
		}
		if err := <-ended; err != nil || time.Since(began) > time.Second {
			t.Errorf("Stop = %v after %v", err, time.Since(began))
		}
	})
}

func TestAHandlerThatIsToldToStopKeepsWhatItHasDone(t *testing.T) {
	for name, tt := range map[string]struct {
		result error
		again  int32
	}{
		"it returns its result": {nil, 0},
		"it gives up":           {context.Canceled, 1},
		"it refuses":            {agent.Refuse(envelope.CodeCapacity, "closing"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "b.db")
				var cause error
				flights := answers(func(ctx context.Context, _ Seat) (Booking, error) {
					<-ctx.Done()
					cause = context.Cause(ctx)
					<-time.After(2 * time.Second)
					return Booking{Reference: "first"}, tt.result
				})
				planner, a, b := bounded(t, agent.Config{Drain: time.Second, Store: open(t, path)}, flights)
				x := start(t, planner, "AY1")
				if err := <-leaving(t, b, time.Minute); err != nil {
					t.Error(err)
				}
				if !errors.Is(cause, agent.ErrStopped) {
					t.Errorf("it was told %v", cause)
				}
				var again atomic.Int32
				relieved(t, path, a, answers(func(context.Context, Seat) (Booking, error) {
					again.Add(1)
					return Booking{Reference: "second"}, nil
				}))
				want := map[int32]string{0: "first", 1: "second"}[tt.again]
				if out, err := x.Wait(t.Context()); err != nil || out.Reference != want || again.Load() != tt.again {
					t.Errorf("Wait = %v, %v after %d more runs", out, err, again.Load())
				}
			})
		})
	}
}

func TestAPublisherThatIsToldToStopGoesOnInTheNextLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "b.db")
		publisher := func(then func(emit func(Booking) error) error) *agent.Agent {
			return agent.New("flights", agent.Publish(protocol.NewStream[Seat, Booking]("acme.flight.follow/v1"),
				func(ctx context.Context, _ Seat, emit func(Booking) error) error {
					if err := emit(Booking{Reference: "one"}); err != nil {
						return err
					}
					if then != nil {
						return then(emit)
					}
					<-ctx.Done()
					return nil
				}))
		}
		planner, a, b := bounded(t, agent.Config{Drain: time.Second, Workers: 1, Store: open(t, path)}, publisher(nil))
		var got []string
		done := make(chan error, 1)
		go func() {
			for item, err := range agent.Subscribe(t.Context(), planner, "flights", protocol.NewStream[Seat, Booking]("acme.flight.follow/v1"), seat, agent.Within(time.Hour)) {
				if err != nil {
					done <- err
					return
				}
				got = append(got, item.Reference)
			}
			done <- nil
		}()
		at(time.Second)
		if l := b.Load(); l.Working != 0 || l.Running != 1 {
			t.Errorf("in hand: %+v", l)
		}
		if err := <-leaving(t, b, time.Minute); err != nil {
			t.Error(err)
		}
		relieved(t, path, a, publisher(func(emit func(Booking) error) error { return emit(Booking{Reference: "two"}) }))
		if err := <-done; err != nil || strings.Join(got, " ") != "one two" {
			t.Errorf("%v, then %v", got, err)
		}
	})
}

func TestADeadlineOfStopLeavesTimeToTellTheHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newBarrier()
		planner, _, b := bounded(t, agent.Config{Drain: time.Hour}, answers(g.pass))
		start(t, planner, "AY1")
		began := time.Now()
		if err := <-leaving(t, b, 10*time.Second); err != nil || time.Since(began) > 9*time.Second {
			t.Errorf("Stop = %v after %v", err, time.Since(began))
		}
	})
}

func TestStopWaitsNoLongerThanItsContextForAHandlerThatDoesNotHear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := make(chan struct{})
		planner := agent.New("planner")
		b := agent.NewHost(agent.Config{Store: open(t, filepath.Join(t.TempDir(), "b.db")), Log: slog.New(slog.DiscardHandler), Drain: -1},
			planner, answers(func(context.Context, Seat) (Booking, error) { <-deaf; return Booking{Reference: "R1"}, nil }))
		if err := b.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		q := ask(t, planner, "flights", book, seat)
		synctest.Wait()
		first, again := leaving(t, b, 10*time.Second), leaving(t, b, 3*time.Second)
		if err := <-again; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the second Stop = %v", err)
		}
		if err := <-first; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the first Stop = %v", err)
		}
		if err := b.Stop(t.Context()); err != nil {
			t.Errorf("a third Stop = %v", err)
		}
		if _, err := q.wait(); !errors.Is(err, agent.ErrStopped) {
			t.Errorf("whoever waited: %v", err)
		}
		close(deaf)
	})
}

func TestASecondStopReturnsWhenTheFirstHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newBarrier()
		planner, _, b := bounded(t, agent.Config{Drain: 10 * time.Second}, answers(g.pass))
		start(t, planner, "AY1")
		first, again := leaving(t, b, time.Minute), leaving(t, b, time.Minute)
		at(2 * time.Second)
		close(g.open)
		if err := errors.Join(<-again, <-first); err != nil {
			t.Error(err)
		}
		if _, err := b.Store().Meta(t.Context(), store.Meta{}); !errors.Is(err, store.ErrClosed) {
			t.Errorf("the store: %v", err)
		}
	})
}

// sluggish is a model whose start takes until its context ends, or a minute.
type sluggish struct {
	llm.Model
	stopped atomic.Int32
	after   error
}

func (s *sluggish) Start(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(time.Minute):
		return s.after
	}
}

func (s *sluggish) Stop(context.Context) error {
	s.stopped.Add(1)
	return nil
}

func TestStopCutsAStartShort(t *testing.T) {
	for name, end := range map[string]func(*agent.Host) error{
		"Stop": func(h *agent.Host) error { return h.Stop(context.Background()) },
		"Kill": func(h *agent.Host) error { return h.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				disk := open(t, filepath.Join(t.TempDir(), "a.db"))
				h := agent.NewHost(quiet(disk), agent.New("planner", agent.Model(&sluggish{})))
				started := make(chan error, 1)
				go func() { started <- h.Start(t.Context()) }()
				at(5 * time.Second)
				if _, err := h.Deliver(t.Context(), []byte("{}")); !errors.Is(err, agent.ErrStopped) {
					t.Errorf("Deliver before it is ready: %v", err)
				}
				if err := h.Start(t.Context()); err == nil {
					t.Error("it started twice at once")
				}
				began := time.Now()
				if err := end(h); err != nil {
					t.Error(err)
				}
				if err := <-started; !errors.Is(err, agent.ErrStopped) {
					t.Errorf("Start = %v", err)
				}
				if took := time.Since(began); took != 0 {
					t.Errorf("it took %v", took)
				}
				if _, err := disk.Meta(t.Context(), store.Meta{}); !errors.Is(err, store.ErrClosed) {
					t.Errorf("the store: %v", err)
				}
				if err := h.Start(t.Context()); err == nil {
					t.Error("it started after its end")
				}
			})
		})
	}
}

func TestAStartThatFailedCanBeTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &sluggish{after: errors.New("no such model")}
		h := agent.NewHost(quiet(open(t, filepath.Join(t.TempDir(), "a.db"))), agent.New("planner", agent.Model(m)))
		if err := h.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "no such model") {
			t.Fatalf("Start = %v", err)
		}
		m.after = nil
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := h.Stop(t.Context()); err != nil || m.stopped.Load() != 1 {
			t.Errorf("Stop = %v, the model was stopped %d times", err, m.stopped.Load())
		}
	})
}
