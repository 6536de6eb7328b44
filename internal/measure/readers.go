package measure

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// Beside the writers there are readers, each of which reads one exchange as
// often as this.
const (
	readers   = 4
	readEvery = time.Millisecond
)

var readersCost = Benchmark{
	Name:  "readers-cost",
	About: "what four readers that each read an exchange a millisecond take from the writers",
	Measure: func(ctx context.Context, r *Run) ([]Gate, error) {
		var reads []float64
		with := func(ctx context.Context) (perSecond float64, err error) {
			err = r.fresh(ctx, func(s *sqlite.Store, _ string) error {
				var n float64
				perSecond, n, err = r.whileRead(ctx, s)
				reads = append(reads, n)
				return err
			})
			return perSecond, err
		}
		found, err := r.Turns(ctx, r.Parley, with)
		if err != nil {
			return nil, err
		}
		r.Printf("alone         %.0f messages/s", found[0])
		r.Printf("with readers  %.0f messages/s beside %.0f reads/s", found[1], reads)
		return []Gate{{Name: "readers-cost", Value: 1 - Median(ratios(found[1], found[0])), Target: 0.2, AtMost: true}}, nil
	},
}

// whileRead is the rate of messages and of reads at the same time.
func (r *Run) whileRead(ctx context.Context, s *sqlite.Store) (perSecond, reads float64, err error) {
	read := rename(0).set(r.said.accept)
	if err := s.Commit(ctx, read); err != nil {
		return 0, 0, err
	}
	k := read.Exchanges[0].Key
	reading, stop := context.WithCancelCause(ctx)
	var n atomic.Int64
	var group sync.WaitGroup
	for range readers {
		group.Go(func() {
			if err := again(reading, s, k, &n); err != nil {
				stop(err)
			}
		})
	}
	began := time.Now()
	perSecond, err = r.Rate(ctx, func(ctx context.Context, number int64) error { return r.two(ctx, s, number) })
	took := time.Since(began)
	stop(nil)
	group.Wait()
	if err == nil && context.Cause(reading) != context.Canceled {
		err = context.Cause(reading)
	}
	return perSecond, float64(n.Load()) / took.Seconds(), err
}

// again reads an exchange until ctx ends, and counts.
func again(ctx context.Context, s store.Store, k store.Key, n *atomic.Int64) error {
	tick := time.NewTicker(readEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if _, err := s.Exchange(context.WithoutCancel(ctx), k); err != nil {
			return err
		}
		n.Add(1)
	}
}
