package agent_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// It waits by the system's clock, since what it proves is that nothing hangs.
func TestAGatherWithoutAnyAnswerEndsAtItsDeadline(t *testing.T) {
	c := clock()
	var names, missing []string
	var silent []*agent.Agent
	for n := range 20 {
		name := fmt.Sprintf("juror%02d", n)
		names, missing = append(names, name), append(missing, uri(name))
		silent = append(silent, juror(name, func(ctx context.Context) (Price, error) { <-ctx.Done(); return Price{}, context.Cause(ctx) }))
	}
	planner, _, _ := pair(t, c, silent...)
	g := gathering(t.Context(), t, planner, names, agent.GatherTerms{}, agent.Within(10*time.Second))
	c.Advance(10 * time.Second)
	select {
	case <-g.done:
		unmet(t, g.err, protocol.TerminalTimedOut, missing...)
	case <-time.After(5 * time.Second):
		t.Fatal("the gather does not end")
	}
}

// The look at the gather comes before its timers here, as it may at any start;
// time is the system's as above.
func TestAGatherWhoseTimeIsOverWhenItsHostStartsIsFenced(t *testing.T) {
	c, path := clock(), filepath.Join(t.TempDir(), "a.db")
	planner := agent.New("planner")
	a := begin(t, c, open(t, path), planner)
	b := begin(t, c, nil, juror("ann", func(ctx context.Context) (Price, error) { <-ctx.Done(); return Price{}, context.Cause(ctx) }))
	agent.Introduce(a, b)
	g := gathering(t.Context(), t, planner, []string{"ann"}, agent.GatherTerms{}, agent.Within(10*time.Second))
	if err := a.Kill(); err != nil {
		t.Fatal(err)
	}
	c.Advance(time.Minute)
	disk := &deaf{holding{Store: open(t, path)}}
	disk.held.Store(true)
	again := agent.New("planner")
	a = beginWith(t, c, disk, []*agent.Host{b}, again)
	for give := time.After(5 * time.Second); len(logged(t, a, again.URI(), g.id, "!fence")) == 0; {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-give:
			t.Fatal("the gather is not fenced")
		}
	}
}

// reopened starts a host of the planner's store anew, wired to the others.
func reopened(t *testing.T, path string, others ...*agent.Host) (*agent.Agent, *agent.Host) {
	t.Helper()
	planner := agent.New("planner")
	a := beginWith(t, nil, open(t, path), others, planner)
	for _, b := range others {
		b.Connect(agent.PeerHost(a))
	}
	return planner, a
}

// fences picks the commit of a gather's fence, contributes that of the n-th
// contribution as the coordinator hears it.
func fences(w store.WriteSet) bool {
	return slices.ContainsFunc(w.Entries, func(e store.Entry) bool { return e.Kind == store.Reduced })
}

func contributes(n int32) func(store.WriteSet) bool {
	var seen atomic.Int32
	return func(w store.WriteSet) bool {
		return slices.ContainsFunc(w.Entries, func(e store.Entry) bool { return e.To == "contributed" }) && seen.Add(1) == n
	}
}

func TestAGatherWhoseHostDiesIsFencedOnceByTheNextOne(t *testing.T) {
	for name, tt := range map[string]struct {
		when  func(store.WriteSet) bool
		after bool
		want  protocol.Terminal
	}{
		// Nobody asks again after the restart, so what comes then is not read.
		"between contributions":       {contributes(2), true, protocol.TerminalTimedOut},
		"after the last contribution": {contributes(3), true, protocol.TerminalCompleted},
		"before the fence":            {fences, false, protocol.TerminalCompleted},
		"after the fence":             {fences, true, protocol.TerminalCompleted},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "a.db")
				disk := &crashing{Store: open(t, path), when: tt.when, after: tt.after}
				disk.armed.Store(true)
				planner := agent.New("planner")
				a, b := begin(t, nil, disk, planner), begin(t, nil, nil, jury(euros(70), euros(50), euros(60))...)
				agent.Introduce(a, b)
				disk.crash = func() {
					if err := a.Kill(); err != nil {
						t.Error(err)
					}
				}
				g := gathering(t.Context(), t, planner, jurors, agent.GatherTerms{})
				if _, err := g.wait(); !errors.Is(err, agent.ErrStopped) {
					t.Fatalf("Gather = %v", err)
				}
				at(0) // the store is closed by then
				again, c := reopened(t, path, b)
				at(2 * time.Minute)
				if got := concluded(t, c, again, g.id); got != tt.want {
					t.Errorf("the gather ended %s, want %s", got, tt.want)
				}
				for _, m := range jurors {
					if got := side(t, b, uri(m), g.id, again.URI()).State; got != "done:closed" || len(logged(t, b, uri(m), g.id, "?fence")) != 1 {
						t.Errorf("%s ended %s", m, got)
					}
				}
			})
		})
	}
}

