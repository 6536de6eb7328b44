package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Benchmark is one thing that can be measured.
type Benchmark struct {
	// Name is what it is asked for by, About what it finds out, in one line.
	Name, About string
	// Measure returns the gates, after it has printed the raw figures.
	Measure func(ctx context.Context, r *Run) ([]Gate, error)
}

// Scale is how much is measured.
type Scale struct {
	// Callers is how many speak to a store at once, each one message after
	// another.
	Callers int
	// Rounds is how often each side of a comparison has its turn, and Window
	// how long a turn lasts.
	Rounds int
	Window time.Duration
	// Stored are the sizes of the stores that growth compares, in messages,
	// the smallest first, and Messages what it adds to each in a turn.
	Stored   []int
	Messages int
	// Open is how many idle conversations a host has open, Answered how many
	// of them are then answered.
	Open, Answered int
	// Chunks are the lengths of streams, the shortest first: what takes sixteen
	// times as many chunks as another is compared with it.
	Chunks []int
}

// Full is the scale of the published figures. It takes some minutes.
func Full() Scale {
	return Scale{Callers: 64, Rounds: 9, Window: time.Second, Stored: []int{10_000, 100_000, 1_000_000}, Messages: 500,
		Open: 100_000, Answered: 1000, Chunks: []int{100, 400, 1600, 6400}}
}

// Quick is for a first look: shorter turns, and nothing larger than 10^5
// messages and 10^4 conversations. The names of the gates say so.
func Quick() Scale {
	return Scale{Callers: 64, Rounds: 3, Window: 500 * time.Millisecond, Stored: []int{10_000, 100_000}, Messages: 500,
		Open: 10_000, Answered: 200, Chunks: []int{50, 100, 800, 1600}}
}

// Config says what is measured and where.
type Config struct {
	Scale Scale
	// Dir is the folder in which the stores are made, and removed again. What
	// they cost depends on its disk. Default: the system's temporary folder.
	Dir string
	// Also are benchmarks beside the package's own.
	Also []Benchmark
}

// Benchmarks lists what there is to measure, in the order in which it is done.
func (c Config) Benchmarks() []Benchmark {
	return slices.Concat(c.Also, []Benchmark{ownTransactions, ceiling, readersCost, walSize, growth, openConversations})
}

// Measure runs the named benchmarks, all if none is named, one after another.
// It prints what it finds to w and reports whether every gate held. It returns
// when the last one is done or ctx ends; an error says what could not be
// measured, or which name is unknown.
func (c Config) Measure(ctx context.Context, w io.Writer, names []string) (ok bool, err error) {
	chosen, err := c.choose(names)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp(c.Dir, "parley-bench-")
	if err != nil {
		return false, fmt.Errorf("measure: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	said, err := record(ctx)
	if err != nil {
		return false, fmt.Errorf("record the write sets of a request: %w", err)
	}
	fmt.Fprintf(w, "%s/%s, %d cores, %d callers, median of %d rounds by turns, in %s on %s\n", runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), c.Scale.Callers, c.Scale.Rounds, filepath.Dir(dir), fileSystem(dir))
	ok = true
	for _, b := range chosen {
		fmt.Fprintf(w, "\n%s: %s\n", b.Name, b.About)
		gates, err := b.Measure(ctx, &Run{Scale: c.Scale, w: w, dir: dir, said: said})
		if err != nil {
			return false, fmt.Errorf("measure %s: %w", b.Name, err)
		}
		for _, g := range gates {
			fmt.Fprintln(w, g)
			ok = ok && g.Held()
		}
	}
	return ok, nil
}

func (c Config) choose(names []string) ([]Benchmark, error) {
	all := c.Benchmarks()
	if len(names) == 0 {
		return all, nil
	}
	var chosen []Benchmark
	var known []string
	for _, b := range all {
		known = append(known, b.Name)
		if slices.Contains(names, b.Name) {
			chosen = append(chosen, b)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("there is no benchmark %q: there are %s", name, strings.Join(known, ", "))
		}
	}
	return chosen, nil
}

// Run is one benchmark at work.
type Run struct {
	Scale
	w    io.Writer
	dir  string
	said *conversation
	made int
}

// Printf prints raw figures.
func (r *Run) Printf(format string, args ...any) { fmt.Fprintf(r.w, format+"\n", args...) }

// Content is the content of a message, in bytes.
func (r *Run) Content() []byte { return r.said.content }

// Folder makes a fresh folder on the disk that is measured.
func (r *Run) Folder() (string, error) {
	r.made++
	return os.MkdirTemp(r.dir, "")
}
