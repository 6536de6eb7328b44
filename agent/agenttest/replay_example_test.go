package agenttest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/store/memory"
)

// An answer that is worded differently now is found in a conversation of then.
func ExampleReexecute() {
	ctx := context.Background()
	forecaster := func(text string) *agent.Agent {
		return agent.New("forecaster", agent.Handle(weather, func(context.Context, Question) (Reply, error) { return Reply{text}, nil }))
	}
	visitor := agent.New("visitor")
	host := agent.NewHost(agent.Config{Store: memory.New(), Log: slog.New(slog.DiscardHandler)}, forecaster("It rains."), visitor)
	if err := host.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer host.Stop(ctx)
	x, err := agent.Start(ctx, visitor, "forecaster", weather, Question{"Turku"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := x.Wait(ctx); err != nil {
		log.Fatal(err)
	}
	again, err := agenttest.Reexecute(ctx, host.Store(), x.ID(), forecaster("Rain."))
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range again.Differences {
		fmt.Println(d)
	}
	// Output:
	// agent://local/forecaster to agent://local/visitor, !inform /content/text: recorded "It rains.", now "Rain."
}

// A step that the record does not have is not done.
func ExampleMissError() {
	ctx := context.Background()
	forecaster := func(step string) *agent.Agent {
		return agent.New("forecaster", agent.Handle(weather, func(ctx context.Context, q Question) (Reply, error) {
			text, err := agent.Once(ctx, step, func(context.Context) (string, error) { return "rain over " + q.City, nil })
			return Reply{text}, err
		}))
	}
	visitor := agent.New("visitor")
	host := agent.NewHost(agent.Config{Store: memory.New(), Log: slog.New(slog.DiscardHandler)}, forecaster("radar"), visitor)
	if err := host.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer host.Stop(ctx)
	x, err := agent.Start(ctx, visitor, "forecaster", weather, Question{"Turku"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := x.Wait(ctx); err != nil {
		log.Fatal(err)
	}
	_, err = agenttest.Reexecute(ctx, host.Store(), x.ID(), forecaster("satellite"))
	if miss, ok := errors.AsType[*agenttest.MissError](err); ok {
		fmt.Println(miss)
	}
	// Output:
	// agent://local/forecaster asks for step once satellite, which is not in the record; the nearest is once radar
}

// Outside a replay an agent with the option is like any other.
func ExampleReplayable() {
	ctx := context.Background()
	model := agenttest.NewScript(agenttest.Calls(agenttest.Call("inform", Reply{"It rains."})))
	forecaster := agent.New("forecaster", agenttest.Replayable(), agent.Model(model), agent.Answer(weather, "Answer from what you know."))
	visitor := agent.New("visitor")
	host := agent.NewHost(agent.Config{Store: memory.New(), Log: slog.New(slog.DiscardHandler)}, forecaster, visitor)
	if err := host.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer host.Stop(ctx)
	reply, err := agent.Ask(ctx, visitor, "forecaster", weather, Question{"Turku"})
	fmt.Println(reply.Text, err)
	// Output: It rains. <nil>
}
