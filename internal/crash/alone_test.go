package crash_test

import (
	"context"
	"github.com/parley-agents/parley/agent"
)

func (c *child) alone(ctx context.Context) error { return nil }

func (c *child) party(name string) *agent.Agent { return agent.New(name) }
