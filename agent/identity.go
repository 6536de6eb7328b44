package agent

import (
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
)

// tokenLife is how long a token on a direct carrier is good for.
const tokenLife = 5 * time.Minute

// maxTokens bounds the cache; a host that talks to more peers makes some anew.
const maxTokens = 4096

// tokens caches the tokens made: one per sender and receiver.
type tokens struct {
	mu   sync.Mutex
	made map[[2]string]issued
}

type issued struct {
	token string
	until time.Time
}

// token is the sender's signed claim for a message to receiver. It is made
// when bytes are sent and never stored.
func (h *Host) token(sender, receiver string) (string, error) {
	now := h.seam.now()
	h.tokens.mu.Lock()
	defer h.tokens.mu.Unlock()
	pair := [2]string{sender, receiver}
	if t, ok := h.tokens.made[pair]; ok && now.Before(t.until) {
		return t.token, nil
	}
	token, err := guard.Mint(h.keys[sender], guard.Claims{
		Sender: sender, Receiver: receiver, Tenant: authority(sender), Expires: now.Add(tokenLife)})
	if err != nil {
		return "", err
	}
	if h.tokens.made == nil || len(h.tokens.made) >= maxTokens {
		h.tokens.made = map[[2]string]issued{}
	}
	h.tokens.made[pair] = issued{token, now.Add(tokenLife / 2)}
	return token, nil
}

// authenticate returns the sender that the envelope's token proves, "" if it
// proves none.
func (h *Host) authenticate(e *envelope.Envelope) string {
	_, key, ok := h.dir.find(e.Sender())
	if !ok || key == nil {
		return ""
	}
	claims, err := guard.Verify(e.Header().Auth, key, e.Receiver(), h.seam.now())
	if err != nil {
		h.report(h.running, AuthRefused, keyOf(e), err, slog.String("message", e.ID()))
		return ""
	}
	return claims.Sender
}

func authority(uri string) string {
	rest := strings.TrimPrefix(uri, "agent://")
	name, _, _ := strings.Cut(rest, "/")
	return name
}
