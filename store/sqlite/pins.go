package sqlite

import (
	"context"
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

// orNotFound makes store.ErrNotFound of a change that found no row.
func orNotFound(changed bool, err error) error {
	if err == nil && !changed {
		return store.ErrNotFound
	}
	return err
}
