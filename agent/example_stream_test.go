package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
)

// Calls tells which tickets are ready, Special offers something that is
// taken or left, and Brew shows on the way how far it has come.
var (
	Calls   = protocol.NewStream[protocol.Empty, Ticket]("acme.coffee.calls/v1")
	Special = protocol.NewOffer[Order]("acme.coffee.special/v1")
	Brew    = protocol.Request[Order, Ticket]("acme.coffee.brew/v1").WithProgress(Brewed{})
)

// Brewed is how far a brew has come.
type Brewed struct {
	Percent int `json:"percent" jsonschema:"minimum=0,maximum=100"`
}

// caller publishes three tickets.
func caller() *agent.Agent {
	return agent.New("barista", agent.Publish(Calls, func(_ context.Context, _ protocol.Empty, emit func(Ticket) error) error {
		for _, number := range []string{"A-17", "A-18", "A-19"} {
			if err := emit(Ticket{Number: number}); err != nil {
				return err
			}
		}
		return nil // the stream has ended
	}))
}

// Whoever leaves the loop cancels the subscription.
func ExampleSubscribe() {
	guest := agent.New("guest")
	defer run(caller(), guest)()
	for ticket, err := range agent.Subscribe(context.Background(), guest, "barista", Calls, protocol.Empty{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(ticket.Number, "is ready")
		if ticket.Number == "A-18" {
			break // that one is mine
		}
	}
	// Output:
	// A-17 is ready
	// A-18 is ready
}

// What its schema does not allow is not sent, and after a crash no item is sent
// twice.
func ExamplePublish() {
	guest := agent.New("guest")
	counter := agent.New("barista", agent.Publish(Scores, func(_ context.Context, _ protocol.Empty, emit func(Order) error) error {
		fmt.Println("no coffee at all is no order:", emit(Order{}) != nil)
		return errors.Join(emit(Order{Coffees: 1}), emit(Order{Coffees: 2}))
	}))
	defer run(counter, guest)()
	for order, err := range agent.Subscribe(context.Background(), guest, "barista", Scores, protocol.Empty{}) {
		fmt.Println(order.Coffees, err)
	}
	// Output:
	// no coffee at all is no order: true
	// 1 <nil>
	// 2 <nil>
}

// Scores tells each order.
var Scores = protocol.NewStream[protocol.Empty, Order]("acme.coffee.scores/v1")

// regular is a guest who takes what is small enough.
func regular() *agent.Agent {
	return agent.New("regular", agent.Consider(Special, func(_ context.Context, o Order) error {
		if o.Coffees > 3 {
			return agent.Refuse(envelope.CodePermanent, "too-many")
		}
		return nil
	}))
}

// An offer that was accepted once under a key is not accepted a second time.
func ExamplePropose() {
	seller := agent.New("barista")
	defer run(seller, regular())()
	fmt.Println(agent.Propose(context.Background(), seller, "regular", Special, Order{Coffees: 2}, agent.Key("special-8841")))
	// Output: <nil>
}

func ExampleConsider() {
	seller := agent.New("barista")
	defer run(seller, regular())()
	err := agent.Propose(context.Background(), seller, "regular", Special, Order{Coffees: 12})
	if rejected, ok := errors.AsType[*protocol.RejectedError](err); ok {
		fmt.Println("rejected:", rejected.Reason)
	}
	// Output: rejected: too-many
}

// Whoever waits for the result may watch how the work goes on.
func ExampleProgress() {
	ctx, guest := context.Background(), agent.New("guest")
	seller := agent.New("barista", agent.Handle(Brew, func(ctx context.Context, o Order) (Ticket, error) {
		for percent := 50; percent <= 100; percent += 50 {
			if err := agent.Progress(ctx, Brewed{percent}); err != nil {
				return Ticket{}, err
			}
		}
		return sell(ctx, o)
	}))
	defer run(seller, guest)()
	order, err := agent.Start(ctx, guest, "barista", Brew, Order{Coffees: 2})
	if err != nil {
		log.Fatal(err)
	}
	for e, err := range order.Events(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		if act, ok := e.(*agent.Acted); ok && act.Event == "?inform~" {
			fmt.Println(string(act.Message.Content()))
		}
	}
	fmt.Println(order.Wait(ctx))
	// Output:
	// {"percent":50}
	// {"percent":100}
	// {2 coffees} <nil>
}
