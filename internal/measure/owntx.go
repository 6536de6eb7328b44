package measure

import (
	"context"
	"sync"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

var ownTransactions = Benchmark{
	Name:  "store-vs-own-tx",
	About: "messages a second, against the same write sets with a transaction each",
	Measure: func(ctx context.Context, r *Run) ([]Gate, error) {
		found, err := r.Turns(ctx, r.Parley, r.oneByOne)
		if err != nil {
			return nil, err
		}
		r.Printf("parley           %.0f messages/s", found[0])
		r.Printf("one transaction  %.0f messages/s", found[1])
		return []Gate{Ratio("store-vs-own-tx", found[0], found[1], 4)}, nil
	},
}

// oneByOne is the rate when no write set finds another one to share its
// transaction with: as many callers wait, but one is let in at a time.
func (r *Run) oneByOne(ctx context.Context) (perSecond float64, err error) {
	err = r.fresh(ctx, func(s *sqlite.Store, _ string) (err error) {
		turns := &inTurn{Store: s}
		perSecond, err = r.Rate(ctx, func(ctx context.Context, number int64) error { return r.two(ctx, turns, number) })
		return err
	})
	return perSecond, err
}

// inTurn is a store that is given one write set at a time.
type inTurn struct {
	store.Store
	mu sync.Mutex
}

// Commit implements store.Store.
func (t *inTurn) Commit(ctx context.Context, set store.WriteSet) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.Store.Commit(ctx, set)
}
