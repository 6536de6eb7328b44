package agent_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store"
)

// openingRow is the inbox row of the act that opened the exchange.
func openingRow(t *testing.T, h *agent.Host, conversation string) store.Inbox {
	t.Helper()
	x, err := h.Store().Exchange(t.Context(), store.Key{Owner: uri("flights"), Conversation: conversation, Peer: uri("planner")})
	if err != nil {
		t.Fatal(err)
	}
	row, err := h.Store().Inbox(t.Context(), store.InboxKey{Recipient: uri("flights"), Sender: uri("planner"), MessageID: x.State.Opening})
	if err != nil {
		t.Fatal(err)
	}
	return row
}

func TestTheLeaseOfWhatRunsNeverRunsOutAndWhatWaitsGivesItsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newBarrier()
		planner, _, b := bounded(t, agent.Config{Workers: 1}, answers(g.pass))
		all := []*agent.Exchange[Booking]{start(t, planner, "AY1"), start(t, planner, "AY2"), start(t, planner, "AY3")}
		for n := range 20 {
			at(7 * time.Second)
			for i, x := range all {
				row := openingRow(t, b, x.ID())
				if held := row.LeaseUntil.After(time.Now()); held != (i == 0 || n == 0) || row.Attempt != 1 || row.Status != store.InProgress {
					t.Fatalf("number %d is %+v at %v", i, row, time.Now())
				}
			}
		}
		close(g.open)
		for _, x := range all {
			if _, err := x.Wait(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestWorkWhoseLeaseWasTakenOverIsStoppedAndSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan error, 1)
		flights := answers(func(ctx context.Context, _ Seat) (Booking, error) {
			<-ctx.Done()
			told <- context.Cause(ctx)
			return Booking{Reference: "R1"}, nil
		})
		planner, _, b := bounded(t, agent.Config{}, flights)
		x := start(t, planner, "AY1")
		if _, err := b.Store().TakeOver(t.Context(), uri("flights")); err != nil {
			t.Fatal(err)
		}
		at(15 * time.Second)
		select {
		case cause := <-told:
			if errors.Is(cause, agent.ErrStopped) {
				t.Errorf("it was told %v", cause)
			}
		default:
			t.Fatal("it was not told to stop")
		}
		if n := len(sentOf(t, b, flights, x.ID())); n > 1 { // the agree that was said before
			t.Errorf("%d acts were sent", n)
		}
		if l := b.Load(); l.Running != 0 || b.Counts()["lease.lost"] != 1 {
			t.Errorf("in hand: %+v, counts %v", l, b.Counts())
		}
		if row := openingRow(t, b, x.ID()); row.Attempt != 2 || row.Status != store.InProgress {
			t.Errorf("%+v", row)
		}
	})
}

func TestATermOfTheLeaseIsWhatTheStoreGets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newBarrier()
		planner, _, b := bounded(t, agent.Config{Terms: agent.Terms{Lease: 4 * time.Second, Heartbeat: time.Second},
			Store: open(t, filepath.Join(t.TempDir(), "b.db"))}, answers(g.pass))
		x := start(t, planner, "AY1")
		began := time.Now()
		if row := openingRow(t, b, x.ID()); row.LeaseUntil.Sub(began) != 4*time.Second {
			t.Errorf("%+v", row)
		}
		at(1100 * time.Millisecond)
		if row := openingRow(t, b, x.ID()); row.LeaseUntil.Sub(began) < 5*time.Second {
			t.Errorf("%+v, begun %v", row, began)
		}
		close(g.open)
	})
}

func TestWorkThatGaveItsLeaseBackInLineTakesOneWhenItsTurnComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turn := make(chan struct{})
		planner, _, b := bounded(t, agent.Config{Workers: 1}, buyer(func(context.Context, Price) error {
			<-turn
			return nil
		}))
		offers := []*asking[struct{}]{offering(t.Context(), t, planner, Price{1}), offering(t.Context(), t, planner, Price{2})}
		at(12 * time.Second) // a beat
		turn <- struct{}{}
		synctest.Wait()
		rows, err := b.Store().Inboxes(t.Context(), uri("buyer"), true, 2)
		if err != nil || len(rows) != 1 || !rows[0].LeaseUntil.After(time.Now()) {
			t.Errorf("what runs is %+v, %v, want it under a lease", rows, err)
		}
		turn <- struct{}{}
		for _, o := range offers {
			if _, err := o.wait(); err != nil {
				t.Error(err)
			}
		}
	})
}
