package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/parley-agents/parley/store"
)

// Pin implements store.Store. It waits for the writer even if there is a pin:
// who expects one asks Pinned first.
func (s *Store) Pin(ctx context.Context, candidate store.Pin) (store.Pin, error) {
	var kept store.Pin
	err := s.hand(ctx, newJob(0, func(ctx context.Context, w *writer) (err error) {
		if _, err = w.stmt.keepPin.ExecContext(ctx, candidate.URI, candidate.Key, candidate.From, millis(candidate.At)); err == nil {
			kept, err = scanPin(w.stmt.pin.QueryRowContext(ctx, candidate.URI))
		}
		return err
	}))
	if err != nil {
		return store.Pin{}, fmt.Errorf("pin the key of %s: %w", candidate.URI, err)
	}
	return kept, nil
}

// Pinned implements store.Store.
func (s *Store) Pinned(ctx context.Context, uri string) (store.Pin, error) {
	return one(ctx, s, "the pinned key of "+uri, s.query.pin, scanPin, uri)
}

// Pins implements store.Store.
func (s *Store) Pins(ctx context.Context) ([]store.Pin, error) {
	return many(ctx, s, "the pinned keys", s.query.pins, scanPin)
}

// Unpin implements store.Store.
func (s *Store) Unpin(ctx context.Context, uri string) error {
	err := s.hand(ctx, newJob(0, func(ctx context.Context, w *writer) error {
		w.clean = true // it writes last if at all
		return orNotFound(exec(ctx, w.stmt.unpin, uri))
	}))
	if err != nil {
		return fmt.Errorf("unpin the key of %s: %w", uri, err)
	}
	return nil
}

// Unpin forgets the pin of an agent in the file at path, from another process
// beside whoever has it open: it takes no lock, and waits up to five seconds for
// a write set that a host has in hand. It returns when that is durable; a host
// that runs keeps the next key that the agent shows. The error wraps
// store.ErrNotFound if there is no such pin. Once the write has begun, a caller
// whose ctx ends must not assume that nothing was written.
func Unpin(ctx context.Context, path, uri string) error {
	err := beside(ctx, path, func(db *sql.DB) error {
		result, err := db.ExecContext(ctx, unpin, uri)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		return orNotFound(n > 0, err)
	})
	if err != nil {
		return fmt.Errorf("unpin the key of %s in store %s: %w", uri, path, err)
	}
	return nil
}

// orNotFound makes store.ErrNotFound of a change that found no row.
func orNotFound(changed bool, err error) error {
	if err == nil && !changed {
		return store.ErrNotFound
	}
	return err
}
