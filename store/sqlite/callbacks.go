package sqlite

import (
	"context"
	"fmt"

	"github.com/parley-agents/parley/store"
)

// callbackKey says which callback is meant.
const callbackKey = "owner = ? AND task = ? AND id = ?"

func callbackKeyValues(k store.CallbackKey) []any { return []any{k.Owner, k.Task, k.ID} }

func aboutCallback(k store.CallbackKey) string {
	return fmt.Sprintf("callback %s of %s under task %s", k.ID, k.Owner, k.Task)
}

// config is never NULL, so that it can be compared.
func config(c store.Callback) []byte { return append([]byte{}, c.Config...) }

// PutCallback implements store.Store.
func (s *Store) PutCallback(ctx context.Context, c store.Callback) error {
	err := s.hand(ctx, newJob(len(c.Config), func(ctx context.Context, w *writer) error {
		_, err := w.stmt.putCallback.ExecContext(ctx, append(callbackKeyValues(c.CallbackKey),
			c.Peer, config(c), c.Place, c.Done, c.Attempt, millis(c.NextAt), millis(c.CreatedAt))...)
		return err
	}))
	if err != nil {
		return fmt.Errorf("write %s: %w", aboutCallback(c.CallbackKey), err)
	}
	return nil
}

// Callback implements store.Store.
func (s *Store) Callback(ctx context.Context, k store.CallbackKey) (store.Callback, error) {
	return one(ctx, s, aboutCallback(k), s.query.callback, scanCallback, callbackKeyValues(k)...)
}

// Callbacks implements store.Store.
func (s *Store) Callbacks(ctx context.Context, owner, task string) ([]store.Callback, error) {
	if task == "" {
		return many(ctx, s, "the callbacks of "+owner+" that are not done", s.query.openCallbacks, scanCallback, owner)
	}
	return many(ctx, s, fmt.Sprintf("the callbacks of %s under task %s", owner, task), s.query.callbacks, scanCallback, owner, task)
}

// DeleteCallback implements store.Store.
func (s *Store) DeleteCallback(ctx context.Context, k store.CallbackKey) error {
	err := s.hand(ctx, newJob(0, func(ctx context.Context, w *writer) error {
		w.clean = true // it writes last if at all
		return orNotFound(exec(ctx, w.stmt.deleteCallback, callbackKeyValues(k)...))
	}))
	if err != nil {
		return fmt.Errorf("delete %s: %w", aboutCallback(k), err)
	}
	return nil
}

// AdvanceCallback implements store.Store.
func (s *Store) AdvanceCallback(ctx context.Context, c store.Callback) error {
	err := s.hand(ctx, newJob(0, func(ctx context.Context, w *writer) error {
		w.clean = true // it writes last if at all
		return orNotFound(exec(ctx, w.stmt.advanceCallback, append([]any{c.Place, c.Done, c.Attempt, millis(c.NextAt)},
			append(callbackKeyValues(c.CallbackKey), config(c))...)...))
	}))
	if err != nil {
		return fmt.Errorf("advance %s: %w", aboutCallback(c.CallbackKey), err)
	}
	return nil
}
