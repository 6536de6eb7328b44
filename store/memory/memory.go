// Package memory keeps a Parley store in the memory of the process, for
// tests and for agents that need not remember: nothing survives the process.
// Within it the store keeps every promise of the interface.
package memory

import (
	"context"
	"sync"

	"github.com/parley-agents/parley/store"
)

// Store is a store.Store in memory. Make it with New. All methods may be
// called at once by several goroutines; one works at a time.
type Store struct {
	records *records
	owners  store.OwnerSet
	closed  bool // guarded by records.mu
}

var _ store.Store = (*Store)(nil)

// records are what a store holds. They outlive its Close, for Reopen.
type records struct {
	mu     sync.Mutex
	holder *Store // that has them open, nil if none
	tables
}

// New returns an empty store. Close it when done.
func New() *Store {
	s := &Store{records: &records{tables: newTables()}}
	s.records.holder = s
	return s
}

// Reopen returns a new store that holds what was committed to s, as opening a
// file again would. It returns store.ErrInUse while s, or another store that
// was made from its records, is not closed.
func (s *Store) Reopen() (*Store, error) {
	r := s.records
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holder != nil {
		return nil, store.ErrInUse
	}
	r.holder = &Store{records: r}
	return r.holder, nil
}

// Close ends the store after the call in hand. Every later call gets
// store.ErrClosed. Closing twice is harmless.
func (s *Store) Close() error {
	s.records.mu.Lock()
	defer s.records.mu.Unlock()
	if !s.closed {
		s.closed, s.records.holder = true, nil
	}
	return nil
}

// locked runs do on the tables, alone.
func (s *Store) locked(ctx context.Context, do func(*tables) error) error {
	s.records.mu.Lock()
	defer s.records.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.closed {
		return store.ErrClosed
	}
	return do(&s.records.tables)
}
