package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// ledger is the carriers' booking system. Like a real one it takes an
// idempotency key: a truck is booked once for each. It is safe for concurrent
// use.
type ledger struct {
	mu     sync.Mutex
	booked map[string]string // reference by key
}

func newLedger() *ledger { return &ledger{booked: map[string]string{}} }

// book returns the reference of the key's truck.
func (l *ledger) book(carrier, key string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.booked[key] == "" {
		l.booked[key] = fmt.Sprintf("%s-%04d", strings.ToUpper(carrier[:2]), len(l.booked)+1)
	}
	return l.booked[key]
}

func (l *ledger) has(reference string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(slices.Collect(maps.Values(l.booked)), reference)
}
