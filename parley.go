// Package parley runs LLM agents whose conversations are enforced by a
// protocol. It is the one place where defaults meet: the packages beside it
// are usable on their own.
//
// A model never writes to the wire. It picks one of the moves that the
// conversation allows now; the runtime checks the move, mends it if it can,
// asks again if it must, seals it into an envelope, commits it and delivers
// it. What a peer says is data, never an order.
package parley

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store/sqlite"
)

// DefaultDB is the file that Start keeps everything in when the environment
// variable PARLEY_DB names no other.
const DefaultDB = "parley.db"

// Start runs the agents on one host of this process, with its store in the
// SQLite file that PARLEY_DB names, else in DefaultDB. The agents reach each
// other by name. It returns when the host is ready; ctx bounds the start
// alone. Stop the host with Host.Stop. A second host on the same file is
// refused with store.ErrInUse.
func Start(ctx context.Context, agents ...*agent.Agent) (*agent.Host, error) {
	path := os.Getenv("PARLEY_DB")
	if path == "" {
		path = DefaultDB
	}
	s, err := sqlite.Open(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("starting parley: %w", err)
	}
	h := agent.NewHost(agent.Config{Store: s}, agents...)
	if err := h.Start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return h, nil
}
