package sqlite

import (
	"context"

	"github.com/parley-agents/parley/store"
)

// Driver is the driver of this build.
const Driver = driver

// LatestVersion is the schema version of this build.
const LatestVersion = latestVersion

// ServeBatches makes a store and has its writer serve some batches of as many
// sets each, calling served after each. If loose, the writer syncs less than a
// store does.
func ServeBatches(ctx context.Context, path string, batches, sets int, loose bool, served func(n int)) error {
	w, err := openWriter(ctx, path)
	if err != nil {
		return err
	}
	defer w.close()
	if loose {
		if _, err := w.conn.ExecContext(ctx, "PRAGMA synchronous = NORMAL"); err != nil {
			return err
		}
	}
	for n := range batches {
		batch := make([]job, sets)
		for i := range batch {
			set, err := prepare(store.WriteSet{Turns: []store.Turn{{Ordinal: n*sets + i, Data: make([]byte, 1024)}}})
			if err != nil {
				return err
			}
			batch[i] = commitJob(set)
		}
		w.serve(ctx, batch)
		for _, j := range batch {
			if err := <-j.done; err != nil {
				return err
			}
		}
		served(n)
	}
	return nil
}
