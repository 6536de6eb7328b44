package measure

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// load is what some messages took.
type load struct {
	messages  int64
	wall, cpu time.Duration
}

func (l load) perSecond() float64 { return float64(l.messages) / l.wall.Seconds() }

// drive has the callers bring messages through, each one after another, as long
// as more says so of the next message's number, from 1. The first error ends
// it.
func (r *Run) drive(ctx context.Context, more func(number int64) bool, one func(ctx context.Context, number int64) error) (load, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	began, before := time.Now(), cpuTime()
	var number, done atomic.Int64
	var group sync.WaitGroup
	for range r.Callers {
		group.Go(func() {
			for n := number.Add(1); more(n) && ctx.Err() == nil; n = number.Add(1) {
				if err := one(context.WithoutCancel(ctx), n); err != nil {
					cancel(err)
					return
				}
				done.Add(1)
			}
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return load{}, context.Cause(ctx)
	}
	return load{done.Load(), time.Since(began), cpuTime() - before}, nil
}

// cpuTime is the time that the process has used its processors, in Go and in C.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// window is true until a turn is over.
func (r *Run) window() func(int64) bool {
	end := time.Now().Add(r.Window)
	return func(int64) bool { return time.Now().Before(end) }
}

// Rate is how many messages a second the callers bring through in a turn, each
// one after another. Every message has a number of its own, from 1. The first
// error ends the turn.
func (r *Run) Rate(ctx context.Context, one func(ctx context.Context, number int64) error) (perSecond float64, err error) {
	l, err := r.drive(ctx, r.window(), one)
	if err != nil {
		return 0, err
	}
	return l.perSecond(), nil
}

// two takes a message through both durable operations: it is accepted, and its
// work is completed.
func (r *Run) two(ctx context.Context, s store.Store, number int64) error {
	as := rename(number)
	if err := s.Commit(ctx, as.set(r.said.accept)); err != nil {
		return err
	}
	return s.Commit(ctx, as.set(r.said.complete))
}

// fresh runs do with a fresh store on the disk that is measured, and closes it.
func (r *Run) fresh(ctx context.Context, do func(s *sqlite.Store, folder string) error) error {
	folder, err := r.Folder()
	if err != nil {
		return err
	}
	return on(ctx, folder, func(s *sqlite.Store) error { return do(s, folder) })
}

// on runs do with the store in a folder, and closes it.
func on(ctx context.Context, folder string, do func(*sqlite.Store) error) error {
	s, err := sqlite.Open(ctx, filepath.Join(folder, file))
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Close())
}

// file is the name of a store in its folder.
const file = "parley.db"

// Parley is the rate of messages through a fresh store: two durable operations
// for each.
func (r *Run) Parley(ctx context.Context) (perSecond float64, err error) {
	err = r.fresh(ctx, func(s *sqlite.Store, _ string) (err error) {
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
