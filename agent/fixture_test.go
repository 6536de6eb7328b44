package agent_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// Seat and Booking are what the tests' booking contract is about.
type Seat struct {
	Flight string `json:"flight" jsonschema:"pattern=^[A-Z]{2}[0-9]+$"`
}

type Booking struct {
	Reference string `json:"reference" jsonschema:"minLength=1"`
}

var (
	book = protocol.Request[Seat, Booking]("acme.flight.book/v1")
	look = protocol.Query[Seat, Booking]("acme.flight.look/v1")
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// open opens the store at path; the test closes what its host does not.
func open(t *testing.T, path string) store.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		auditFile(t, path)
	})
	return s
}

// begin starts a host of the agents on a store of its own.
func begin(t *testing.T, clock agent.Clock, s store.Store, agents ...*agent.Agent) *agent.Host {
	t.Helper()
	if s == nil {
		s = open(t, filepath.Join(t.TempDir(), "parley.db"))
	}
	return beginWith(t, clock, s, nil, agents...)
}

// beginWith starts a host that reaches others from the first moment.
func beginWith(t *testing.T, clock agent.Clock, s store.Store, others []*agent.Host, agents ...*agent.Agent) *agent.Host {
	t.Helper()
	h := agent.NewHost(agent.Config{Store: s, Clock: clock, Log: slog.New(slog.DiscardHandler)}, agents...)
	for _, other := range others {
		h.Connect(agent.PeerHost(other))
	}
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	endsWell(t, h)
	return h
}

// endsWell has the host audited and stopped when the test ends.
func endsWell(t *testing.T, h *agent.Host) {
	t.Helper()
	t.Cleanup(func() {
		audit(t, h)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := h.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
}

// pair starts two hosts that know each other: the planner's and the others'.
func pair(t *testing.T, clock agent.Clock, others ...*agent.Agent) (*agent.Agent, *agent.Host, *agent.Host) {
	t.Helper()
	planner := agent.New("planner")
	a := begin(t, clock, nil, planner)
	b := begin(t, clock, nil, others...)
	agent.Introduce(a, b)
	return planner, a, b
}

func clock() *agenttest.Clock { return agenttest.NewClock(noon) }
