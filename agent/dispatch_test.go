package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store/memory"
)

// bounded starts a planner and, with the configuration, a host of the others.
func bounded(t *testing.T, cfg agent.Config, others ...*agent.Agent) (*agent.Agent, *agent.Host, *agent.Host) {
	t.Helper()
	planner := agent.New("planner")
	a := begin(t, nil, nil, planner)
	if cfg.Store == nil {
		cfg.Store = open(t, filepath.Join(t.TempDir(), "b.db"))
	}
	cfg.Log = slog.New(slog.DiscardHandler)
	b := agent.NewHost(cfg, others...)
	b.Connect(agent.PeerHost(a))
	if err := b.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.Connect(agent.PeerHost(b))
	endsWell(t, b)
	return planner, a, b
}

// barrier is a handler that waits until it is let through, and notes who passed in
// which order and how many were inside at once.
type barrier struct {
	open      chan struct{}
	mu        sync.Mutex
	order     []string
	now, most int
}

func newBarrier() *barrier { return &barrier{open: make(chan struct{})} }

func (g *barrier) pass(ctx context.Context, s Seat) (Booking, error) {
	g.mu.Lock()
	g.order = append(g.order, s.Flight)
	g.now++
	g.most = max(g.most, g.now)
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		g.now--
		g.mu.Unlock()
	}()
	select {
	case <-g.open:
		return Booking{Reference: s.Flight}, nil
	case <-ctx.Done():
		return Booking{}, context.Cause(ctx)
	}
}

func (g *barrier) passed() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.order)
}

func start(t *testing.T, from *agent.Agent, flight string, opts ...agent.AskOption) *agent.Exchange[Booking] {
	t.Helper()
	x, err := agent.Start(t.Context(), from, "flights", book, Seat{flight}, append([]agent.AskOption{agent.Within(10 * time.Minute)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return x
}

func TestNoMoreHandlersRunThanThereAreWorkersAndTheRestWaitsInTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newBarrier()
		planner, _, b := bounded(t, agent.Config{Workers: 3}, answers(g.pass))
		var all []*agent.Exchange[Booking]
		before := runtime.NumGoroutine()
		for n := range 40 {
			all = append(all, start(t, planner, fmt.Sprintf("AY%d", n)))
		}
		at(time.Second)
		if l := b.Load(); l.Working != 3 || l.Running != 3 || l.Waiting != 37 || l.Sending != 0 {
			t.Errorf("in hand: %+v", l)
		}
		if n := runtime.NumGoroutine() - before; n > 10 {
			t.Errorf("%d goroutines more for 40 exchanges of which 3 are worked on", n)
		}
		close(g.open)
		for _, x := range all {
			if _, err := x.Wait(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if g.most != 3 {
			t.Errorf("%d ran at once", g.most)
		}
		at(time.Second)
		if l := b.Load(); l.Working != 0 || l.Running != 0 || l.Waiting != 0 {
			t.Errorf("in hand after all has ended: %+v", l)
		}
	})
}

func TestWhatIsUrgentGoesFirstAndWhatHasWaitedLongEnoughBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := make(chan struct{})
		var mu sync.Mutex
		var order []string
		flights := answers(func(_ context.Context, s Seat) (Booking, error) {
			mu.Lock()
			order = append(order, s.Flight)
			mu.Unlock()
			<-step
			return Booking{Reference: s.Flight}, nil
		})
		planner, _, _ := bounded(t, agent.Config{Workers: 1}, flights)
		start(t, planner, "AY0")
		start(t, planner, "AY1", agent.Priority("low"))
		start(t, planner, "AY2")
		start(t, planner, "AY3", agent.Priority("normal"))
		start(t, planner, "AY4", agent.Priority("high"))
		start(t, planner, "AY5", agent.Priority("high"))
		at(25 * time.Second)
		start(t, planner, "AY6", agent.Priority("high"))
		start(t, planner, "AY7")
		for range 8 {
			step <- struct{}{}
			synctest.Wait()
		}
		// The low one has waited for more than two steps of 10 s, so it goes
		// before the high one that has just come.
		if want := []string{"AY0", "AY4", "AY5", "AY2", "AY3", "AY1", "AY6", "AY7"}; !slices.Equal(order, want) {
			t.Errorf("order %v, want %v", order, want)
		}
	})
}

