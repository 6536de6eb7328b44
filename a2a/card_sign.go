package a2a

import (
	"errors"
	"fmt"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
)

// signCard signs a card with the agent's own key; the signature's key id is the
// agent's URI. An Ed25519 signature of one text is always the same.
func signCard(h *agent.Host, uri string, card *wire.AgentCard) error {
	key := h.Signer(uri)
	if key == nil {
		return fmt.Errorf("signing the card of %s: %w", uri, errNotUp)
	}
	return wire.SignCard(card, key, uri)
}

// errNotUp: an agent has no key before its host has started.
var errNotUp = errors.New("its host has not started")
