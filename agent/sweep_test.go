package agent_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

// swept is a call of Store.Sweep.
type swept struct {
	at, before time.Time
	limit      int
}

// broom is a store that notes how it is swept.
type broom struct {
	store.Store
	mu    sync.Mutex
	calls []swept
	more  int // how many calls leave something
	err   error
}

func (b *broom) Sweep(_ context.Context, now, before time.Time, limit int) (store.Swept, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = append(b.calls, swept{now, before, limit})
	if b.more > 0 {
		b.more--
		return store.Swept{More: true}, b.err
	}
	return store.Swept{}, b.err
}

// taken returns the calls since it was last called.
func (b *broom) taken() []swept {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	calls := b.calls
	b.calls = nil
	return calls
}

// sweeping starts a host that is swept by hand.
func sweeping(t *testing.T, retention time.Duration) (*agent.Host, *broom, *agenttest.Clock) {
	t.Helper()
	b, c := &broom{Store: memory.New()}, clock()
	cfg := quiet(b)
	cfg.Clock, cfg.Retention = c, retention
	h := agent.NewHost(cfg, agent.New("planner"))
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	endsWell(t, h)
	synctest.Wait()
	return h, b, c
}

func TestAHostForgetsNowAndThenAndStopsWithItself(t *testing.T) {
	for name, tt := range map[string]struct {
		retention time.Duration
		before    func(now time.Time) time.Time
	}{
		"keeping conversations for ever": {0, func(time.Time) time.Time { return time.Time{} }},
		"keeping them for a day":         {24 * time.Hour, func(now time.Time) time.Time { return now.Add(-24 * time.Hour) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, b, c := sweeping(t, tt.retention)
				for _, wait := range []time.Duration{time.Minute, 10 * time.Minute, 10 * time.Minute} {
					c.Advance(wait - time.Millisecond)
					if calls := b.taken(); len(calls) > 0 {
						t.Errorf("it swept before its time: %v", calls)
					}
					c.Advance(time.Millisecond)
					calls := b.taken()
					if len(calls) != 1 || !calls[0].at.Equal(c.Now()) || !calls[0].before.Equal(tt.before(c.Now())) || calls[0].limit != 256 {
						t.Errorf("it swept %v", calls)
					}
				}
				if err := h.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
				c.Advance(time.Hour)
				if calls := b.taken(); len(calls) > 0 {
					t.Errorf("the stopped host swept %v", calls)
				}
			})
		})
	}
}

func TestBetweenTwoBatchesWhatWaitsForTheStoreGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, b, c := sweeping(t, 0)
		b.more = 3
		c.Advance(time.Minute)
		for left := 3; left >= 0; left-- {
			if n := len(b.taken()); n != 1 {
				t.Errorf("with %d batches left it swept %d at once", left, n)
			}
			c.Advance(100 * time.Millisecond)
		}
		if n := len(b.taken()); n != 0 {
			t.Errorf("with nothing left it swept %d", n)
		}
	})
}

func TestAHostThatIsStoppedBetweenTwoBatchesIsStoppedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, b, c := sweeping(t, 0)
		b.more = 1000
		c.Advance(time.Minute)
		synctest.Wait()
		if err := h.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(b.taken()); n != 1 {
			t.Errorf("it swept %d batches", n)
		}
	})
}

func TestASweepThatFailsIsTriedAgainAtItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, b, c := sweeping(t, 0)
		b.err = errors.New("the disk is gone")
		for _, wait := range []time.Duration{time.Minute, 10 * time.Minute} {
			c.Advance(wait)
			if n := len(b.taken()); n != 1 {
				t.Errorf("it swept %d times", n)
			}
		}
	})
}

func TestWhatHasEndedIsForgottenAfterItsRetention(t *testing.T) {
	for name, tt := range map[string]struct {
		retention time.Duration
		kept      bool
	}{"for ever": {0, true}, "a day": {24 * time.Hour, false}, "a year": {365 * 24 * time.Hour, true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := clock()
				planner := agent.New("planner")
				var hosts []*agent.Host
				for _, who := range []*agent.Agent{planner, answers(reference)} {
					cfg := quiet(memory.New())
					cfg.Clock, cfg.Retention = c, tt.retention
					h := agent.NewHost(cfg, who)
					if err := h.Start(t.Context()); err != nil {
						t.Fatal(err)
					}
					endsWell(t, h)
					hosts = append(hosts, h)
				}
				agent.Introduce(hosts...)
				q := ask(t, planner, "flights", look, seat)
				if _, err := q.wait(); err != nil {
					t.Fatal(err)
				}
				opening := sentOf(t, hosts[0], planner, q.id)[0]
				known := func() (list []bool) {
					_, err := hosts[1].Store().Inbox(t.Context(), store.InboxKey{Recipient: uri("flights"), Sender: planner.URI(), MessageID: opening.ID()})
					list = append(list, err == nil)
					for i, owner := range []string{planner.URI(), uri("flights")} {
						exchanges, err := hosts[i].Store().Exchanges(t.Context(), owner, q.id)
						list = append(list, err == nil && len(exchanges) == 1)
					}
					return list
				}
				for range 23 * 6 {
					c.Advance(10 * time.Minute)
					synctest.Wait()
				}
				if got := known(); !slices.Equal(got, []bool{true, true, true}) {
					t.Errorf("23 hours later it knows %v of the message and both sides of its exchange", got)
				}
				for range 2 * 24 * 6 {
					c.Advance(10 * time.Minute)
					synctest.Wait()
				}
				if got := known(); !slices.Equal(got, []bool{false, tt.kept, tt.kept}) {
					t.Errorf("three days later it knows %v of the message and both sides of its exchange", got)
				}
			})
		})
	}
}