func TestAMemberThatDiesContributesOnceAfterReopening(t *testing.T) {
	contribution := func(w store.WriteSet) bool {
		return slices.ContainsFunc(w.Entries, func(e store.Entry) bool { return e.Event == "!inform~" })
	}
	for name, tt := range map[string]struct {
		after bool
		runs  int32
	}{"before its contribution is durable": {false, 2}, "after its contribution is durable": {true, 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var runs atomic.Int32
				ann := func() *agent.Agent {
					return juror("ann", func(context.Context) (Price, error) { runs.Add(1); return Price{70}, nil })
				}
				path := filepath.Join(t.TempDir(), "b.db")
				disk := &crashing{Store: open(t, path), when: contribution, after: tt.after}
				disk.armed.Store(true)
				planner := agent.New("planner")
				a, b := begin(t, nil, nil, planner), begin(t, nil, disk, ann())
				agent.Introduce(a, b)
				disk.crash = func() {
					go func() {
						if err := b.Kill(); err != nil {
							t.Error(err)
						}
						agent.Introduce(a, beginWith(t, nil, open(t, path), []*agent.Host{a}, ann()))
					}()
				}
				out, err := agent.Gather(t.Context(), planner, []string{"ann"}, opinion, piano, agent.GatherTerms{})
				if err != nil || string(out.Value) != `[{"euros":70}]` || runs.Load() != tt.runs {
					t.Errorf("Gather = %+v, %v after %d runs, want %d", out, err, runs.Load(), tt.runs)
				}
				at(time.Minute)
				if got := concluded(t, a, planner, out.Conversation); got != protocol.TerminalCompleted {
					t.Errorf("the gather ended %s", got)
				}
			})
		})
	}
}

// nested is lives of a middle agent that runs verb inside its handler.
func nested(t *testing.T, when func(store.WriteSet) bool, afterwards bool, verb func(ctx context.Context, m *agent.Agent, life int32) (string, error), others ...*agent.Agent) (Booking, error) {
	t.Helper()
	var life atomic.Int32
	middle := func(func()) *agent.Agent {
		var m *agent.Agent
		m = agent.New("middle", agent.Handle(look, func(ctx context.Context, _ Seat) (Booking, error) {
			said, err := verb(ctx, m, life.Add(1))
			return Booking{Reference: said}, err
		}))
		return m
	}
	return lives{when: when, after: afterwards, first: middle, second: middle(nil), others: others}.ask(t)
}

func TestASecondRunOfAHandlerMeetsTheGatherOfTheFirst(t *testing.T) {
	for name, tt := range map[string]struct {
		when  func(store.WriteSet) bool
		after bool
	}{
		"between contributions": {contributes(2), true},
		"before the fence":      {fences, false},
		"after the fence":       {fences, true},
		"when it is over": {func(w store.WriteSet) bool {
			return slices.ContainsFunc(w.Entries, func(e store.Entry) bool { return e.Kind == store.Concluded })
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				runs, ids := map[string]int{}, map[string]bool{}
				counts := func(name string, wait time.Duration, n int) *agent.Agent {
					return juror(name, after(wait, func(context.Context) (Price, error) {
						mu.Lock()
						defer mu.Unlock()
						runs[name]++
						return Price{n}, nil
					}))
				}
				out, err := nested(t, tt.when, tt.after, func(ctx context.Context, m *agent.Agent, _ int32) (string, error) {
					g, err := agent.Gather(ctx, m, jurors, opinion, piano, agent.GatherTerms{}, agent.Opened(func(id string) {
						mu.Lock()
						defer mu.Unlock()
						ids[id] = true
					}))
					return string(g.Value), err
				}, counts("ann", time.Second, 70), counts("bob", 2*time.Second, 50), counts("cid", 3*time.Second, 60))
				if err != nil || out.Reference != `[{"euros":70},{"euros":50},{"euros":60}]` {
					t.Errorf("Ask = %v, %v", out, err)
				}
				mu.Lock()
				defer mu.Unlock()
				if len(ids) != 1 || fmt.Sprint(runs) != "map[ann:1 bob:1 cid:1]" {
					t.Errorf("conversations %v, members ran %v", ids, runs)
				}
			})
		})
	}
}

func TestABidderThatDiesWhilePerformingResumesUnderTheSameEffectKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "b.db")
		var keys []string
		var b *agent.Host
		planner := agent.New("planner")
		a := begin(t, nil, nil, planner)
		var ann func() *agent.Agent
		ann = func() *agent.Agent {
			return bidder("ann", euros(50), func(ctx context.Context) (Done, error) {
				keys = append(keys, agent.EffectKey(ctx))
				if len(keys) == 1 {
					dying := b
					go func() {
						if err := dying.Kill(); err != nil {
							t.Error(err)
						}
						agent.Introduce(a, beginWith(t, nil, open(t, path), []*agent.Host{a}, ann()))
					}()
					<-ctx.Done()
					return Done{}, context.Cause(ctx)
				}
				return Done{By: "ann"}, nil
			})
		}
		b = begin(t, nil, open(t, path), ann())
		agent.Introduce(a, b)
		out, err := agent.CallForProposals(t.Context(), planner, []string{"ann"}, haul, piano, best)
		if err != nil || !slices.Equal(delivered(out), []string{"ann"}) {
			t.Errorf("CallForProposals = %+v, %v", out, err)
		}
		if len(keys) != 2 || keys[0] != keys[1] || keys[0] == "" {
			t.Errorf("it was performed under the keys %v, want twice under one", keys)
		}
		at(time.Minute)
		concluded(t, a, planner, out.Conversation)
	})
}

