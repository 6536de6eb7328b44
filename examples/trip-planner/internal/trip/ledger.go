package trip

import (
	"crypto/sha256"
	"encoding/base32"
	"slices"
	"sync"
)

// Effect is what was done under one key: Times counts the reservations made,
// Calls how often the supplier was asked for it.
type Effect struct {
	Key   string `json:"key"`
	Kind  string `json:"kind"`
	Times int    `json:"times"`
	Calls int    `json:"-"`
}

// Ledger plays the booking system of a supplier: a system elsewhere, which a
// crash of the agent that talks to it does not touch. Like real ones it takes
// an idempotency key. It is safe for concurrent use.
type Ledger struct {
	mu      sync.Mutex
	effects []*Effect
}

// Reserve makes the reservation of a key, once, and returns its reference.
func (l *Ledger) Reserve(kind, key string) (reference string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sum := sha256.Sum256([]byte(kind + "\x00" + key))
	reference = base32.StdEncoding.EncodeToString(sum[:])[:6]
	i := slices.IndexFunc(l.effects, func(e *Effect) bool { return e.Key == key && e.Kind == kind })
	if i < 0 {
		l.effects = append(l.effects, &Effect{Key: key, Kind: kind, Times: 1, Calls: 1})
		return reference
	}
	l.effects[i].Calls++
	return reference
}

// Effects lists what was done.
func (l *Ledger) Effects() []Effect {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Effect, len(l.effects))
	for i, e := range l.effects {
		out[i] = *e
	}
	return out
}
