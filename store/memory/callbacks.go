package memory

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"github.com/parley-agents/parley/store"
)

func aboutCallback(k store.CallbackKey) string {
	return fmt.Sprintf("callback %s of %s under task %s", k.ID, k.Owner, k.Task)
}

func copyCallback(c store.Callback) store.Callback {
	c.Config, c.NextAt, c.CreatedAt = append([]byte(nil), c.Config...), clock(c.NextAt), clock(c.CreatedAt)
	return c
}

// PutCallback implements store.Store.
func (s *Store) PutCallback(ctx context.Context, c store.Callback) error {
	return s.locked(ctx, func(t *tables) error {
		t.callbacks[c.CallbackKey] = copyCallback(c)
		return nil
	})
}

// Callback implements store.Store.
func (s *Store) Callback(ctx context.Context, k store.CallbackKey) (found store.Callback, err error) {
	err = s.locked(ctx, func(t *tables) error {
		c, err := find(t.callbacks, k, aboutCallback(k))
		found = copyCallback(c)
		return err
	})
	return found, err
}

// Callbacks implements store.Store. It looks at all of them.
func (s *Store) Callbacks(ctx context.Context, owner, task string) (found []store.Callback, err error) {
	err = s.locked(ctx, func(t *tables) error {
		found = listed(t.callbacks,
			func(c store.Callback) bool {
				return c.Owner == owner && (task != "" && c.Task == task || task == "" && !c.Done)
			},
			func(a, b store.Callback) int { return cmp.Or(cmp.Compare(a.Task, b.Task), cmp.Compare(a.ID, b.ID)) }, copyCallback)
		return nil
	})
	return found, err
}

// DeleteCallback implements store.Store.
func (s *Store) DeleteCallback(ctx context.Context, k store.CallbackKey) error {
	return s.locked(ctx, func(t *tables) error {
		if _, found := t.callbacks[k]; !found {
			return fmt.Errorf("delete %s: %w", aboutCallback(k), store.ErrNotFound)
		}
		delete(t.callbacks, k)
		return nil
	})
}

// AdvanceCallback implements store.Store.
func (s *Store) AdvanceCallback(ctx context.Context, c store.Callback) error {
	return s.locked(ctx, func(t *tables) error {
		old, found := t.callbacks[c.CallbackKey]
		if !found || !bytes.Equal(old.Config, c.Config) {
			return fmt.Errorf("advance %s: %w", aboutCallback(c.CallbackKey), store.ErrNotFound)
		}
		old.Place, old.Done, old.Attempt, old.NextAt = c.Place, c.Done, c.Attempt, clock(c.NextAt)
		t.callbacks[c.CallbackKey] = old
		return nil
	})
}
