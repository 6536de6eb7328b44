package main

import (
	"context"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/llm"
)

// prices are the quotes of this example, the same each time.
var prices = [...]int{1000, 1004, 1001, 948, 951, 905, 903, 890, 897, 899, 902, 908}

// market publishes a price now and then. When whoever listens leaves, ctx
// ends, and so does the publishing.
func market(every time.Duration) *agent.Agent {
	return agent.New("market", agent.Publish(Quotes, func(ctx context.Context, p Paper, emit func(Quote) error) error {
		for i, cents := range prices {
			select {
			case <-time.After(every):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if err := emit(Quote{Number: i + 1, Symbol: p.Symbol, Cents: cents}); err != nil {
				return err
			}
		}
		return nil // the market has closed
	}))
}

// News is what the tool headlines returns.
type News struct {
	Headlines []string `json:"headlines"`
}

// headlines looks up what was written about a paper before a quote.
func headlines(_ context.Context, m Move) (News, error) {
	if m.Number == 4 {
		return News{[]string{m.Symbol + " loses its largest customer"}}, nil
	}
	return News{[]string{}}, nil
}

// analyst is asked what is behind a move. Its model looks for news first.
func analyst(m llm.Model) *agent.Agent {
	return agent.New("analyst", agent.Model(m),
		agent.Answer(Explain, "You explain why a price moved. Look at the headlines first. The cause is news if a headline explains "+
			"the move, else noise. One sentence in the notes is enough."),
		agent.Tool("headlines", "What was written about a paper just before a move.", headlines, agent.ReadOnly))
}
