package agent

import (
	"context"
	"crypto/ed25519"
	"slices"
	"sync"
	"time"

	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/store"
)

// beside is what runs along with the host and is not started yet, and what wants
// to know of questions.
type beside struct {
	mu      sync.Mutex
	up      bool
	waiting []func(ctx context.Context)
	posed   []func(ctx context.Context, about store.Key)
}

// Run runs f beside the host, in a goroutine of its own: from the host's start,
// or from now on if it has started, until f returns. ctx ends when the host
// stops, which waits for f. After that f is not run any more.
func (h *Host) Run(f func(ctx context.Context)) {
	h.beside.mu.Lock()
	up := h.beside.up
	if !up {
		h.beside.waiting = append(h.beside.waiting, f)
	}
	h.beside.mu.Unlock()
	if up {
		h.spawn(func() { f(h.running) })
	}
}

// runBeside starts what waits for the host's start.
func (h *Host) runBeside() {
	h.beside.mu.Lock()
	waiting := h.beside.waiting
	h.beside.up, h.beside.waiting = true, nil
	h.beside.mu.Unlock()
	for _, f := range waiting {
		h.spawn(func() { f(h.running) })
	}
}

// Agents are the URIs of the host's agents, in the order in which they were
// given.
func (h *Host) Agents() []string { return slices.Clone(h.order) }

// Key is the public key of one of the host's agents, nil if it is not one or the
// host has not started.
func (h *Host) Key(uri string) ed25519.PublicKey { return h.publicKey(uri) }

// Signer is the private key that belongs to Key, nil when that is. It is for what
// an agent signs beside its messages, such as its card.
func (h *Host) Signer(uri string) ed25519.PrivateKey {
	if h.publicKey(uri) == nil {
		return nil
	}
	return h.keys[uri]
}

// Contracts are what one of the host's agents answers, by name; nil if it is
// none. They must not be changed.
func (h *Host) Contracts(uri string) []*guard.Contract {
	if a := h.agents[uri]; a != nil {
		return slices.Clip(a.contracts)
	}
	return nil
}

// Now is the present moment by the host's clock, in whole milliseconds.
func (h *Host) Now() time.Time { return h.seam.now() }

// At calls f once, in a goroutine of its own, when the host's clock reaches t;
// stop prevents a call that has not begun.
func (h *Host) At(t time.Time, f func()) (stop func()) { return h.seam.clock.At(t, f) }

// NewID is a fresh UUIDv7 of the host's time and randomness.
func (h *Host) NewID() string { return h.seam.id() }
