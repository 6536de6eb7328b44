package agent_test

import (
	"context"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store"
	faults "github.com/parley-agents/parley/store/faulty"
)

// series are the hosts of an agent, one after the other on one store, beside a
// host that stays.
type series struct {
	t     *testing.T
	other *agent.Host
	path  string
	cfg   agent.Config
	made  func() *agent.Agent

	agent *agent.Agent
	host  *agent.Host
}

func living(t *testing.T, other *agent.Host, cfg agent.Config, made func() *agent.Agent) *series {
	l := &series{t: t, other: other, path: filepath.Join(t.TempDir(), "b.db"), cfg: cfg, made: made}
	l.cfg.Log, l.cfg.Drain = quiet(nil).Log, -1
	l.next()
	t.Cleanup(func() {
		if err := l.host.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return l
}

func (l *series) next() {
	l.t.Helper()
	l.cfg.Store, l.agent = open(l.t, l.path), l.made()
	l.host = agent.NewHost(l.cfg, l.agent)
	l.host.Connect(agent.PeerHost(l.other))
	if err := l.host.Start(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
	l.other.Connect(agent.PeerHost(l.host))
}

// again ends the host in order, or as a crash would, and starts the next one.
func (l *series) again(crash bool) {
	l.t.Helper()
	end := l.host.Kill
	if !crash {
		end = func() error { return l.host.Stop(context.Background()) }
	}
	if err := end(); err != nil {
		l.t.Fatal(err)
	}
	l.next()
}

// runs are those of the work in progress, the oldest first.
func (l *series) runs() (list []int64) {
	l.t.Helper()
	rows, err := l.host.Store().Inboxes(l.t.Context(), l.agent.URI(), true, 9)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, row := range rows {
		list = append(list, row.Runs)
	}
	slices.Reverse(list)
	return list
}

func TestAProposalThatWaitsForItsAwardIsNoPoisonHoweverItsHostEnds(t *testing.T) {
	for name, crash := range map[string]bool{"in order": false, "by crashes": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				planner := agent.New("planner")
				a := begin(t, nil, nil, planner)
				l := living(t, a, agent.Config{}, func() *agent.Agent { return bidder("ann", euros(50), by("ann"), agent.Holds(time.Hour)) })
				q := underway(t, func(opened agent.AskOption) (agent.Auctioned[Price, Done], error) {
					return agent.CallForProposals(t.Context(), planner, []string{"ann"}, haul, piano,
						agent.AuctionTerms[Job, Price]{Pick: pickAfter(20 * time.Second)}, opened, agent.Within(time.Minute))
				})
				at(time.Second)
				for range 10 {
					l.again(crash)
					at(time.Second)
				}
				if got := l.runs(); !slices.Equal(got, []int64{0}) {
					t.Errorf("runs %v", got)
				}
				if out, err := q.wait(); err != nil || !slices.Equal(delivered(out), []string{"ann"}) {
					t.Errorf("CallForProposals = %+v, %v", out, err)
				}
			})
		})
	}
}

func TestAnAwardWhoseWorkEndsItsHostIsPoison(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := agent.New("planner")
		a := begin(t, nil, nil, planner)
		var begun atomic.Int32
		l := living(t, a, agent.Config{}, func() *agent.Agent {
			return bidder("ann", euros(50), func(ctx context.Context) (Done, error) {
				begun.Add(1)
				<-ctx.Done()
				return Done{}, context.Cause(ctx)
			})
		})
		q := underway(t, func(opened agent.AskOption) (agent.Auctioned[Price, Done], error) {
			return agent.CallForProposals(t.Context(), planner, []string{"ann"}, haul, piano, best, opened, agent.Within(time.Minute))
		})
		for range 5 {
			at(time.Second)
			l.again(true)
		}
		at(time.Second)
		if _, err := q.wait(); begun.Load() != 5 || onlyLetter(t, l.host, l.agent).Attempts != 5 {
			t.Errorf("it was begun %d times, %v", begun.Load(), err)
		}
	})
}

func TestWorkThatWaitsForAPersonOutlastsOrderlyRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := agent.New("planner")
		a := begin(t, nil, nil, planner)
		said := make(chan struct{})
		l := living(t, a, agent.Config{}, func() *agent.Agent {
			return answers(func(ctx context.Context, _ Seat) (Booking, error) {
				select {
				case <-said:
					return reference(ctx, seat)
				case <-ctx.Done():
					return Booking{}, context.Cause(ctx)
				}
			})
		})
		q := ask(t, planner, "flights", book, seat, agent.Within(time.Hour))
		for range 6 {
			at(time.Minute)
			l.again(false)
		}
		at(time.Second)
		if got := l.runs(); !slices.Equal(got, []int64{0}) {
			t.Errorf("runs %v", got)
		}
		close(said)
		if out, err := q.wait(); err != nil || out.Reference != "R1" {
			t.Errorf("Ask = %+v, %v", out, err)
		}
	})
}

