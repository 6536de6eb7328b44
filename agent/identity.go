package agent

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/store"
)

// tokenLife is how long a token on a direct carrier is good for.
const tokenLife = 5 * time.Minute

// maxTokens bounds the cache; a host that talks to more peers makes some anew.
const maxTokens = 4096

// tokens caches the tokens made, one per sender and receiver, and those that
// were verified.
type tokens struct {
	mu    sync.Mutex
	made  map[[2]string]issued
	known map[string]proved
}

type issued struct {
	token string
	until time.Time
}

// proved is what a token proves.
type proved struct {
	claims guard.Claims
	key    ed25519.PublicKey
}

// Token is the signed claim of one of the host's agents to speak to receiver.
// It is good for five minutes from when it was made, and half of them at least
// from now; it is made when bytes are sent or fetched, and never stored.
func (h *Host) Token(sender, receiver string) (string, error) {
	now := h.seam.now()
	h.tokens.mu.Lock()
	defer h.tokens.mu.Unlock()
	pair := [2]string{sender, receiver}
	if t, ok := h.tokens.made[pair]; ok && now.Before(t.until) {
		return t.token, nil
	}
	if h.keys[sender] == nil {
		return "", fmt.Errorf("token of %s: %w", sender, ErrUnknownPeer)
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

// Identify returns the agent that a token proves to be the caller of receiver.
// Its key is the one that a link knows for it, else the one that it was first met
// with; on loopback an agent that was never met is taken at its word, and its key
// is kept from then on. The error says why the token proves nothing, for the
// operator alone.
func (h *Host) Identify(ctx context.Context, token, receiver string, loopback bool) (sender string, err error) {
	now := h.seam.now()
	h.tokens.mu.Lock()
	known, seen := h.tokens.known[token]
	h.tokens.mu.Unlock()
	claimed, hint := known.claims, known.key
	if !seen {
		if claimed, hint, err = guard.Peek(token); err != nil {
			return "", err
		}
	}
	key, err := h.keyOf(ctx, claimed.Sender, hint, loopback)
	if err != nil {
		return "", err
	}
	if seen && key.Equal(known.key) && known.claims.Receiver == receiver && !now.After(known.claims.Expires) {
		return known.claims.Sender, nil
	}
	claims, err := guard.Verify(token, key, receiver, now)
	if err != nil {
		return "", err
	}
	h.tokens.mu.Lock()
	defer h.tokens.mu.Unlock()
	if h.tokens.known == nil || len(h.tokens.known) >= maxTokens {
		h.tokens.known = map[string]proved{}
	}
	h.tokens.known[token] = proved{claims, key}
	return claims.Sender, nil
}

// errNoKey: nobody here knows the key of an agent that claims to speak.
var errNoKey = errors.New("its key is not known here")

// keyOf is the key of an agent; hint is the one that its token carries.
func (h *Host) keyOf(ctx context.Context, uri string, hint ed25519.PublicKey, loopback bool) (ed25519.PublicKey, error) {
	if key := h.dir.key(uri); key != nil {
		return key, nil
	}
	if h.agents[uri] != nil {
		return nil, fmt.Errorf("agent %s: %w", uri, errNoKey) // of this host, which is about to start
	}
	pin, err := h.store.Pinned(ctx, uri)
	if errors.Is(err, store.ErrNotFound) && loopback {
		if _, bad := envelope.ParseURI(uri); bad != nil {
			return nil, fmt.Errorf("token of %q: %w", uri, bad)
		}
		pin, err = h.store.Pin(ctx, store.Pin{URI: uri, Key: hint, From: "loopback", At: h.seam.now()})
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("agent %s: %w", uri, errNoKey)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the key of %s: %w", uri, err)
	}
	return ed25519.PublicKey(pin.Key), nil
}

// errNoToken: a message names an agent whose key is known, and proves nothing.
var errNoToken = errors.New("it carries no token")

// authenticate returns the sender that the envelope's token proves, "" if it
// proves none.
func (h *Host) authenticate(ctx context.Context, e *envelope.Envelope, loopback bool) string {
	token := e.Header().Auth
	var sender string
	var err error
	switch {
	case token != "":
		sender, err = h.Identify(ctx, token, e.Receiver(), loopback)
	case h.dir.key(e.Sender()) != nil:
		err = errNoToken
	}
	if err != nil && !errors.Is(err, errNoKey) {
		h.report(h.running, AuthRefused, keyOf(e), err, slog.String("message", e.ID()))
		return ""
	}
	return sender
}

func authority(uri string) string {
	rest := strings.TrimPrefix(uri, "agent://")
	name, _, _ := strings.Cut(rest, "/")
	return name
}
