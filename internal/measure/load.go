package measure

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// Rate is how many messages a second the callers bring through in a window,
// each one after another. Every message has a number of its own, from 1. The
// first error ends the window.
func (r *Run) Rate(ctx context.Context, one func(ctx context.Context, number int64) error) (perSecond float64, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	began := time.Now()
	end := began.Add(r.Window)
	var number, done atomic.Int64
	var group sync.WaitGroup
	for range r.Callers {
		group.Go(func() {
			for ctx.Err() == nil && time.Now().Before(end) {
				if err := one(context.WithoutCancel(ctx), number.Add(1)); err != nil {
					cancel(err)
					return
				}
				done.Add(1)
			}
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return float64(done.Load()) / time.Since(began).Seconds(), nil
}

// Two is both durable operations of one message: it is accepted, and its work
// is completed.
func (r *Run) two(ctx context.Context, s store.Store, number int64) error {
	as := rename(number)
	if err := s.Commit(ctx, as.set(r.said.accept)); err != nil {
		return err
	}
	return s.Commit(ctx, as.set(r.said.complete))
}

// on runs do with a fresh store in a folder, and closes it.
func on(ctx context.Context, folder string, do func(*sqlite.Store) error) error {
	s, err := sqlite.Open(ctx, filepath.Join(folder, "parley.db"))
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Close())
}

// Parley is the rate of messages through a fresh store: two durable operations
// for each.
func (r *Run) Parley(ctx context.Context) (perSecond float64, err error) {
	folder, err := r.Folder()
	if err != nil {
		return 0, err
	}
	err = on(ctx, folder, func(s *sqlite.Store) (err error) {
		perSecond, err = r.Rate(ctx, func(ctx context.Context, number int64) error { return r.two(ctx, s, number) })
		return err
	})
	return perSecond, err
}

// Turns has each side measured once a round, by turns, and returns what each
// found.
func (r *Run) Turns(ctx context.Context, sides ...func(context.Context) (float64, error)) ([][]float64, error) {
	found := make([][]float64, len(sides))
	for range r.Rounds {
		for i, side := range sides {
			value, err := side(ctx)
			if err != nil {
				return nil, err
			}
			found[i] = append(found[i], value)
		}
	}
	return found, nil
}
