package agent

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
)

// Contract is a contract whatever its Go types are.
type Contract interface {
	Name() protocol.Name
	bound() (*guard.Contract, error)
}

// Describe makes a typed contract a plain one, for lists of contracts.
func Describe[In, Out any](c protocol.Contract[In, Out]) Contract { return described[In, Out]{c} }

type described[In, Out any] struct{ protocol.Contract[In, Out] }

func (d described[In, Out]) bound() (*guard.Contract, error) { return bind(d.Contract) }

// peer is another agent that the agent's model may ask.
type peer struct {
	name      string
	contracts []*guard.Contract
}

// Peer lets the agent's model ask another agent: each contract is offered to
// it as a function, and only those. The name is a bare name of the host's own
// authority or a whole URI; where it leads is the host's directory's business.
func Peer(name string, contracts ...Contract) Option {
	return option(func(a *Agent) {
		p := peer{name: name}
		for _, c := range contracts {
			b, err := c.bound()
			if err != nil {
				a.fault("peer %s: %w", name, err)
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
	links []Link
}

// add puts a link in front of those known: a host that was reopened takes the
// place of the one that was dropped.
func (d *directory) add(l Link) {
	d.mu.Lock()
	defer d.mu.Unlock()
	kept := []Link{l}
	for _, old := range d.links {
		if slices.ContainsFunc(old.agents, func(uri string) bool { return !slices.Contains(l.agents, uri) }) {
			kept = append(kept, old)
		}
	}
	d.links = kept
}

// find returns the transport to an agent and its key.
func (d *directory) find(uri string) (Transport, ed25519.PublicKey, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, l := range d.links {
		if slices.Contains(l.agents, uri) {
			return l.transport, l.key(uri), true
		}
	}
	return nil, nil, false
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
