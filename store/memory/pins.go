package memory

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-agents/parley/store"
)

func copyPin(p store.Pin) store.Pin {
	p.Key, p.At = bytes.Clone(p.Key), clock(p.At)
	return p
}

// Pin implements store.Store.
func (s *Store) Pin(ctx context.Context, candidate store.Pin) (kept store.Pin, err error) {
	err = s.locked(ctx, func(t *tables) error {
		if _, found := t.pins[candidate.URI]; !found {
			t.pins[candidate.URI] = copyPin(candidate)
		}
		kept = copyPin(t.pins[candidate.URI])
		return nil
	})
	return kept, err
}

// Pinned implements store.Store.
func (s *Store) Pinned(ctx context.Context, uri string) (kept store.Pin, err error) {
	err = s.locked(ctx, func(t *tables) error {
		p, err := find(t.pins, uri, "the pinned key of "+uri)
		kept = copyPin(p)
		return err
	})
	return kept, err
}

// Pins implements store.Store.
func (s *Store) Pins(ctx context.Context) (found []store.Pin, err error) {
	err = s.locked(ctx, func(t *tables) error {
		for _, uri := range slices.Sorted(maps.Keys(t.pins)) {
			found = append(found, copyPin(t.pins[uri]))
		}
		return nil
	})
	return found, err
}

// Unpin implements store.Store.
func (s *Store) Unpin(ctx context.Context, uri string) error {
	return s.locked(ctx, func(t *tables) error {
		if _, found := t.pins[uri]; !found {
			return fmt.Errorf("unpin the key of %s: %w", uri, store.ErrNotFound)
		}
		delete(t.pins, uri)
		return nil
	})
}
