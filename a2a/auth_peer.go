package a2a

import (
	"context"
	"fmt"
	"net/http"

	"github.com/parley-agents/parley/a2a/wire"
)

// Identifier tells which agent a token proves to be the caller of receiver; an
// *agent.Host is one.
type Identifier interface {
	Identify(ctx context.Context, token, receiver string, loopback bool) (sender string, err error)
}

// PeerTokens authenticates agents of other Parley hosts by the token in the
// header Parley-Token: their callers' URI is the agent's own. Without it among
// Config.Authenticate, a server that authenticates needs other credentials of
// them too.
func PeerTokens(h Identifier) Authenticator { return peerTokens{h} }

type peerTokens struct{ by Identifier }

func (p peerTokens) Authenticate(r *http.Request, agent string) (*Identity, error) {
	token := r.Header.Get(headerToken)
	if token == "" {
		return nil, nil
	}
	sender, err := p.by.Identify(r.Context(), token, agent, isLoopback(r))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCredentials, err)
	}
	if isGiven(sender, agent) {
		return nil, ErrCredentials
	}
	return &Identity{Scheme: "parley", Subject: sender, URI: sender}, nil
}

func (peerTokens) Describe() (string, wire.SecurityScheme) {
	return "parley", wire.SecurityScheme{APIKey: &wire.APIKeyScheme{Location: "header", Name: headerToken,
		Description: "A token of an agent of Parley, made for the agent that is called."}}
}