func TestBeyondTheBacklogAnOpeningActIsNackedAndLeavesNoTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newBarrier()
		flights := answers(g.pass)
		planner, a, b := bounded(t, agent.Config{Workers: 2, Backlog: 3}, flights)
		var all []*agent.Exchange[Booking]
		for n := range 9 {
			all = append(all, start(t, planner, fmt.Sprintf("AY%d", n)))
		}
		if l := b.Load(); l.Working != 2 || l.Waiting != 3 {
			t.Errorf("in hand: %+v", l)
		}
		if n := b.Counts()["violation.backlog"]; n < 4 {
			t.Errorf("%d were turned away", n)
		}
		for _, x := range all[5:] {
			xs, err := b.Store().Exchanges(t.Context(), uri("flights"), x.ID())
			if err != nil || len(xs) != 0 {
				t.Errorf("the receiver has %v, %v of what it turned away", xs, err)
			}
		}
		e := seal(t, opening(planner, flights, book.Name(), protocol.RequestV1), seatJSON)
		told := wantNack(t, hand(t, b, e, token(t, a, planner.URI(), uri("flights"))), envelope.CodeCapacity, guard.ReasonOverloaded)
		if told.RetryAfter <= 0 || !told.Retriable {
			t.Errorf("told %+v", told)
		}
		close(g.open)
		for _, x := range all {
			if _, err := x.Wait(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestABacklogOfNoneLetsInWhatCanRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newBarrier()
		planner, _, b := bounded(t, agent.Config{Workers: 2, Backlog: -1}, answers(g.pass))
		for n := range 3 {
			start(t, planner, fmt.Sprintf("AY%d", n))
		}
		if l := b.Load(); l.Working != 2 || l.Waiting != 0 {
			t.Errorf("in hand: %+v", l)
		}
		close(g.open)
	})
}

func TestWorkThatWaitsForAnotherGivesItsWorkerAway(t *testing.T) {
	for name, wait := range map[string]func(ctx context.Context, self *agent.Agent, to string, s Seat) error{
		"Ask": func(ctx context.Context, self *agent.Agent, to string, s Seat) error {
			_, err := agent.Ask(ctx, self, to, look, s)
			return err
		},
		"several Asks at once": func(ctx context.Context, self *agent.Agent, to string, s Seat) error {
			errs := make(chan error, 4)
			for range 4 {
				go func() {
					_, err := agent.Ask(ctx, self, to, look, s)
					errs <- err
				}()
			}
			return errors.Join(<-errs, <-errs, <-errs, <-errs)
		},
		"Events": func(ctx context.Context, self *agent.Agent, to string, s Seat) error {
			x, err := agent.Start(ctx, self, to, look, s)
			if err != nil {
				return err
			}
			for _, err := range x.Events(ctx) {
				if err != nil {
					return err
				}
			}
			_, err = x.Wait(ctx)
			return err
		},
		"Sleep": func(ctx context.Context, self *agent.Agent, to string, s Seat) error {
			x, err := agent.Start(ctx, self, to, look, s)
			if err != nil {
				return err
			}
			if err := agent.Sleep(ctx, 5*time.Second); err != nil {
				return err
			}
			_, err = x.Wait(ctx)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var inside, most atomic.Int32
				var one, two *agent.Agent
				leaf := func(ctx context.Context, s Seat) (Booking, error) {
					if n := inside.Add(1); n > most.Load() {
						most.Store(n)
					}
					defer inside.Add(-1)
					<-time.After(100 * time.Millisecond)
					return Booking{Reference: "leaf"}, nil
				}
				one = agent.New("one", agent.Handle(book, func(ctx context.Context, s Seat) (Booking, error) {
					return Booking{Reference: "one"}, wait(ctx, one, "two", s)
				}), agent.Handle(look, leaf))
				two = agent.New("two", agent.Handle(look, func(ctx context.Context, s Seat) (Booking, error) {
					_, err := agent.Ask(ctx, two, "one", look, s)
					return Booking{Reference: "two"}, err
				}))
				planner, _, b := bounded(t, agent.Config{Workers: 1}, one, two)
				for range 3 {
					if out, err := agent.Ask(t.Context(), planner, "one", book, seat); err != nil || out.Reference != "one" {
						t.Fatalf("Ask = %v, %v", out, err)
					}
				}
				if most.Load() != 1 {
					t.Errorf("%d were at work at once", most.Load())
				}
				at(time.Second)
				if l := b.Load(); l.Working != 0 || l.Waiting != 0 {
					t.Errorf("in hand: %+v", l)
				}
			})
		})
	}
}

func TestWorkThatComesBackWaitsForAWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newBarrier()
		var back atomic.Bool
		one := agent.New("one", agent.Handle(look, func(ctx context.Context, s Seat) (Booking, error) {
			err := agent.Sleep(ctx, time.Second)
			back.Store(true)
			return Booking{Reference: "one"}, err
		}))
		planner, _, b := bounded(t, agent.Config{Workers: 1}, one, answers(g.pass))
		first := ask(t, planner, "one", look, seat)
		synctest.Wait()
		start(t, planner, "AY1")
		start(t, planner, "AY2")
		at(5 * time.Second)
		if back.Load() {
			t.Error("it went on without a worker")
		}
		if l := b.Load(); l.Working != 1 || l.Running != 2 || l.Waiting != 1 {
			t.Errorf("in hand: %+v", l)
		}
		close(g.open)
		if _, err := first.wait(); err != nil {
			t.Error(err)
		}
	})
}

func TestACancelOfWhatWaitsIsAnsweredAtOnceAndItsHandlerNeverRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newBarrier()
		planner, _, b := bounded(t, agent.Config{Workers: 1}, answers(g.pass))
		start(t, planner, "AY1")
		x := start(t, planner, "AY2")
		if err := x.Cancel(t.Context()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err := x.Wait(t.Context())
		if _, cancelled := errors.AsType[*protocol.CancelledError](err); !cancelled || time.Since(began) > time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		if l := b.Load(); l.Working != 1 || l.Waiting != 0 {
			t.Errorf("in hand: %+v", l)
		}
		if got := g.passed(); len(got) != 1 {
			t.Errorf("ran: %v", got)
		}
		close(g.open)
	})
}

func TestWhatLapsesInLineGivesItsPlaceBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newBarrier()
		planner, _, b := bounded(t, agent.Config{Workers: 1, Backlog: 1}, answers(g.pass))
		start(t, planner, "AY1")
		start(t, planner, "AY2", agent.Within(2*time.Second))
		at(20 * time.Second)
		if l := b.Load(); l.Waiting != 0 {
			t.Errorf("in hand: %+v", l)
		}
		start(t, planner, "AY3")
		if l := b.Load(); l.Waiting != 1 {
			t.Errorf("in hand: %+v", l)
		}
		close(g.open)
	})
}

func TestIdleExchangesHaveNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const all = 4_000
		planner := agent.New("planner")
		b := begin(t, nil, nil, agent.New("flights", agent.Handle(book, reference)))
		disk := memory.New()
		cfg := quiet(disk)
		cfg.Terms = agent.Terms{RetryFirst: time.Hour, RetryMax: time.Hour}
		a := agent.NewHost(cfg, planner)
		a.Connect(agent.PeerHost(b).Through(func(next agent.Transport) agent.Transport { return hearing{next} }))
		if err := a.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer a.Stop(context.Background())
		at(time.Second)
		before := runtime.NumGoroutine()
		for range all {
			if _, err := agent.Start(t.Context(), planner, "flights", book, seat, agent.Within(2*time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		at(time.Minute)
		live, err := disk.Exchanges(t.Context(), planner.URI(), "")
		if err != nil || len(live) != all {
			t.Fatalf("%d exchanges are open, %v", len(live), err)
		}
		if n := runtime.NumGoroutine(); n > before+10 {
			t.Errorf("%d goroutines, %d before", n, before)
		}
	})
}

// hearing takes everything and says nothing of it.
type hearing struct{ agent.Transport }

func (hearing) Send(context.Context, []byte) ([][]byte, error) { return nil, nil }
