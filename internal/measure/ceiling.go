package measure

import (
	"context"
	"errors"
	"os"

	"github.com/parley-agents/parley/store/sqlite"
)

// SQLite cannot work on a transaction while the one before is being made
// durable. With c operations a second where that costs nothing, b operations in
// a batch and s batches a second made durable, no more than
// 1/(1/c + 1/(b·s)) operations a second can be had.
var ceiling = Benchmark{
	Name:  "store-vs-ceiling",
	About: "durable operations a second, against the most that processor and disk allow one after the other",
	Measure: func(ctx context.Context, r *Run) ([]Gate, error) {
		var got, most []float64
		for range r.Rounds {
			disk, err := r.operations(ctx, r.Folder)
			if err != nil {
				return nil, err
			}
			memory, err := r.operations(ctx, memoryFolder)
			if err != nil {
				return nil, err
			}
			folder, err := r.Folder()
			if err != nil {
				return nil, err
			}
			s, err := syncs(ctx, folder, int(disk.bytes), r.Window)
			if err != nil {
				return nil, err
			}
			top := serial(memory.perSecond, disk.batch*s)
			r.Printf("c %.0f operations/s in memory (batches of %.1f)  b %.1f operations  s %.0f fdatasync/s of %.0f KB  ceiling %.0f  reached %.0f operations/s = %.2f",
				memory.perSecond, memory.batch, disk.batch, s, disk.bytes/1000, top, disk.perSecond, disk.perSecond/top)
			got, most = append(got, disk.perSecond), append(most, top)
		}
		return []Gate{Ratio("store-vs-ceiling", got, most, 0.8)}, nil
	},
}

// serial is the rate of two stages that wait for each other.
func serial(a, b float64) float64 { return 1 / (1/a + 1/b) }

// operations are durable operations and how they were batched.
type operations struct {
	perSecond    float64
	batch, bytes float64 // of a mean commit
}

// operations measures a fresh store in a folder, which it removes.
func (r *Run) operations(ctx context.Context, folder func() (string, error)) (o operations, err error) {
	dir, err := folder()
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	err = on(ctx, dir, func(s *sqlite.Store) error {
		from, err := written()
		if err != nil {
			return err
		}
		before := s.Stats()
		l, err := r.drive(ctx, r.window(), func(ctx context.Context, number int64) error { return r.two(ctx, s, number) })
		if err != nil {
			return err
		}
		to, err := written()
		if err != nil {
			return err
		}
		after := s.Stats()
		commits, sets := float64(after.Commits-before.Commits), float64(after.Sets-before.Sets)
		o = operations{sets / l.wall.Seconds(), sets / commits, float64(to-from) / commits}
		return nil
	})
	return o, err
}
