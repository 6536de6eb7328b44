package agent_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// at waits until d has passed on the test's clock and everything that was due
// has been done.
func at(d time.Duration) {
	<-elapsed(d)
	synctest.Wait()
}

// elapsed is closed when d has passed. What has passed already needs no timer;
// see the system's clock for why that matters in a bubble.
func elapsed(d time.Duration) <-chan struct{} {
	over := make(chan struct{})
	if d <= 0 {
		close(over)
	} else {
		time.AfterFunc(d, func() { close(over) })
	}
	return over
}

// state is the state of the owner's only exchange in the conversation.
func state(t *testing.T, h *agent.Host, owner *agent.Agent, conversation string) protocol.State {
	t.Helper()
	xs, err := h.Store().Exchanges(t.Context(), owner.URI(), conversation)
	if err != nil || len(xs) != 1 {
		t.Fatalf("exchanges of %s = %v, %v", conversation, xs, err)
	}
	return xs[0].State.State
}

func TestAgreeIsSentAfterAHundredMillisecondsOfWorkAndNotBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		flights := agent.New("flights", agent.Handle(look, func(context.Context, Seat) (Booking, error) {
			<-release
			return Booking{Reference: "R1"}, nil
		}))
		planner, a, b := pair(t, nil, flights)
		conversation := make(chan string, 1)
		done := make(chan error, 1)
		go func() {
			_, err := agent.Ask(t.Context(), planner, "flights", look, Seat{Flight: "AY121"}, agent.Opened(func(id string) { conversation <- id }))
			done <- err
		}()
		id := <-conversation
		at(99 * time.Millisecond)
		if got := state(t, b, flights, id); got != "received" {
			t.Fatalf("after 99 ms the participant is in %q, want received", got)
		}
		at(time.Millisecond)
		if got := state(t, b, flights, id); got != "agreed" {
			t.Fatalf("after 100 ms the participant is in %q, want agreed", got)
		}
		if got := state(t, a, planner, id); got != "agreed" {
			t.Fatalf("after 100 ms the initiator is in %q, want agreed", got)
		}
		log, err := b.Store().Log(t.Context(), flights.URI(), id, 0)
		if err != nil {
			t.Fatal(err)
		}
		last := log[len(log)-1]
		if last.Event != "!agree" || last.Kind != store.Sent {
			t.Fatalf("the last entry is %s %s, want sent !agree", last.Kind, last.Event)
		}
		close(release)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
}
