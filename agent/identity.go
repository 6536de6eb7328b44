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

// Token is the signed claim of one of the host's agents to speak to receiver;
// ErrUnknownPeer if sender is none of them, or the host has never started.
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
	key := h.Signer(sender)
	if key == nil {
		return "", fmt.Errorf("token of %s: %w", sender, ErrUnknownPeer)
	}
	token, err := guard.Mint(key, guard.Claims{
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
// Its key is the one that a link knows for it, else the one in Config.Keys, else
// the one that it was first met with; on loopback an agent that was never met is
// taken at its word, if its token is good under the key that it carries, and that
// key is kept from then on. The error says why the token proves nothing, for the
// operator alone.
func (h *Host) Identify(ctx context.Context, token, receiver string, loopback bool) (sender string, err error) {
	now := h.seam.now()
	known, seen := h.tokens.proof(token)
	claims, key := known.claims, known.key
	if !seen {
		if claims, key, err = guard.Peek(token); err != nil {
			return "", err
		}
	}
	uri := claims.Sender
	expected, err := h.keyOf(ctx, uri)
	met := err == nil
	switch {
	case met:
		key = expected
	case !errors.Is(err, errNoKey) || !loopback || h.agents[uri] != nil:
		return "", err
	}
	if !seen || !known.holds(key, receiver, now) {
		if claims, err = guard.Verify(token, key, receiver, now); err != nil {
			return "", err
		}
	}
	if !met {
		if err := h.meet(ctx, uri, key); err != nil {
			return "", err
		}
	}
	h.tokens.remember(token, proved{claims, key})
	return uri, nil
}

// proof is what was found of a token before.
func (t *tokens) proof(token string) (proved, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, ok := t.known[token]
	return p, ok
}

func (t *tokens) remember(token string, p proved) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil || len(t.known) >= maxTokens {
		t.known = map[string]proved{}
	}
	t.known[token] = p
}

// holds reports whether what was found once is still so: for this key, this
// receiver and this moment.
func (p proved) holds(key ed25519.PublicKey, receiver string, now time.Time) bool {
	return p.key.Equal(key) && p.claims.Receiver == receiver && !now.After(p.claims.Expires)
}

// errNoKey: nobody here knows the key of an agent that claims to speak.
var errNoKey = errors.New("its key is not known here")

// keyOf is the key of an agent, errNoKey if it was never met.
func (h *Host) keyOf(ctx context.Context, uri string) (ed25519.PublicKey, error) {
	if key := h.dir.key(uri); key != nil {
		return key, nil
	}
	if key := h.cfg.Keys[uri]; key != nil {
		return key, nil
	}
	if h.agents[uri] == nil { // else it is of this host, which is about to start
		pin, err := h.store.Pinned(ctx, uri)
		if err == nil {
			return pin.Key, nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			return nil, fmt.Errorf("reading the key of %s: %w", uri, err)
		}
	}
	return nil, fmt.Errorf("agent %s: %w", uri, errNoKey)
}

// meet keeps the key that an agent was first met with. Somebody else may have met
// it at the same moment under another one.
func (h *Host) meet(ctx context.Context, uri string, key ed25519.PublicKey) error {
	if _, err := envelope.ParseURI(uri); err != nil {
		return fmt.Errorf("token of %q: %w", uri, err)
	}
	pin, err := h.store.Pin(ctx, store.Pin{URI: uri, Key: key, From: "loopback", At: h.seam.now()})
	if err != nil {
		return fmt.Errorf("keeping the key of %s: %w", uri, err)
	}
	if !key.Equal(ed25519.PublicKey(pin.Key)) {
		return fmt.Errorf("agent %s was met under another key", uri)
	}
	return nil
}

// errNoToken: a message names an agent whose key is known, and proves nothing.
var errNoToken = errors.New("it carries no token")

// authenticate returns the sender that the envelope's token proves, "" if it
// proves none.
func (h *Host) authenticate(ctx context.Context, e *envelope.Envelope, loopback bool) string {
	token := e.Auth()
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
