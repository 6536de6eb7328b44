package agent

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
)

// Contract is a contract whatever its kind and its Go types are.
type Contract = protocol.Declared

// peer is another agent that the agent's model may ask.
type peer struct {
	name      string
	contracts []*guard.Contract
}

// address is where another agent can be reached.
type address struct{ name, url string }

// Peer says where another agent is reached: the address that leads to its card,
// such as "https://hotels.example/desk". The name is a bare name of the host's
// own authority or a whole URI. Config.Dial makes the link, at the host's start;
// several agents of a host may name the same peer, at one address.
func Peer(name, url string) Option {
	return option(func(a *Agent) { a.addresses = append(a.addresses, address{name, url}) })
}

// MayAsk lets the agent's model ask another agent: each contract is offered to
// it as a function, and only those. They are requests, queries and offers: what
// several peers or a stream are needed for is a tool's to do. The name is a bare name of the host's own
// authority or a whole URI; where it leads is the host's directory's business.
func MayAsk(name string, contracts ...Contract) Option {
	return option(func(a *Agent) {
		p := peer{name: name}
		for _, c := range contracts {
			b, err := guard.Bind(c)
			switch {
			case err != nil:
				a.fault("peer %s: %w", name, err)
				return
			case b.Protocol != protocol.RequestV1 && b.Protocol != protocol.QueryV1 && b.Protocol != protocol.ProposeV1:
				a.fault("peer %s: a model cannot ask for %s under %s", name, b.Name, b.Protocol)
				return
			}
			p.contracts = append(p.contracts, b)
		}
		a.peers = append(a.peers, p)
	})
}

// directory knows where agents are and which keys are theirs.
type directory struct {
	mu    sync.RWMutex
	links map[string]Link // by the URI of an agent
}

// add makes the link the one to its agents: a host that was reopened takes the
// place of the one that was dropped.
func (d *directory) add(l Link) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.links == nil {
		d.links = map[string]Link{}
	}
	for _, uri := range l.agents {
		d.links[uri] = l
	}
}

// find returns the link to an agent.
func (d *directory) find(uri string) (Link, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	l, ok := d.links[uri]
	return l, ok
}

// key is the key of an agent, nil if no link knows it.
func (d *directory) key(uri string) ed25519.PublicKey {
	l, ok := d.find(uri)
	if !ok || l.key == nil {
		return nil
	}
	return l.key(uri)
}

// dial makes the links to the addresses that the agents were given. Nothing is
// connected before all are made: a start that fails here may be tried again.
func (h *Host) dial(ctx context.Context) ([]Link, error) {
	var all []address
	for _, name := range slices.Sorted(maps.Keys(h.cfg.Peers)) {
		all = append(all, address{name, h.cfg.Peers[name]})
	}
	for _, owner := range h.owners {
		all = append(all, h.agents[owner].addresses...)
	}
	known := map[string]string{}
	var links []Link
	for _, to := range all {
		uri, err := h.resolve(to.name)
		if err != nil {
			return nil, err
		}
		switch url, again := known[uri]; {
		case again && url != to.url:
			return nil, fmt.Errorf("peer %s has two addresses, %s and %s", uri, url, to.url)
		case again:
			continue
		case h.agents[uri] != nil:
			return nil, fmt.Errorf("peer %s is an agent of this host and needs no address", uri)
		case h.cfg.Dial == nil:
			return nil, fmt.Errorf("peer %s has an address, and Config.Dial is nil", uri)
		}
		known[uri] = to.url
		link, err := h.cfg.Dial(ctx, uri, to.url)
		if err != nil {
			return nil, fmt.Errorf("peer %s at %s: %w", uri, to.url, err)
		}
		links = append(links, link)
	}
	return links, nil
}

// resolve makes a URI of a bare name.
func (h *Host) resolve(name string) (string, error) {
	if !strings.Contains(name, "://") {
		name = h.uri(name)
	}
	u, err := envelope.ParseURI(name)
	if err != nil {
		return "", fmt.Errorf("peer %q: %w", name, err)
	}
	return u.String(), nil
}
