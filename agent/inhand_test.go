package agent_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

// diary is a store that notes what is committed and what of an exchange is read.
type diary struct {
	store.Store
	mu    sync.Mutex
	calls []string
}

func (d *diary) note(call string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, call)
}

func (d *diary) Commit(ctx context.Context, w store.WriteSet) error {
	d.note("commit")
	return d.Store.Commit(ctx, w)
}

func (d *diary) Exchange(ctx context.Context, k store.Key) (store.Exchange, error) {
	d.note("exchange")
	return d.Store.Exchange(ctx, k)
}

func (d *diary) Inbox(ctx context.Context, k store.InboxKey) (store.Inbox, error) {
	d.note("inbox")
	return d.Store.Inbox(ctx, k)
}

func (d *diary) Message(ctx context.Context, k store.Key, kind store.EntryKind, id string) (store.Entry, error) {
	d.note("message")
	return d.Store.Message(ctx, k, kind, id)
}

func (d *diary) Effect(ctx context.Context, k store.EffectKey) (store.Effect, error) {
	d.note("effect")
	return d.Store.Effect(ctx, k)
}

// since is what was called from the first commit on.
func (d *diary) since() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.calls[slices.Index(d.calls, "commit"):])
}

func TestWorkThatIsDoneAtOnceReadsNothingOfWhatWasWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{Store: memory.New()}
		boxed(t, d, answers(reference), book.Name(), book.Protocol(), seatJSON, nil)
		synctest.Wait()
		if calls := d.since(); !slices.Equal(calls, []string{"commit", "commit"}) {
			t.Errorf("it called %v", calls)
		}
	})
}

func TestWorkIsReadAgainOnceItsExchangeHasMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{Store: memory.New()}
		b := boxed(t, d, answers(slowly(time.Second)), book.Name(), book.Protocol(), seatJSON, nil)
		at(2 * time.Second)
		calls := d.since()
		if last := slices.Index(calls[1:], "commit") + 2; len(calls) < last+2 || calls[last] != "exchange" || calls[len(calls)-1] != "commit" {
			t.Errorf("it called %v, want the exchange read again after the commit of the agree", calls)
		}
		if got := b.state(t); got != "done:ok" {
			t.Errorf("the exchange is in %q", got)
		}
	})
}

func TestWorkThatWasTakenOverSinceItWasInHandSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		b := boxed(t, s, answers(func(ctx context.Context, _ Seat) (Booking, error) {
			_, err := s.TakeOver(ctx, uri("flights"))
			return Booking{Reference: "R1"}, err
		}), book.Name(), book.Protocol(), seatJSON, nil)
		synctest.Wait()
		if said, l := b.said(t), b.host.Load(); len(said) != 0 || l.Running != 0 {
			t.Errorf("it said %v, and has in hand %+v", said, l)
		}
	})
}
