package agent_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

// slowLog takes a second to read the first log that it is asked for.
type slowLog struct {
	store.Store
	once sync.Once
}

func (s *slowLog) Log(ctx context.Context, owner, conversation string, after int64) ([]store.Entry, error) {
	s.once.Do(func() { <-time.After(time.Second) })
	return s.Store.Log(ctx, owner, conversation, after)
}

func TestAWatcherIsToldOfAnEndThatComesBetweenItsReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := agent.New("planner")
		a := begin(t, nil, &slowLog{Store: memory.New()}, planner)
		b := begin(t, nil, memory.New(), answers(func(ctx context.Context, _ Seat) (Booking, error) {
			return Booking{"R1"}, agent.Sleep(ctx, 500*time.Millisecond)
		}))
		agent.Introduce(a, b)
		x, err := agent.Start(t.Context(), planner, "flights", book, seat)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var last agent.Event
		for e, err := range x.Events(ctx) {
			if err != nil {
				t.Fatalf("the sequence ends with %v, want the end of the exchange", err)
			}
			last = e
		}
		if end, ok := last.(*agent.Acted); !ok || !end.To.Done() {
			t.Errorf("the last event is %+v", last)
		}
	})
}
