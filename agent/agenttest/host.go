package agenttest

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store/sqlite"
)

// stopWithin is how long handlers may take to end at the end of a test.
const stopWithin = 10 * time.Second

// Host starts a host of the agents on a store of its own in t.TempDir() and
// stops it when the test ends. What goes wrong fails the test.
func Host(t testing.TB, agents ...*agent.Agent) *agent.Host {
	t.Helper()
	return HostAt(t, nil, agents...)
}

// HostAt is Host with a clock of the test's: a *Clock that it moves by hand, or
// nil for the system's.
func HostAt(t testing.TB, clock agent.Clock, agents ...*agent.Agent) *agent.Host {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "parley.db"))
	if err != nil {
		t.Fatal(err)
	}
	h := agent.NewHost(agent.Config{Store: s, Clock: clock, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}, agents...)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
		defer cancel()
		if err := h.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h
}

// Hosts starts a host for each agent, as if they ran in different places, and
// introduces them to each other.
func Hosts(t testing.TB, agents ...*agent.Agent) []*agent.Host {
	t.Helper()
	var list []*agent.Host
	for _, a := range agents {
		list = append(list, Host(t, a))
	}
	agent.Introduce(list...)
	return list
}
