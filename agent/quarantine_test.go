package agent_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

func TestAContradictionThatWasDroppedIsKeptWhenItComesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flights := answers(reference)
		planner, a, b := pair(t, nil, flights)
		pass := token(t, a, planner.URI(), flights.URI())
		h := opening(planner, flights, book.Name(), book.Protocol())
		wantAck(t, hand(t, b, seal(t, h, seatJSON), pass))
		other := seal(t, h, `{"flight":"XX1"}`)
		contradict := func() {
			t.Helper()
			wantNack(t, hand(t, b, other, pass), envelope.CodePermanent, guard.ReasonEquivocation)
			if n := len(quarantined(t, b, flights)); n != 1 {
				t.Errorf("%d are kept", n)
			}
		}
		contradict()
		granted(t, obeyed(t, b, store.Command{Verb: store.VerbDrop, Owner: flights.URI(), MessageID: h.MessageID}), "1 dead letters dropped")
		contradict()
	})
}

// unburying is a store that fails now and then to make room in the quarantine.
type unburying struct {
	store.Store
	fails atomic.Bool
}

func (u *unburying) Commit(ctx context.Context, w store.WriteSet) error {
	if u.fails.Load() && len(w.Unbury) > 0 {
		return errors.New("the disk is gone")
	}
	return u.Store.Commit(ctx, w)
}

func TestAQuarantineThatCouldNotBeWrittenGrowsNoLarger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &unburying{Store: memory.New()}
		planner, flights := agent.New("planner"), answers(reference)
		a, b := begin(t, nil, nil, planner), begin(t, nil, disk, flights)
		agent.Introduce(a, b)
		pass := token(t, a, planner.URI(), flights.URI())
		h := opening(planner, flights, book.Name(), book.Protocol())
		wantAck(t, hand(t, b, seal(t, h, seatJSON), pass))
		for n := range 150 {
			disk.fails.Store(n%2 == 0)
			h.Timestamp = h.Timestamp.Add(time.Millisecond)
			wantNack(t, hand(t, b, seal(t, h, fmt.Sprintf(`{"flight":"XX%d"}`, n)), pass), envelope.CodePermanent, guard.ReasonEquivocation)
		}
		if n := len(quarantined(t, b, flights)); n != 100 {
			t.Errorf("%d are kept, want 100", n)
		}
	})
}
