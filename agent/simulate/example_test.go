package simulate_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/simulate"
	"github.com/parley-agents/parley/protocol"
)

type Order struct {
	Cups int `json:"cups" jsonschema:"minimum=1"`
}

type Bill struct {
	Cents int `json:"cents"`
}

var Serve = protocol.Request[Order, Bill]("cafe.bar.serve/v1")

// A bar that is restarted, cut off and lied to serves each guest once.
func ExampleRun() {
	r, err := simulate.Run(context.Background(), simulate.Config{Worlds: 20, Kinds: simulate.Kinds(), Set: func(w *simulate.World) {
		served := map[string]bool{}
		twice := 0
		w.Node("bar", func() []*agent.Agent {
			return []*agent.Agent{agent.New("bar", agent.Handle(Serve, func(ctx context.Context, o Order) (Bill, error) {
				return agent.Once(ctx, "pour", func(context.Context) (Bill, error) {
					work, _ := agent.Current(ctx)
					if served[work.Correlation] {
						twice++
					}
					served[work.Correlation] = true
					return Bill{Cents: 300 * o.Cups}, nil
				})
			}))}
		})
		guest := w.Node("guest", func() []*agent.Agent { return []*agent.Agent{agent.New("guest")} })
		w.Do(guest, func(ctx context.Context) error {
			_, err := agent.Ask(ctx, guest.Agent("guest"), "bar", Serve, Order{Cups: 2}, agent.Key("order-1"))
			return err
		})
		w.Check("served once", func() error {
			if twice > 0 {
				return errors.New("a guest was served twice")
			}
			return nil
		})
	}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Worlds, "worlds,", len(r.Failures), "broke a promise,", r.Unfinished, "exchanges never ended")
	// Output: 20 worlds, 0 broke a promise, 0 exchanges never ended
}

func ExampleParseKinds() {
	kinds, err := simulate.ParseKinds("crash,drop")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(kinds)
	// Output: [crash drop]
}
