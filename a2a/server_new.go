package a2a

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
)

// NewServer serves the agents of a host, which may start before or after that.
// A host has one server; what the server posts to webhooks is posted as long as
// the host runs. An error says what is wrong with the configuration.
func NewServer(h *agent.Host, cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	push := newPusher(h, h.Store(), cfg.AllowPrivateWebhooks, cfg.Log)
	var agents []*served
	var services []*service
	for _, uri := range h.Agents() {
		at, err := envelope.ParseURI(uri)
		if err != nil {
			return nil, fmt.Errorf("making an A2A server: %w", err)
		}
		s := newService(h, uri)
		s.read, s.show, s.direct, s.log, s.noStreams = cfg.Read, cfg.Show, cfg.Direct, cfg.Log, cfg.NoStreams
		s.pushes = push.serve(uri, s.find, s.happening)
		services = append(services, s)
		agents = append(agents, &served{name: at.Name, uri: uri, service: s,
			describe: func() (*wire.AgentCard, error) {
				if h.Key(uri) == nil {
					return nil, wire.Errorf(wire.Unavailable, "the agent has not started")
				}
				return describe(h, uri, cfg.About[at.Name])
			},
			sign: func(card *wire.AgentCard) error { return signCard(h, uri, card) }})
	}
	s, err := newServer(cfg, h.Now, h.NewID, agents...)
	if err != nil {
		return nil, err
	}
	for _, each := range services {
		each.closed = s.open.Done()
		h.Posed(each.useNotes)
		h.Run(each.catchUp)
	}
	if !cfg.NoPush {
		h.Run(push.run)
	}
	h.Run(func(ctx context.Context) {
		<-ctx.Done()
		s.Close()
	})
	return s, nil
}

// Handler serves the agents of a host with the defaults of Config: callers of
// this machine, each agent under its name and the first one at the root. It is
// mounted under a prefix as Server.Handler says. A host without agents is a
// mistake of whoever calls it, and panics.
func Handler(h *agent.Host) http.Handler {
	s, err := NewServer(h, Config{})
	if err != nil {
		panic(errors.Join(errors.New("a2a: the host cannot be served"), err))
	}
	return s.Handler()
}
