package agent_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

// breathless is a store that keeps whoever writes a cancel down from going on.
type breathless struct {
	store.Store
	written, released chan struct{}
}

func (l breathless) Commit(ctx context.Context, w store.WriteSet) error {
	err := l.Store.Commit(ctx, w)
	if slices.ContainsFunc(w.Exchanges, func(x store.Exchange) bool { return x.State.State == "cancelling" }) && err == nil {
		close(l.written)
		<-l.released
	}
	return err
}

func TestAHandlerThatIsRefusedItsProgressBeforeItIsToldOfTheCancelHasStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := breathless{memory.New(), make(chan struct{}), make(chan struct{})}
		flights := agent.New("flights", agent.Handle(bookInSteps, func(ctx context.Context, _ Seat) (Booking, error) {
			<-disk.written
			err := agent.Progress(ctx, protocol.Progress[Booking]{Percent: 40})
			defer close(disk.released)
			if err == nil || ctx.Err() != nil {
				t.Errorf("Progress = %v while the context is %v", err, ctx.Err())
			}
			return Booking{}, err
		}))
		planner := agent.New("planner")
		a, b := begin(t, nil, nil, planner), begin(t, nil, disk, flights)
		agent.Introduce(a, b)
		ctx, cancel := context.WithCancel(t.Context())
		q := askIn(ctx, t, planner, "flights", bookInSteps, seat)
		synctest.Wait()
		cancel()
		synctest.Wait()
		at(0)
		x, err := b.Store().Exchange(t.Context(), store.Key{Owner: flights.URI(), Conversation: q.id, Peer: planner.URI()})
		if err != nil || x.State.State != "done:cancelled" {
			t.Errorf("the exchange is %s (%+v), %v", x.State.State, x.State.Error, err)
		}
		if _, err := q.wait(); !errors.Is(err, context.Canceled) {
			t.Errorf("Ask = %v", err)
		}
	})
}
