package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/parley-agents/parley/a2a"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store/sqlite"
)

// chunks is a stream of texts; it tells as many as it is asked for.
var chunks = protocol.NewStream[wantChunks, chunk]("parley.bench.chunks/v1")

type wantChunks struct {
	Count int    `json:"count" jsonschema:"minimum=1,maximum=100000"`
	Text  string `json:"text" jsonschema:"maxLength=1024"`
}

type chunk struct {
	Text string `json:"text" jsonschema:"maxLength=1024"`
}

// newParley is Parley on a durable store: an agent that repeats what it is told,
// and one contract that streams. Everything but the limits of messages in a
// conversation and of requests of one caller is as it comes.
func newParley(ctx context.Context, folder, url string) (*backend, error) {
	s, err := sqlite.Open(ctx, filepath.Join(folder, "parley.db"))
	if err != nil {
		return nil, err
	}
	echo := agent.New("echo",
		agent.Spend(agent.Budget{Messages: 100_000}), // a long stream has many
		agent.Handle(protocol.Chat(), func(_ context.Context, in protocol.Said) (protocol.Said, error) {
			return protocol.Said{Text: "You said " + in.Text}, nil
		}),
		agent.Publish(chunks, func(_ context.Context, in wantChunks, emit func(chunk) error) error {
			for range in.Count {
				if err := emit(chunk{in.Text}); err != nil {
					return err
				}
			}
			return nil
		}))
	h := agent.NewHost(agent.Config{Store: s}, echo)
	if err := h.Start(ctx); err != nil {
		return nil, err // which has closed the store
	}
	srv, err := a2a.NewServer(h, a2a.Config{BaseURL: url, Rate: -1})
	if err != nil {
		return nil, errors.Join(err, h.Stop(context.WithoutCancel(ctx)))
	}
	return &backend{handler: srv.Handler(),
		count: func(c *counters) { stats := s.Stats(); c.Commits, c.Sets = stats.Commits, stats.Sets },
		close: func() error { return h.Stop(context.WithoutCancel(ctx)) }}, nil
}
