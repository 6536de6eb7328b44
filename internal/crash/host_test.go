package crash_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"math"
	"os"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// seats are the roles with the agents that live there.
var seats = map[string][]string{"asker": {"planner", "bank", "bob"}, "answerer": {"clerk", "ann"}}

func uri(name string) string { return "agent://local/" + name }

// key is an agent's signing key: both processes know all of them.
func key(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("key of " + name))
	return ed25519.NewKeyFromSeed(seed[:])
}

// start starts the host of the role's agents, linked to the other role's, and
// listens.
func (c *child) start(ctx context.Context) error {
	s, err := sqlite.Open(ctx, c.db())
	if err != nil {
		return err
	}
	m := &mortal{s, c}
	var own []*agent.Agent
	var links []agent.Link
	for role, names := range seats {
		keys := map[string]ed25519.PublicKey{}
		for _, name := range names {
			keys[uri(name)] = key(name).Public().(ed25519.PublicKey)
			if role != c.Role {
				continue
			}
			if _, err := m.Identity(ctx, store.Identity{Owner: uri(name), Seed: key(name).Seed()}); err != nil {
				return err
			}
			c.agents[name] = c.cast(name)
			own = append(own, c.agents[name])
		}
		if role != c.Role {
			links = append(links, agent.PeerAt(wire{c, c.socket(role)}, keys))
		}
	}
	c.host = agent.NewHost(agent.Config{Store: m, Clock: c.clock, Log: slog.New(slog.DiscardHandler), Observer: c,
		MaxRuns: math.MaxInt32, // it is not the work that ends the process
	}, own...)
	for _, l := range links {
		c.host.Connect(l)
	}
	if err := c.host.Start(ctx); err != nil {
		return err
	}
	return c.listen()
}

// Observe complains of what must not happen, however often processes are
// killed: the driver takes what is written to standard error for a fault.
func (c *child) Observe(_ context.Context, o agent.Observation) {
	switch o.Name {
	case agent.MessageDead:
		if c.Ask != "" {
			return // its receiver is, for good
		}
		fallthrough
	case agent.HandlerFailed, agent.HandlerPanicked, agent.ToolFailed, agent.ToolPanicked, agent.ModelFailed:
		fmt.Fprintln(os.Stderr, o.Name, o.Owner, o.Conversation, o.Peer, o.Err)
	}
}

// fast is a clock that shows the system's time at its base and runs so many times
// as fast from then on, alike in every process: what is waited for between two
// tries costs a test that much less.
type fast struct {
	base time.Time
	pace time.Duration
}

func (f fast) Now() time.Time { return f.base.Add(f.pace * time.Since(f.base)).UTC() }

func (f fast) At(t time.Time, do func()) func() {
	timer := time.AfterFunc(time.Until(f.base.Add(t.Sub(f.base)/f.pace)), do)
	return func() { timer.Stop() }
}
