package agent_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

func listened(t *testing.T, publisher *agent.Agent) *box {
	t.Helper()
	b := boxed(t, nil, publisher, ticks.Name(), ticks.Protocol(), `{"task":"move the piano"}`, func(h *envelope.Header) { h.ReplyBy = h.Timestamp.Add(time.Hour) })
	at(time.Second)
	return b
}

func TestAMailboxOfAStreamLivesAsLongAsSomebodyReadsIt(t *testing.T) {
	for name, reads := range map[string]func(ctx context.Context, t *testing.T, b *box){
		"by waiting": func(ctx context.Context, t *testing.T, b *box) {
			for ctx.Err() == nil {
				moved, release := b.host.Follow(b.who.URI(), b.task())
				select {
				case <-moved:
				case <-ctx.Done():
				}
				release()
			}
		},
		"by polling": func(ctx context.Context, t *testing.T, b *box) {
			for ctx.Err() == nil {
				if err := b.host.Heard(ctx, b.tasks(t)[0]); err != nil {
					t.Error(err)
				}
				select {
				case <-time.After(9 * time.Second):
				case <-ctx.Done():
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan error, 1)
				b := listened(t, source(quietly(ended)))
				ctx, leave := context.WithCancel(t.Context())
				gone := make(chan struct{})
				go func() { defer close(gone); reads(ctx, t, b) }()
				at(5 * time.Minute)
				if got := b.state(t); got.Done() {
					t.Fatalf("while somebody reads it is in %q", got)
				}
				steps := b.tasks(t)[0].Version
				if steps > 40 {
					t.Errorf("it took %d steps to stay alive for five minutes", steps)
				}
				leave()
				<-gone
				left := time.Now()
				<-ended
				if took := time.Since(left); took > protocol.Lease || took < protocol.Lease/3 {
					t.Errorf("it ended %v after the reader left", took)
				}
				synctest.Wait()
				if x := b.tasks(t)[0].State; x.State != "done:failed" || x.Error == nil || x.Error.Code != envelope.CodeDeadline {
					t.Errorf("it is in %q with %+v", x.State, x.Error)
				}
				b.unsent(t)
			})
		})
	}
}

func TestAMailboxOfAStreamThatNobodyReadsLapses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		b := listened(t, source(quietly(ended)))
		// Who waits for another task, or has stopped waiting, does not count.
		_, release := b.host.Follow(b.who.URI(), "another")
		defer release()
		_, done := b.host.Follow(b.who.URI(), b.task())
		done()
		<-ended
		synctest.Wait()
		if got := b.state(t); got != "done:failed" {
			t.Errorf("it is in %q", got)
		}
	})
}

func TestASignOfLifeIsWrittenDownOnlyWhenItIsNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		b := listened(t, source(quietly(ended)))
		before := b.tasks(t)[0]
		for range 3 {
			if err := b.host.Heard(t.Context(), before); err != nil {
				t.Error(err)
			}
		}
		if x := b.tasks(t)[0]; x.Version != before.Version {
			t.Errorf("a lease that is fresh was renewed: %+v", x)
		}
		at(15 * time.Second)
		for range 3 {
			if err := b.host.Heard(t.Context(), before); err != nil { // as it was read
				t.Error(err)
			}
		}
		x := b.tasks(t)[0]
		if x.Version != before.Version+1 || time.Until(x.State.LeaseBy) != protocol.Lease {
			t.Errorf("the lease of three signs of life: %+v", x)
		}
		if err := b.host.Heard(t.Context(), store.Exchange{Key: store.Key{Owner: b.who.URI(), Conversation: fresh(), Peer: uri("planner")}}); err != nil {
			t.Errorf("an exchange without a lease: %v", err)
		}
		<-ended
	})
}

func TestNothingThatIsToldToAMailboxWaitsForItsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan time.Time, 1)
		began := time.Now()
		b := listened(t, source(func(ctx context.Context, emit emitTick) error {
			for n := range 200 {
				if err := emit(Tick{n + 1}); err != nil {
					return err
				}
			}
			told <- time.Now()
			return nil
		}))
		if took := (<-told).Sub(began); took != 0 {
			t.Errorf("telling 200 items took %v", took)
		}
		at(time.Second)
		if said := b.said(t); len(said) != 202 || b.state(t) != "done:ended" {
			t.Errorf("it is in %q after %d acts", b.state(t), len(said))
		}
		b.unsent(t)
	})
}

// overtaken is a store in which something comes between the listing of a lease's
// end as due and what is done about it.
type overtaken struct {
	store.Store
	between func()
}

func (o *overtaken) Due(ctx context.Context, owners []string, now time.Time, limit int) (store.Due, error) {
	due, err := o.Store.Due(ctx, owners, now, limit)
	for _, timer := range due.Timers {
		if timer.Name == protocol.TimerLease && o.between != nil {
			between := o.between
			o.between = nil
			between()
		}
	}
	return due, err
}

func TestALeaseThatWasRenewedAfterItsEndWasListedHasNotEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		s := &overtaken{Store: memory.New()}
		b := boxed(t, s, source(quietly(ended)), ticks.Name(), ticks.Protocol(), `{"task":"move the piano"}`, func(h *envelope.Header) { h.ReplyBy = h.Timestamp.Add(time.Hour) })
		synctest.Wait()
		lapses := b.tasks(t)[0].State.LeaseBy
		came := false
		s.between = func() {
			came = true
			if err := b.host.Heard(context.WithoutCancel(t.Context()), b.tasks(t)[0]); err != nil {
				t.Error(err)
			}
		}
		before := len(logOf(t, b.host, b.who, b.opening.Conversation()))
		at(time.Until(lapses))
		x := b.tasks(t)[0]
		if !came || x.State.Done() || time.Until(x.State.LeaseBy) != protocol.Lease {
			t.Errorf("it is in %q until %v; the sign of life came: %v", x.State.State, x.State.LeaseBy, came)
		}
		if log := logOf(t, b.host, b.who, b.opening.Conversation()); len(log) != before {
			t.Errorf("the log has %+v", log[before:])
		}
		<-ended // with the lease that was renewed
		synctest.Wait()
		if got := b.state(t); got != "done:failed" || time.Since(lapses) != protocol.Lease {
			t.Errorf("it is in %q %v after the first lease", got, time.Since(lapses))
		}
	})
}
