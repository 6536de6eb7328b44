package clerk

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/protocol"
)

func TestTheClerkCharges(t *testing.T) {
	visitor := agent.New("visitor")
	agenttest.HostAt(t, agenttest.NewClock(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)), visitor, New())
	bill, err := agent.Ask(t.Context(), visitor, "clerk", Charge, Order{Item: "tea", Count: 3})
	if err != nil || bill.Cents != 750 {
		t.Errorf("Ask = %v, %v", bill, err)
	}
}

func TestASilentPeerEndsAsUnknown(t *testing.T) {
	clock := agenttest.NewClock(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC))
	visitor := agent.New("visitor")
	silent := agent.New("clerk", agent.Handle(Charge, func(ctx context.Context, _ Order) (Bill, error) {
		<-ctx.Done()
		clock.Advance(time.Minute) // and it does not even stop when it is told to
		return Bill{}, context.Cause(ctx)
	}))
	agenttest.HostAt(t, clock, visitor, silent)
	x, err := agent.Start(t.Context(), visitor, "clerk", Charge, Order{Item: "tea", Count: 1}, agent.Within(5*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range x.Events(t.Context()) {
		if acted, ok := e.(*agent.Acted); err == nil && ok && acted.Event == "!request" {
			clock.Advance(5 * time.Second)
		}
	}
	_, err = x.Wait(t.Context())
	var unknown *protocol.UnknownError
	var failed *protocol.FailedError
	var expired *protocol.ExpiredError
	var cancelled *protocol.CancelledError // the clerk had not begun
	if !errors.As(err, &unknown) && !errors.As(err, &failed) && !errors.As(err, &expired) && !errors.As(err, &cancelled) {
		t.Errorf("Wait = %v, want an honest ending", err)
	}
}
