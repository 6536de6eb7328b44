package agent

import (
	"context"
	"time"

	"github.com/parley-agents/parley/store"
)

// The terms on which a host forgets. It looks a while after its start, when it
// has taken up its work, and then now and then.
const (
	sweepAfter = time.Minute
	sweepEvery = 10 * time.Minute
	sweepBatch = 256
	// sweepPause lets what waits for the store go first between two batches.
	sweepPause = 100 * time.Millisecond
)

// sweep forgets what nobody needs any more, until the host ends.
func (h *Host) sweep() {
	for wait := sweepAfter; h.seam.pass(h.running, h.seam.now().Add(wait)); wait = sweepEvery {
		if err := h.sweepAll(h.running); err != nil && h.running.Err() == nil {
			h.report(h.running, StoreFailed, store.Key{}, err)
		}
	}
}

// sweepAll forgets batch by batch, until nothing is left to forget now.
func (h *Host) sweepAll(ctx context.Context) error {
	for {
		now := h.seam.now()
		var before time.Time // conversations are kept
		if h.cfg.Retention > 0 {
			before = now.Add(-h.cfg.Retention)
		}
		swept, err := h.store.Sweep(ctx, now, before, sweepBatch)
		if err != nil || !swept.More {
			return err
		}
		if h.pause(ctx, sweepPause); ctx.Err() != nil {
			return nil
		}
	}
}
