package agent_test

import (
	"context"
	"errors"
	"testing"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
)

func TestAskReturnsWhatTheHandlerAnswers(t *testing.T) {
	flights := agent.New("flights", agent.Handle(book, func(_ context.Context, s Seat) (Booking, error) {
		return Booking{Reference: "R-" + s.Flight}, nil
	}))
	planner, _, _ := pair(t, clock(), flights)
	b, err := agent.Ask(t.Context(), planner, "flights", book, Seat{Flight: "AY121"}, agent.Key("k1"))
	if err != nil || b.Reference != "R-AY121" {
		t.Fatalf("Ask = %v, %v", b, err)
	}
}

func TestARefusalIsATypedError(t *testing.T) {
	flights := agent.New("flights", agent.Handle(look, func(context.Context, Seat) (Booking, error) {
		return Booking{}, agent.Refuse(envelope.CodePermanent, "no-availability")
	}))
	planner, _, _ := pair(t, clock(), flights)
	_, err := agent.Ask(t.Context(), planner, "flights", look, Seat{Flight: "AY121"})
	refused, ok := errors.AsType[*protocol.RefusedError](err)
	if !ok || refused.Reason != "no-availability" {
		t.Fatalf("Ask = %v, want refused (no-availability)", err)
	}
}
