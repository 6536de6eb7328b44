// Command market-watch follows the price of a paper: a market publishes
// quotes, a watcher subscribes to them and asks an analyst, which is a model,
// about those that moved. When the price falls too low, it leaves.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/parley-agents/parley"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/llm"
)

func main() {
	ctx, watcher := context.Background(), agent.New("watcher")
	host, err := parley.Start(ctx, watcher, market(100*time.Millisecond), analyst(llm.FromEnv(rules()...)))
	if err != nil {
		log.Fatal(err)
	}
	defer host.Stop(ctx)
	fmt.Println("subscribing to NOK")
	conversation, err := follow(ctx, os.Stdout, watcher, Paper{"NOK"}, 900)
	if err != nil {
		log.Fatal(err)
	}
	if err := conclude(ctx, os.Stdout, host, watcher, conversation); err != nil {
		log.Fatal(err)
	}
}
