package agent

import (
	"crypto/ed25519"
	"fmt"
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

// Peer lets the agent's model ask another agent: each contract is offered to
// it as a function, and only those. They are requests, queries and offers: what
// several peers or a stream are needed for is a tool's to do. The name is a bare name of the host's own
// authority or a whole URI; where it leads is the host's directory's business.
func Peer(name string, contracts ...Contract) Option {
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

// find returns the transport to an agent and its key.
func (d *directory) find(uri string) (Transport, ed25519.PublicKey, bool) {
	d.mu.RLock()
	l, ok := d.links[uri]
	d.mu.RUnlock()
	if !ok {
		return nil, nil, false
	}
	return l.transport, l.key(uri), true
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
