package measure

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// maxGrowth is how much more a message may cost in the largest store than in
// the smallest.
const maxGrowth = 1.3

var growth = Benchmark{
	Name:  "growth",
	About: "what a message costs in a store that has many already",
	Measure: func(ctx context.Context, r *Run) (gates []Gate, err error) {
		stores := make([]*grown, len(r.Stored))
		defer func() {
			for _, g := range stores {
				if g != nil {
					err = errors.Join(err, g.store.Close())
				}
			}
		}()
		for i, size := range r.Stored {
			if stores[i], err = r.grow(ctx, size); err != nil {
				return nil, err
			}
		}
		syscall.Sync() // what was filled in is on the disk before anything is measured
		for range r.Rounds {
			for _, g := range stores {
				if err := g.add(ctx, r); err != nil {
					return nil, err
				}
			}
		}
		for i, g := range stores {
			r.Printf("%8d stored  %.0f µs of processor and %.0f µs for a message", r.Stored[i], g.cpu, g.wall)
		}
		least, most := stores[0], stores[len(stores)-1]
		sizes := fmt.Sprintf("%d-to-%d", r.Stored[len(stores)-1], r.Stored[0])
		return []Gate{
			{Name: "growth-cpu-" + sizes, Value: Median(ratios(most.cpu, least.cpu)), Target: maxGrowth, AtMost: true},
			{Name: "growth-time-" + sizes, Value: Median(ratios(most.wall, least.wall)), Target: maxGrowth, AtMost: true},
		}, nil
	},
}

// grown is a store that has many messages, and what further ones cost in
// microseconds.
type grown struct {
	store     *sqlite.Store
	messages  int64
	cpu, wall []float64
}

// grow makes a store and fills it with conversations that are over.
func (r *Run) grow(ctx context.Context, size int) (*grown, error) {
	folder, err := r.Folder()
	if err != nil {
		return nil, err
	}
	s, err := sqlite.Open(ctx, filepath.Join(folder, file))
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := r.fill(ctx, s, int64(size)); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	r.Printf("filled in %d messages in %v", size, time.Since(began).Round(time.Millisecond))
	return &grown{store: s, messages: int64(size)}, nil
}

// fill commits conversations that are over, many to a write set.
func (r *Run) fill(ctx context.Context, s store.Store, size int64) error {
	const (
		together = 250
		fillers  = 4
	)
	var next atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, fillers)
	for i := range fillers {
		group.Go(func() {
			for errs[i] == nil {
				to := next.Add(together)
				if from := to - together; from < size {
					errs[i] = r.history(ctx, s, from+1, min(to, size))
					continue
				}
				return
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// history commits the conversations of some numbers.
func (r *Run) history(ctx context.Context, s store.Store, from, to int64) error {
	over := r.said.over()
	var sets []store.WriteSet
	for number := from; number <= to; number++ {
		sets = append(sets, rename(number).set(over))
	}
	return s.Commit(ctx, joined(sets))
}

// add measures some more messages.
func (g *grown) add(ctx context.Context, r *Run) error {
	l, err := r.drive(ctx, func(n int64) bool { return n <= int64(r.Messages) }, func(ctx context.Context, n int64) error {
		return r.two(ctx, g.store, g.messages+n)
	})
	if err != nil {
		return err
	}
	g.messages += l.messages
	g.cpu = append(g.cpu, float64(l.cpu.Microseconds())/float64(l.messages))
	g.wall = append(g.wall, float64(l.wall.Microseconds())/float64(l.messages))
	return nil
}
