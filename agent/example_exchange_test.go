package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/protocol"
)

func barista() *agent.Agent { return agent.New("barista", agent.Handle(Buy, sell)) }

// The question is durable when Start returns; whoever has the handle waits.
func ExampleStart() {
	ctx, guest := context.Background(), agent.New("guest")
	defer run(barista(), guest)()
	order, err := agent.Start(ctx, guest, "barista", Buy, Order{Coffees: 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("ordered from", order.Peer())
	fmt.Println(order.Wait(ctx))
	// Output:
	// ordered from agent://local/barista
	// {2 coffees} <nil>
}

// Only the id has to be kept to come back to an exchange, in this process or
// in the next one on the same store.
func ExampleResume() {
	ctx, guest := context.Background(), agent.New("guest")
	defer run(barista(), guest)()
	order, err := agent.Start(ctx, guest, "barista", Buy, Order{Coffees: 2})
	if err != nil {
		log.Fatal(err)
	}
	again, err := agent.Resume(ctx, guest, "barista", order.ID(), Buy)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.Wait(ctx))
	// Output: {2 coffees} <nil>
}

func ExampleExchange_Cancel() {
	ctx, guest := context.Background(), agent.New("guest")
	slow := agent.New("barista", agent.Handle(Buy, func(ctx context.Context, _ Order) (Ticket, error) {
		<-ctx.Done() // the machine is heating up
		return Ticket{}, ctx.Err()
	}))
	defer run(slow, guest)()
	order, err := agent.Start(ctx, guest, "barista", Buy, Order{Coffees: 2})
	if err != nil {
		log.Fatal(err)
	}
	if err := order.Cancel(ctx); err != nil {
		log.Fatal(err)
	}
	_, err = order.Wait(ctx)
	fmt.Println(err != nil)
	// Output: true
}

func ExampleExchange_Events() {
	ctx, guest := context.Background(), agent.New("guest")
	defer run(agent.New("barista", agent.Handle(Menu, readMenu)), guest)()
	order, err := agent.Start(ctx, guest, "barista", Menu, protocol.Empty{})
	if err != nil {
		log.Fatal(err)
	}
	for e, err := range order.Events(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		if act, ok := e.(*agent.Acted); ok && act.Event != "?agree" {
			fmt.Println(act.Kind, act.Event)
		}
	}
	// Output:
	// sent !request
	// received ?inform
}

func readMenu(context.Context, protocol.Empty) (Ticket, error) { return Ticket{Number: "coffee"}, nil }

// The side that was asked sees its own acts, and what its model does.
func ExampleWatch() {
	ctx, guest := context.Background(), agent.New("guest")
	model := agenttest.NewScript(agenttest.Calls(agenttest.Call("inform", Ticket{Number: "A-17"})))
	seller := agent.New("barista", agent.Model(model), agent.Answer(Buy, "Sell coffee."))
	defer run(seller, guest)()
	order, err := agent.Start(ctx, guest, "barista", Buy, Order{Coffees: 2})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := order.Wait(ctx); err != nil {
		log.Fatal(err)
	}
	for e, err := range agent.Watch(ctx, seller, order.ID(), "guest") {
		if err != nil {
			log.Fatal(err)
		}
		if act, ok := e.(*agent.Acted); ok {
			fmt.Println(act.Event, "leads to", act.To)
		}
	}
	// Output:
	// ?request leads to received
	// !agree leads to agreed
	// !inform leads to done:ok
}

// After a crash the handler runs again, but the card is charged once.
func ExampleOnce() {
	guest := agent.New("guest")
	seller := agent.New("barista", agent.Handle(Buy, func(ctx context.Context, o Order) (Ticket, error) {
		receipt, err := agent.Once(ctx, "charge", func(ctx context.Context) (string, error) {
			fmt.Println("charging for", o.Coffees)
			return "paid", nil
		})
		if errors.Is(err, agent.ErrOutcomeUnknown) {
			return Ticket{}, errors.New("look at the terminal before you charge again")
		}
		return Ticket{Number: receipt}, err
	}))
	defer run(seller, guest)()
	fmt.Println(agent.Ask(context.Background(), guest, "barista", Buy, Order{Coffees: 2}))
	// Output:
	// charging for 2
	// {paid} <nil>
}

func ExampleNow() {
	guest := agent.New("guest")
	seller := agent.New("barista", agent.Handle(Buy, func(ctx context.Context, _ Order) (Ticket, error) {
		now, err := agent.Now(ctx) // the same after a crash
		fmt.Println(now.IsZero(), err)
		return Ticket{Number: "A-17"}, err
	}))
	defer run(seller, guest)()
	fmt.Println(agent.Ask(context.Background(), guest, "barista", Buy, Order{Coffees: 2}))
	// Output:
	// false <nil>
	// {A-17} <nil>
}

func ExampleNewID() {
	guest := agent.New("guest")
	seller := agent.New("barista", agent.Handle(Buy, func(ctx context.Context, _ Order) (Ticket, error) {
		id, err := agent.NewID(ctx) // the same after a crash
		fmt.Println(len(id), err)
		return Ticket{Number: id}, err
	}))
	defer run(seller, guest)()
	_, err := agent.Ask(context.Background(), guest, "barista", Buy, Order{Coffees: 2})
	fmt.Println(err)
	// Output:
	// 36 <nil>
	// <nil>
}

func ExampleSleep() {
	guest := agent.New("guest")
	seller := agent.New("barista", agent.Handle(Buy, func(ctx context.Context, o Order) (Ticket, error) {
		if err := agent.Sleep(ctx, 20*time.Millisecond); err != nil { // it brews; after a crash only the rest is waited for
			return Ticket{}, err
		}
		return sell(ctx, o)
	}))
	defer run(seller, guest)()
	fmt.Println(agent.Ask(context.Background(), guest, "barista", Buy, Order{Coffees: 2}))
	// Output: {2 coffees} <nil>
}

func ExampleWithin() {
	guest := agent.New("guest")
	seller := agent.New("barista", agent.Handle(Buy, func(ctx context.Context, o Order) (Ticket, error) {
		work, _ := agent.Current(ctx)
		fmt.Println("more than a minute is left:", time.Until(work.Deadline) > time.Minute)
		return sell(ctx, o)
	}))
	defer run(seller, guest)()
	_, err := agent.Ask(context.Background(), guest, "barista", Buy, Order{Coffees: 2}, agent.Within(5*time.Minute))
	fmt.Println(err)
	// Output:
	// more than a minute is left: true
	// <nil>
}

// A key that names the effect makes asking again harmless.
func ExampleKey() {
	guest := agent.New("guest")
	sold := 0
	seller := agent.New("barista", agent.Handle(Buy, func(context.Context, Order) (Ticket, error) {
		sold++
		return Ticket{Number: fmt.Sprint("A-", sold)}, nil
	}))
	defer run(seller, guest)()
	for range 2 {
		fmt.Println(agent.Ask(context.Background(), guest, "barista", Buy, Order{Coffees: 2}, agent.Key("breakfast-8841")))
	}
	// Output:
	// {A-1} <nil>
	// {A-1} <nil>
}

func ExampleCorrelation() {
	guest := agent.New("guest")
	seller := agent.New("barista", agent.Handle(Buy, func(ctx context.Context, o Order) (Ticket, error) {
		work, _ := agent.Current(ctx)
		fmt.Println("for the trip", work.Correlation)
		return sell(ctx, o)
	}))
	defer run(seller, guest)()
	const trip = "01890a5d-ac96-774b-bcce-b302099a8057"
	_, err := agent.Ask(context.Background(), guest, "barista", Buy, Order{Coffees: 2}, agent.Correlation(trip))
	fmt.Println(err)
	// Output:
	// for the trip 01890a5d-ac96-774b-bcce-b302099a8057
	// <nil>
}

func ExampleOnBehalfOf() {
	guest := agent.New("guest")
	seller := agent.New("barista", agent.Handle(Buy, func(ctx context.Context, o Order) (Ticket, error) {
		work, _ := agent.Current(ctx)
		fmt.Println("coffee for", work.Actor)
		return sell(ctx, o)
	}))
	defer run(seller, guest)()
	_, err := agent.Ask(context.Background(), guest, "barista", Buy, Order{Coffees: 2}, agent.OnBehalfOf("user:grace"))
	fmt.Println(err)
	// Output:
	// coffee for user:grace
	// <nil>
}

func ExampleOpened() {
	guest := agent.New("guest")
	defer run(barista(), guest)()
	_, err := agent.Ask(context.Background(), guest, "barista", Buy, Order{Coffees: 2}, agent.Opened(func(conversation string) {
		fmt.Println("keep this in case we stop:", len(conversation), "characters")
	}))
	fmt.Println(err)
	// Output:
	// keep this in case we stop: 36 characters
	// <nil>
}

// Whoever does not know what became of an order looks, and does not order
// again. Here it is the order's own log that tells; where that ends without
// anybody knowing, the barista's host is asked.
func ExampleOutcome() {
	ctx, guest, ready := context.Background(), agent.New("guest"), make(chan struct{})
	slow := agent.New("barista", agent.Handle(Buy, func(ctx context.Context, o Order) (Ticket, error) {
		<-ready // the machine is heating up
		return sell(ctx, o)
	}))
	defer run(slow, guest)()
	order, err := agent.Start(ctx, guest, "barista", Buy, Order{Coffees: 2})
	if err != nil {
		log.Fatal(err)
	}
	_, err = agent.Outcome(ctx, guest, Buy, order.ID())
	progress, ok := errors.AsType[*protocol.InProgressError](err)
	fmt.Println(ok, progress.Peer)
	close(ready)
	if _, err := order.Wait(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(agent.Outcome(ctx, guest, Buy, order.ID()))
	// Output:
	// true agent://local/barista
	// {2 coffees} <nil>
}

// The barista asks the guest what the order left open.
func ExampleAskBack() {
	ctx := context.Background()
	guest := agent.New("guest", agent.Handle(protocol.Question, func(_ context.Context, q protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
		fmt.Println(q.Text, q.Choices)
		return protocol.QuestionAnswered{Choice: "oat"}, nil
	}))
	barista := agent.New("barista", agent.Handle(Buy, func(ctx context.Context, o Order) (Ticket, error) {
		milk, err := agent.AskBack(ctx, protocol.QuestionAsked{Text: "Which milk?", Choices: []string{"cow", "oat"}})
		if _, silent := errors.AsType[*protocol.NotUnderstoodError](err); silent {
			milk.Choice, err = "cow", nil // this guest answers no questions
		}
		return Ticket{Number: "1, " + milk.Choice + " milk"}, err
	}))
	defer run(barista, guest)()
	fmt.Println(agent.Ask(ctx, guest, "barista", Buy, Order{Coffees: 1}))
	// Output:
	// Which milk? [cow oat]
	// {1, oat milk} <nil>
}
