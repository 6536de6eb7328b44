package measure

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/parley-agents/parley/store/sqlite"
)

var walSize = Benchmark{
	Name:  "wal-size",
	About: "how large the write-ahead log becomes while there are writers and readers",
	Measure: func(ctx context.Context, r *Run) ([]Gate, error) {
		var sizes []float64
		most := 0.0
		for range r.Rounds {
			err := r.fresh(ctx, func(s *sqlite.Store, folder string) error {
				watching, stop := context.WithCancel(ctx)
				size := make(chan int64)
				go func() { size <- largest(watching, filepath.Join(folder, file+"-wal")) }()
				_, _, err := r.whileRead(ctx, s)
				stop()
				sizes = append(sizes, float64(<-size)/(1<<20))
				return err
			})
			if err != nil {
				return nil, err
			}
			most = max(most, sizes[len(sizes)-1])
		}
		r.Printf("largest  %.1f MiB", sizes)
		return []Gate{{Name: "wal-size", Value: most, Target: 64, AtMost: true}}, nil
	},
}

// largest watches a file until ctx ends and returns its greatest size. A file
// that cannot be read counts as one that is too large.
func largest(ctx context.Context, path string) (most int64) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		info, err := os.Stat(path)
		switch {
		case err == nil:
			most = max(most, info.Size())
		case !errors.Is(err, fs.ErrNotExist):
			return 1 << 60
		}
		select {
		case <-ctx.Done():
			return most
		case <-tick.C:
		}
	}
}
