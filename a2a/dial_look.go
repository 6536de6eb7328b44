package a2a

import (
	"context"
	"crypto/ed25519"
	"fmt"

	"github.com/parley-agents/parley/a2a/wire"
)

// Sight is an agent as its card shows it to whoever looks.
type Sight struct {
	// Card is what it says.
	Card *wire.AgentCard
	// URI is the agent's and Key its key, with which the card is signed. They are ""
	// and nil for an agent that does not know Parley's extension; its signatures
	// are by keys that nobody here knows, and were not judged.
	URI string
	Key ed25519.PublicKey
	// Interface is the one that a Client can be made for: the first that it speaks.
	Interface wire.AgentInterface
}

// Look reads the card under the address, such as "https://hotels.example/desk", of
// any agent, and keeps nothing of it. It returns when the card is read and found
// good, or ctx ends. Errors are those of Dial but for ErrForeign.
func Look(ctx context.Context, url string, cfg DialConfig) (*Sight, error) {
	p, err := newPeer(cfg.Agent, url, cfg)
	if err != nil {
		return nil, fmt.Errorf("looking at %s: %w", url, err)
	}
	defer p.http.CloseIdleConnections()
	text, _, err := p.fetchCard(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("looking at %s: %w", url, err)
	}
	r, err := p.recognize(text)
	if err != nil {
		return nil, fmt.Errorf("looking at %s: %w", url, err)
	}
	return &Sight{Card: r.card, URI: r.agent, Key: r.key, Interface: r.use}, nil
}
