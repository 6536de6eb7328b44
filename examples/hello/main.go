// Command hello serves a clerk over A2A who knows the weather: one typed tool, one prompt.
package main

import (
	"context"
	"github.com/parley-agents/parley"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/llm"
	"log"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	addr := "localhost:8080"
	if len(os.Args) > 1 {
		addr = os.Args[1]
	}
	clerk := agent.New("clerk", agent.Model(llm.FromEnv()),
		agent.Chat("You answer questions about the weather in one sentence."),
		agent.Tool("weather", "The weather in a city now.", weather, agent.ReadOnly))
	log.Printf("the clerk listens at http://%s until Ctrl-C", addr)
	if err := parley.Serve(ctx, addr, clerk); err != nil {
		log.Fatal(err)
	}
}
