package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-agents/parley/store"
)

// recalled asks what the store remembers under a key, as a read would: not when
// ctx has ended or the store is closed. What it finds is made the caller's by own.
func recalled[K, R, T any](ctx context.Context, s *Store, k K, own func(R) T) (found T, known bool, err error) {
	if err := ctx.Err(); err != nil {
		return found, false, err
	}
	if s.writer == nil {
		return found, false, nil
	}
	select {
	case <-s.closing:
		return found, false, store.ErrClosed
	default:
	}
	switch value, _ := s.writer.recent.get(k); value := value.(type) {
	case R:
		return own(value), true, nil
	case absent:
		return found, true, store.ErrNotFound
	}
	return found, false, nil
}

// recall is one with what the store remembers, and remembers what is not there.
func recall[K, R, T any](ctx context.Context, s *Store, what func() string, k K, own func(R) T, read func(what string) (T, error)) (T, error) {
	found, known, err := recalled(ctx, s, k, own)
	switch {
	case err != nil:
		return found, fmt.Errorf("read %s: %w", what(), err)
	case known:
		return found, nil
	case s.writer == nil:
		return read(what())
	}
	learned := s.writer.recent.look(k)
	found, err = read(what())
	if errors.Is(err, store.ErrNotFound) {
		learned(absent{}, keyBytes)
	} else {
		learned(nil, 0)
	}
	return found, err
}

// together lists the exchanges whose keys are remembered under k, a task or a talk,
// if all of them are remembered too.
func (r *recent) together(k any) (found []store.Exchange, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list, _ := r.find(k)
	keys, ok := list.([]store.Key)
	for _, one := range keys {
		value, _ := r.find(one)
		x, known := value.(*store.Exchange)
		if t, isTask := k.(task); !known || isTask && x.Task != t.name { // it has left
			return nil, false
		}
		found = append(found, own(x))
	}
	return found, ok
}

// listed is many for exchanges that belong together, with what the store remembers
// of them under k, and remembers which they are.
func listed[K task | talk](ctx context.Context, s *Store, k K, what func() string, read func(what string) ([]store.Exchange, error)) ([]store.Exchange, error) {
	if _, _, err := recalled(ctx, s, k, same[[]store.Key]); err != nil {
		return nil, fmt.Errorf("list %s: %w", what(), err)
	}
	if s.writer == nil {
		return read(what())
	}
	if found, ok := s.writer.recent.together(k); ok {
		return found, nil
	}
	learned := s.writer.recent.look(k)
	found, err := read(what())
	if err != nil {
		learned(nil, 0)
		return nil, err
	}
	keys := make([]store.Key, len(found))
	for i, x := range found {
		keys[i] = x.Key
	}
	learned(keys, keyBytes*(len(keys)+1))
	return found, nil
}

// after are the entries behind an index, at most limit of them; ok is false if some
// of them are not in the tail.
func (t tail) after(index int64, limit int) (found []store.Entry, ok bool) {
	if len(t.entries) == 0 || index+1 < t.entries[0].Index {
		return nil, false
	}
	from := min(int(index+1-t.entries[0].Index), len(t.entries))
	return append(found, t.entries[from:min(len(t.entries), from+limit)]...), true
}

// message is the first entry about a message.
func (t tail) message(k store.Key, kind store.EntryKind, messageID string) (store.Entry, error) {
	i := slices.IndexFunc(t.entries, func(e store.Entry) bool {
		return e.Peer == k.Peer && e.Kind == kind && e.MessageID == messageID && messageID != ""
	})
	if i < 0 {
		return store.Entry{}, store.ErrNotFound
	}
	return t.entries[i], nil
}

func same[T any](v T) T { return v }
