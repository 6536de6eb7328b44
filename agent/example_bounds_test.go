package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store/memory"
)

type Dish struct {
	Name string `json:"name"`
}

type Meal struct {
	Served string `json:"served"`
}

// A host with one worker: what waits is counted, and a worker that waits for
// another agent of the host is given away.
func ExampleHost_Load() {
	serving, served := make(chan struct{}), make(chan struct{})
	kitchen := agent.New("kitchen", agent.Handle(protocol.Query[Dish, Meal]("cafe.kitchen.cook/v1"), func(context.Context, Dish) (Meal, error) {
		close(serving)
		<-served
		return Meal{"soup"}, nil
	}))
	guest := agent.New("guest")
	host := agent.NewHost(agent.Config{Store: memory.New(), Workers: 1}, guest, kitchen)
	ctx := context.Background()
	if err := host.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer host.Stop(ctx)

	meal, err := agent.Start(ctx, guest, "kitchen", protocol.Query[Dish, Meal]("cafe.kitchen.cook/v1"), Dish{"soup"})
	if err != nil {
		log.Fatal(err)
	}
	<-serving
	load := host.Load()
	fmt.Println(load.Working, "at work,", load.Waiting, "waiting")
	close(served)
	m, err := meal.Wait(ctx)
	fmt.Println(m.Served, err)
	// Output:
	// 1 at work, 0 waiting
	// soup <nil>
}

// A conversation may work for a while and no longer.
func ExampleSpend() {
	kitchen := agent.New("kitchen",
		agent.Spend(agent.Budget{Time: 50 * time.Millisecond, Tokens: 20_000, Hops: 2}),
		agent.Handle(protocol.Query[Dish, Meal]("cafe.kitchen.cook/v1"), func(ctx context.Context, _ Dish) (Meal, error) {
			<-ctx.Done()
			return Meal{}, ctx.Err()
		}))
	guest := agent.New("guest")
	host := agent.NewHost(agent.Config{Store: memory.New()}, guest, kitchen)
	ctx := context.Background()
	if err := host.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer host.Stop(ctx)

	_, err := agent.Ask(ctx, guest, "kitchen", protocol.Query[Dish, Meal]("cafe.kitchen.cook/v1"), Dish{"stew"})
	if failed, ok := errors.AsType[*protocol.FailedError](err); ok {
		fmt.Println(failed.Code, failed.Reason)
	}
	// Output:
	// capacity budget
}

// Terms that do not fit each other are named before anything runs.
func ExampleTerms() {
	host := agent.NewHost(agent.Config{Store: memory.New(), Terms: agent.Terms{Lease: 20 * time.Second}}, agent.New("guest"))
	err := host.Start(context.Background())
	if wrong, ok := errors.AsType[*agent.TermsError](err); ok {
		fmt.Println(wrong.Field, "and", wrong.Other+":", wrong.Want)
	}
	// Output:
	// Heartbeat and Lease: Heartbeat < Lease / 2
}