func TestProposalsThatNobodyDecidesOnAreCancelledAtTheirDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "a.db")
		planner := agent.New("planner")
		a, b := begin(t, nil, open(t, path), planner), begin(t, nil, nil, bidder("ann", euros(50), never), bidder("bob", euros(60), never))
		agent.Introduce(a, b)
		g := calling(t.Context(), t, planner, []string{"ann", "bob"}, agent.AuctionTerms[Job, Price]{Pick: pickAfter(time.Hour)})
		at(time.Second)
		if err := a.Kill(); err != nil {
			t.Fatal(err)
		}
		again, c := reopened(t, path, b)
		at(58 * time.Second)
		if got := side(t, b, uri("ann"), g.id, again.URI()).State; got != "proposed" {
			t.Errorf("a second before its deadline the proposal is in %s", got)
		}
		at(2 * time.Second)
		for _, m := range []string{"ann", "bob"} {
			if got := side(t, b, uri(m), g.id, again.URI()).State; got != "done:cancelled" {
				t.Errorf("%s ended %s", m, got)
			}
		}
		if got := concluded(t, c, again, g.id); got != protocol.TerminalTimedOut {
			t.Errorf("the auction ended %s: its time was over, and nobody called it off", got)
		}
		at(time.Hour)
		if _, err := g.wait(); err == nil {
			t.Error("the auction of the dead host came to something")
		}
	})
}

// awards picks the commit of an award, ranks that of a recorded ranking.
func awards(w store.WriteSet) bool {
	return slices.ContainsFunc(w.Entries, func(e store.Entry) bool { return e.Event == "!agree" && e.To == "awarded" })
}

func TestASecondRunOfAHandlerFollowsTheRecordedChoice(t *testing.T) {
	for name, after := range map[string]bool{"between choice and award": false, "after the award": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var runs, picks atomic.Int32
				ann := bidder("ann", euros(70), never)
				bob := bidder("bob", euros(50), func(context.Context) (Done, error) { return Done{By: fmt.Sprintf("bob%d", runs.Add(1))}, nil })
				out, err := nested(t, awards, after, func(ctx context.Context, m *agent.Agent, life int32) (string, error) {
					out, err := agent.CallForProposals(ctx, m, []string{"ann", "bob"}, haul, piano, agent.AuctionTerms[Job, Price]{
						Pick: func(ctx context.Context, bids []agent.Tender[Price]) ([]agent.Tender[Price], error) {
							if picks.Add(1) > 1 {
								return bids[:1], nil // another choice, if it were asked for again
							}
							return cheapest(ctx, bids)
						}})
					return fmt.Sprint(delivered(out)), err
				}, ann, bob)
				if err != nil || out.Reference != "[bob1]" || picks.Load() != 1 || runs.Load() != 1 {
					t.Errorf("Ask = %v, %v after %d choices and %d runs", out, err, picks.Load(), runs.Load())
				}
			})
		})
	}
}

func TestASecondRunPassesOverAChosenProposalThatHasLapsedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "b.db")
		middle := func(begins time.Duration) *agent.Agent {
			var m *agent.Agent
			m = agent.New("middle", agent.Handle(look, func(ctx context.Context, _ Seat) (Booking, error) {
				<-time.After(begins) // so that the lapsed proposal is cancelled before it is met again
				out, err := agent.CallForProposals(ctx, m, []string{"ann", "bob"}, haul, piano, best)
				return Booking{Reference: fmt.Sprint(delivered(out))}, err
			}))
			return m
		}
		planner := agent.New("planner")
		a := begin(t, nil, nil, planner, bidder("ann", euros(70), by("ann"), agent.Holds(time.Hour)), bidder("bob", euros(50), never, agent.Holds(time.Second)))
		disk := &crashing{Store: open(t, path), when: awards}
		disk.armed.Store(true)
		b := begin(t, nil, disk, middle(0))
		agent.Introduce(a, b)
		disk.crash = func() {
			if err := b.Kill(); err != nil {
				t.Error(err)
			}
		}
		q := ask(t, planner, "middle", look, seat, agent.Within(10*time.Minute))
		at(40 * time.Second) // bob's proposal lapses after 31
		agent.Introduce(a, beginWith(t, nil, open(t, path), []*agent.Host{a}, middle(time.Second)))
		if out, err := q.wait(); err != nil || out.Reference != "[ann]" {
			t.Errorf("Ask = %v, %v, want that ann stood by", out, err)
		}
	})
}
