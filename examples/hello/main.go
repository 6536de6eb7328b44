// Command hello asks a clerk about the weather: one typed tool, one prompt.
package main

import (
	"context"
	"fmt"
	"github.com/parley-agents/parley"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/protocol"
	"log"
	"os"
	"strings"
)

func main() {
	ctx, visitor := context.Background(), agent.New("visitor")
	host, err := parley.Start(ctx, visitor, agent.New("clerk", agent.Model(llm.FromEnv()),
		agent.Chat("You answer questions about the weather in one sentence."),
		agent.Tool("weather", "The weather in a city now.", weather, agent.ReadOnly)))
	if err != nil {
		log.Fatal(err)
	}
	defer host.Stop(ctx)
	answer, err := agent.Ask(ctx, visitor, "clerk", protocol.Chat(), protocol.Said{Text: agent.Text(strings.Join(os.Args[1:], " "))})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Text)
}
