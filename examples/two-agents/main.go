// Command two-agents books a seat: one agent asks, another one answers.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/parley-agents/parley"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
)

type Seat struct {
	Flight string `json:"flight" jsonschema:"pattern=^[A-Z]{2}[0-9]+$"`
}

type Booking struct {
	Reference string `json:"reference" jsonschema:"minLength=1"`
}

// Book has effects, so every message of it carries a key.
var Book = protocol.Request[Seat, Booking]("acme.flight.book/v1")

func book(ctx context.Context, s Seat) (Booking, error) {
	// The key is the same however often this work runs: hand it to whoever has the effect.
	return Booking{Reference: s.Flight + "-" + agent.EffectKey(ctx)[:8]}, nil
}

func main() {
	ctx := context.Background()
	planner := agent.New("planner")
	flights := agent.New("flights", agent.Handle(Book, book))
	host, err := parley.Start(ctx, planner, flights)
	if err != nil {
		log.Fatal(err)
	}
	defer host.Stop(ctx)
	b, err := agent.Ask(ctx, planner, "flights", Book, Seat{"AY121"}, agent.Within(5*time.Second), agent.Key("trip-8841"))
	if u, ok := errors.AsType[*protocol.UnknownError](err); ok { // not "failed": look, do not redo
		log.Fatalf("nobody knows yet whether the seat is booked: see conversation %s", u.Conversation)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("booked", b.Reference)
}
