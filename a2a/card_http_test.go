package a2a

import (
	"context"

	"github.com/parley-agents/parley/a2a/wire"
)

func keepCard(_ context.Context, _, _ string, public *wire.AgentCard) (*wire.AgentCard, error) {
	return public, nil
}
