package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

// outliving is a store whose contents outlive its host.
type outliving struct {
	store.Store
	closed atomic.Bool
}

func (o *outliving) Close() error {
	o.closed.Store(true)
	return nil
}

func (o *outliving) Commit(ctx context.Context, w store.WriteSet) error {
	if o.closed.Load() {
		return store.ErrClosed
	}
	return o.Store.Commit(ctx, w)
}

// However few workers there are, however small the backlog is and whenever the
// host is stopped, dropped and started again: what was asked for in time is done
// or refused in words, no more runs at once than may, and what was accepted is
// not forgotten.
func TestNothingThatWasAcceptedIsLost(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		workers := rapid.IntRange(1, 4).Draw(r, "workers")
		backlog := rapid.IntRange(-1, 6).Filter(func(n int) bool { return n != 0 }).Draw(r, "backlog")
		all := rapid.IntRange(1, 14).Draw(r, "questions")
		type plan struct {
			priority    string
			after, work int
			nested      bool
		}
		plans := make([]plan, all)
		for i := range plans {
			plans[i] = plan{rapid.SampledFrom([]string{"", "low", "normal", "high"}).Draw(r, "priority"),
				rapid.IntRange(0, 9000).Draw(r, "after"), rapid.IntRange(0, 3000).Draw(r, "work"), rapid.Bool().Draw(r, "nested")}
		}
		type outage struct {
			after, off int
			kill       bool
		}
		outages := make([]outage, rapid.IntRange(0, 3).Draw(r, "outages"))
		for i := range outages {
			outages[i] = outage{rapid.IntRange(0, 4000).Draw(r, "up"), rapid.IntRange(0, 3000).Draw(r, "down"), rapid.Bool().Draw(r, "kill")}
		}
		synctest.Test(t, func(t *testing.T) {
			var now, most atomic.Int32
			busy := func(d time.Duration, ctx context.Context) {
				n := now.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				select {
				case <-elapsed(d):
				case <-ctx.Done():
				}
				now.Add(-1)
			}
			agents := func() []*agent.Agent {
				var flights *agent.Agent
				flights = agent.New("flights", agent.Handle(book, func(ctx context.Context, s Seat) (Booking, error) {
					var n int
					fmt.Sscanf(s.Flight, "AY%d", &n)
					busy(time.Duration(plans[n].work)*time.Millisecond, ctx)
					if plans[n].nested {
						if _, err := agent.Ask(ctx, flights, "hotels", look, s); err != nil {
							return Booking{}, err
						}
					}
					return Booking{Reference: s.Flight}, ctx.Err()
				}))
				hotels := agent.New("hotels", agent.Handle(look, func(ctx context.Context, s Seat) (Booking, error) {
					busy(100*time.Millisecond, ctx)
					return Booking{Reference: s.Flight}, ctx.Err()
				}))
				return []*agent.Agent{flights, hotels}
			}
			planner := agent.New("planner")
			a := agent.NewHost(quiet(memory.New()), planner)
			if err := a.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			disk := memory.New()
			up := func() *agent.Host {
				b := agent.NewHost(agent.Config{Store: &outliving{Store: disk}, Workers: workers, Backlog: backlog, Drain: time.Second,
					Log: slog.New(slog.DiscardHandler)}, agents()...)
				b.Connect(agent.PeerHost(a))
				if err := b.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				a.Connect(agent.PeerHost(b))
				return b
			}
			b := up()
			results := make(chan error, all)
			for i, p := range plans {
				go func() {
					<-elapsed(time.Duration(p.after) * time.Millisecond)
					flight := fmt.Sprintf("AY%d", i)
					out, err := agent.Ask(t.Context(), planner, "flights", book, Seat{flight}, agent.Within(5*time.Minute), agent.Priority(p.priority))
					if err == nil && out.Reference != flight {
						err = fmt.Errorf("%s came to %s", flight, out.Reference)
					}
					results <- err
				}()
			}
			for _, o := range outages {
				at(time.Duration(o.after) * time.Millisecond)
				if o.kill {
					_ = b.Kill()
				} else if err := b.Stop(t.Context()); err != nil {
					t.Error(err)
				}
				at(time.Duration(o.off) * time.Millisecond)
				b = up()
			}
			for range all {
				err := <-results
				if _, refused := errors.AsType[*protocol.RefusedError](err); err != nil && !refused {
					r.Errorf("it ended with %v", err)
				}
			}
			if int(most.Load()) > workers {
				// What an earlier host was dropped with may still be on its way out.
				killed := false
				for _, o := range outages {
					killed = killed || o.kill
				}
				if !killed {
					r.Errorf("%d ran at once with %d workers", most.Load(), workers)
				}
			}
			at(time.Second)
			if rows, err := disk.TakeOver(t.Context(), uri("flights")); err != nil || len(rows) != 0 {
				r.Errorf("left in the inbox: %v, %v", rows, err)
			}
			if l := b.Load(); l.Running != 0 || l.Waiting != 0 || l.Working != 0 {
				r.Errorf("left in hand: %+v", l)
			}
			_ = b.Stop(context.Background())
			_ = a.Stop(context.Background())
		})
	})
}