func TestALiveSubscriptionOutlastsOrderlyRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := agent.New("planner")
		a := begin(t, nil, nil, planner)
		l := living(t, a, agent.Config{}, func() *agent.Agent { return source(quietly(make(chan error, 20))) })
		ctx, enough := context.WithCancel(t.Context())
		sub := subscribe(ctx, t, planner, nil, agent.Within(24*time.Hour))
		for range 6 {
			at(5 * time.Second)
			l.again(false)
		}
		at(time.Second)
		if got := l.runs(); !slices.Equal(got, []int64{0}) || state(t, l.host, l.agent, sub.id) != "active" {
			t.Errorf("runs %v, in %q", got, state(t, l.host, l.agent, sub.id))
		}
		enough()
		if got, err := sub.wait(); !slices.Equal(got, upTo(1)) {
			t.Errorf("told %v, %v", got, err)
		}
	})
}

func TestACrashWithWorkInHandLongAfterItBeganIsItsFirstOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := agent.New("planner")
		a := begin(t, nil, nil, planner)
		terms := agent.Terms{Lease: 20 * time.Minute, Heartbeat: 9 * time.Minute}
		l := living(t, a, agent.Config{Terms: terms}, func() *agent.Agent {
			return answers(func(ctx context.Context, _ Seat) (Booking, error) { <-ctx.Done(); return Booking{}, context.Cause(ctx) })
		})
		q := ask(t, planner, "flights", book, seat, agent.Within(24*time.Hour))
		for i, life := range []struct {
			lasts time.Duration
			runs  int64
		}{{time.Minute, 1}, {time.Minute, 2}, {80 * time.Minute, 1}, {80 * time.Minute, 1}, {time.Minute, 2}} {
			at(life.lasts)
			l.again(true)
			if got := l.runs(); !slices.Equal(got, []int64{life.runs}) || q.ended() {
				t.Errorf("after life %d: runs %v", i, got)
			}
		}
	})
}

func TestARestartStormCountsForTheWorkInHandAndNotForWhatWaits(t *testing.T) {
	for name, tt := range map[string]struct {
		first time.Duration // that the first life lasts
		waits int64         // runs of what waits
	}{"accepted just before": {time.Second, 1}, "waiting for a while": {11 * time.Second, 0}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				planner := agent.New("planner")
				a := begin(t, nil, nil, planner)
				l := living(t, a, agent.Config{Workers: 1}, func() *agent.Agent {
					return answers(func(ctx context.Context, s Seat) (Booking, error) {
						if s.Flight == "AY1" {
							<-ctx.Done()
							return Booking{}, context.Cause(ctx)
						}
						return reference(ctx, s)
					})
				})
				fatal := start(t, planner, "AY1")
				at(time.Second)
				waiting := start(t, planner, "AY2")
				at(tt.first)
				for n := range int64(4) {
					l.again(true)
					if got := l.runs(); !slices.Equal(got, []int64{n + 1, tt.waits}) {
						t.Fatalf("after crash %d: runs %v", n+1, got)
					}
					at(time.Second)
				}
				l.again(true)
				if out, err := waiting.Wait(t.Context()); err != nil || out.Reference != "R1" {
					t.Errorf("what waited = %+v, %v", out, err)
				}
				_, err := fatal.Wait(t.Context())
				if kind, e := ending(err); kind != "failed" || e.Reason != "poison" {
					t.Errorf("what ended the host = %v", err)
				}
			})
		})
	}
}

func TestAStopThatCannotGiveLeasesBackStillClosesTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var full atomic.Bool
		path := filepath.Join(t.TempDir(), "b.db")
		cfg := agent.Config{Drain: -1, Store: faults.New(open(t, path), func(side faults.Side, call string) error {
			if side == faults.Before && call == "Commit" && full.Load() {
				return store.ErrFull
			}
			return nil
		})}
		planner, _, b := bounded(t, cfg, answers(func(ctx context.Context, _ Seat) (Booking, error) {
			<-ctx.Done()
			return Booking{}, context.Cause(ctx)
		}))
		x := start(t, planner, "AY1")
		full.Store(true)
		if err := b.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		s := open(t, path)
		row, err := s.TakeOver(t.Context(), uri("flights"))
		if err != nil || len(row) != 1 || row[0].Runs != 1 || row[0].Conversation != x.ID() {
			t.Errorf("rows %+v, %v", row, err)
		}
	})
}
