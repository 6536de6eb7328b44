// Command review asks several reviewers about a change. One of them disagrees
// and one abstains; when the change is mended and asked about again, one says
// nothing at all. What they say is gathered, each kept apart from the others,
// and the author decides.
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
	ctx, author := context.Background(), agent.New("author")
	model := func(reviewer string) llm.Model { return llm.FromEnv(rules(reviewer)...) }
	host, err := parley.Start(ctx, append(reviewers(model), author)...)
	if err != nil {
		log.Fatal(err)
	}
	defer host.Stop(ctx)
	for _, r := range []round{
		{members: []string{"correctness", "docs", "security", "tests"}, change: risky, quorum: 2, within: 30 * time.Second},
		{members: []string{"correctness", "release", "security"}, change: mended, quorum: 3, within: 1500 * time.Millisecond},
	} {
		if _, err := r.run(ctx, os.Stdout, author); err != nil {
			log.Fatal(err)
		}
		fmt.Println()
	}
}
