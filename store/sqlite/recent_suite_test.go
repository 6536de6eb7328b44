package sqlite_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// pair is a store each of whose reads is made a second time by somebody who has
// nothing but the file: what the store remembers must be what it has written.
type pair struct {
	*sqlite.Store
	t    *testing.T
	file *sqlite.Store
}

func compared(t *testing.T, path string) store.Store {
	t.Helper()
	s := open(t, path)
	file, err := sqlite.Inspect(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return pair{s, t, file}
}

func (p pair) Close() error { return errors.Join(p.file.Close(), p.Store.Close()) }

// both makes a read twice. Others may write meanwhile: then it is made again.
func both[T any](p pair, what string, read func(store.Store) (T, error)) (T, error) {
	p.t.Helper()
	const tries = 50
	var found, stands T
	var err, failed error
	for range tries {
		if found, err = read(p.Store); err != nil && !errors.Is(err, store.ErrNotFound) {
			return found, err
		}
		stands, failed = read(p.file)
		if errors.Is(failed, store.ErrClosed) || (failed == nil) == (err == nil) && reflect.DeepEqual(found, stands) {
			return found, err
		}
	}
	p.t.Errorf("%s reads %+v (%v), in the file is %+v (%v)", what, found, err, stands, failed)
	return found, err
}

func (p pair) Exchange(ctx context.Context, k store.Key) (store.Exchange, error) {
	return both(p, "an exchange", func(s store.Store) (store.Exchange, error) { return s.Exchange(ctx, k) })
}

func (p pair) Inbox(ctx context.Context, k store.InboxKey) (store.Inbox, error) {
	return both(p, "an inbox row", func(s store.Store) (store.Inbox, error) { return s.Inbox(ctx, k) })
}

func (p pair) Effect(ctx context.Context, k store.EffectKey) (store.Effect, error) {
	return both(p, "an effect", func(s store.Store) (store.Effect, error) { return s.Effect(ctx, k) })
}

func (p pair) Tasks(ctx context.Context, owner, task string) ([]store.Exchange, error) {
	return both(p, "a task", func(s store.Store) ([]store.Exchange, error) { return s.Tasks(ctx, owner, task) })
}

func (p pair) Exchanges(ctx context.Context, owner, conversation string) ([]store.Exchange, error) {
	return both(p, "a conversation", func(s store.Store) ([]store.Exchange, error) { return s.Exchanges(ctx, owner, conversation) })
}

func (p pair) Log(ctx context.Context, owner, conversation string, after int64) ([]store.Entry, error) {
	return both(p, "a log", func(s store.Store) ([]store.Entry, error) { return s.Log(ctx, owner, conversation, after) })
}

func (p pair) LogPage(ctx context.Context, owner, conversation string, after int64, limit int) ([]store.Entry, error) {
	return both(p, "a page of a log", func(s store.Store) ([]store.Entry, error) {
		return s.LogPage(ctx, owner, conversation, after, limit)
	})
}

func (p pair) Message(ctx context.Context, k store.Key, kind store.EntryKind, messageID string) (store.Entry, error) {
	return both(p, "an entry", func(s store.Store) (store.Entry, error) { return s.Message(ctx, k, kind, messageID) })
}
