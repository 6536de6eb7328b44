package simulate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/transcript"
)

// Config says which worlds are played. Its zero value plays one world without
// accidents.
type Config struct {
	// Worlds is how many. Default: 1.
	Worlds int
	// Seed is that of the first world; the n-th has Seed+n.
	Seed uint64
	// Kinds are the accidents that may happen.
	Kinds []Kind
	// Protocol lets the default worlds speak one protocol only, such as
	// "request/v1". Default: all of them.
	Protocol string
	// Only are the accidents that may happen, as a Failure names them. Default:
	// whatever the seed brings.
	Only []Fault
	// Set describes a world of the caller's own. Worlds are played several at a
	// time, so it shares nothing with another call that is not safe to share. Default: a small town whose
	// people do each other's errands in every protocol.
	Set func(*World)
	// NoLedger plays with stores that forget which effects were had: what the
	// simulator then finds shows what it would find.
	NoLedger bool
	// Failures bounds how many worlds that broke a promise are shrunk and
	// reported. Default: 3.
	Failures int
}

// Result is what the worlds came to. For one Config it is the same in every
// run, on any number of processors, but for Seconds.
type Result struct {
	Worlds  int     `json:"worlds"`
	Seconds float64 `json:"seconds"`
	// Terminals counts the conversations by how they ended, Outcomes the
	// attempts of the worlds' users.
	Terminals map[string]int `json:"terminals"`
	Outcomes  map[string]int `json:"outcomes"`
	// Violations counts the broken promises, by property.
	Violations map[string]int `json:"violations"`
	// EffectsOverOnce counts effects that were had more than once, Unfinished
	// exchanges that never ended, DigestMismatches logs that do not fold to
	// their state.
	EffectsOverOnce  int `json:"effects_over_once"`
	Unfinished       int `json:"unfinished"`
	DigestMismatches int `json:"digest_mismatches"`
	// Messages, Accidents, Crashes, Stops and Forgeries say how much was tried.
	Messages  int `json:"messages"`
	Accidents int `json:"accidents"`
	Crashes   int `json:"crashes"`
	Stops     int `json:"stops"`
	Forgeries int `json:"forgeries"`
	// Digest is over everything that every world's stores say at the end.
	Digest string `json:"result_digest"`
	// Failures are worlds that broke a promise, each with few accidents that
	// suffice.
	Failures []Failure `json:"failures"`
}

// Failure is a world that broke a promise.
type Failure struct {
	Seed       uint64      `json:"seed"`
	Violations []Violation `json:"violations"`
	// Faults are accidents that suffice: without any one of them the promise
	// that was broken first is kept.
	Faults []Fault `json:"faults"`
	// Traces are those of the conversations that have one.
	Traces []transcript.Trace `json:"-"`
}

// outcome is what one world came to.
type outcome struct {
	seed       uint64
	violations []Violation
	happened   []Fault
	traces     []transcript.Trace
	digest     [32]byte
	tally      Result
}

// Run plays the worlds, as many at a time as there are processors, and returns
// when all are over or ctx ends, with ctx's cause. An error says that Config is
// wrong; broken promises are in the Result.
func Run(ctx context.Context, c Config) (Result, error) {
	c.Worlds = max(c.Worlds, 1)
	only := c.only()
	if c.Failures == 0 {
		c.Failures = 3
	}
	if c.Protocol != "" {
		if _, err := protocol.Lookup(c.Protocol); err != nil || c.Protocol == protocol.AdvertiseV1 {
			return Result{}, fmt.Errorf("simulate %q: the default worlds speak %v", c.Protocol, protocols())
		}
	}
	for _, k := range c.Kinds {
		if !slices.Contains(Kinds(), k) {
			return Result{}, fmt.Errorf("simulate: fault %q is unknown: there are %v", k, Kinds())
		}
	}
	for _, f := range c.Only {
		if !slices.Contains(Kinds(), f.Kind()) {
			return Result{}, fmt.Errorf("simulate: %q names no accident: it begins with one of %v", f, Kinds())
		}
	}
	start := time.Now()
	outcomes := make([]*outcome, c.Worlds)
	var next sync.Mutex
	at := 0
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			var on stage
			for ctx.Err() == nil {
				next.Lock()
				i := at
				at++
				next.Unlock()
				if i >= c.Worlds {
					return
				}
				outcomes[i] = c.world(&on, c.Seed+uint64(i), only)
			}
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	r := c.sum(outcomes)
	r.Seconds = time.Since(start).Seconds()
	return r, nil
}

// only is the set of the accidents that may happen, nil for all.
func (c Config) only() map[Fault]bool {
	if c.Only == nil {
		return nil
	}
	only := map[Fault]bool{}
	for _, f := range c.Only {
		only[f] = true
	}
	return only
}

// world plays one world; only names the accidents that may happen, nil for all.
func (c Config) world(on *stage, seed uint64, only map[Fault]bool) *outcome {
	w := newWorld(seed, c.Kinds, only)
	w.ledgerless = c.NoLedger
	set := c.Set
	if set == nil {
		set = func(w *World) { on.settle(w, c.Protocol) }
	}
	w.play(set)
	sides := w.judge()
	digest := sha256.Sum256([]byte(w.remember(sides)))
	w.end()
	w.tally.Accidents = len(w.faults.happened)
	if len(w.violations) == 0 {
		w.traces, w.faults.happened = nil, nil // nobody asks for them
	}
	return &outcome{seed: seed, violations: w.violations, happened: w.faults.happened, traces: w.traces, digest: digest, tally: w.tally}
}

func (c Config) sum(outcomes []*outcome) Result {
	r := Result{Worlds: len(outcomes), Terminals: map[string]int{}, Outcomes: map[string]int{}, Violations: map[string]int{}, Failures: []Failure{}}
	for p := range Properties() {
		r.Violations[p] = 0
	}
	all := sha256.New()
	for _, o := range outcomes {
		all.Write(o.digest[:])
		for k, n := range o.tally.Terminals {
			r.Terminals[k] += n
		}
		for k, n := range o.tally.Outcomes {
			r.Outcomes[k] += n
		}
		for _, v := range o.violations {
			r.Violations[v.Property]++
		}
		r.EffectsOverOnce += o.tally.EffectsOverOnce
		r.Unfinished += o.tally.Unfinished
		r.DigestMismatches += o.tally.DigestMismatches
		r.Messages += o.tally.Messages
		r.Accidents += o.tally.Accidents
		r.Crashes += o.tally.Crashes
		r.Stops += o.tally.Stops
		r.Forgeries += o.tally.Forgeries
		if len(o.violations) > 0 && len(r.Failures) < c.Failures {
			r.Failures = append(r.Failures, c.shrink(o))
		}
	}
	r.Digest = hex.EncodeToString(all.Sum(nil))
	return r
}

// String is the result in a few lines.
func (r Result) String() string {
	broken := 0
	for _, n := range r.Violations {
		broken += n
	}
	s := fmt.Sprintf("%d worlds, %d messages, %d accidents (%d crashes, %d stops, %d forgeries): %d promises broken, %d effects over once, %d unfinished",
		r.Worlds, r.Messages, r.Accidents, r.Crashes, r.Stops, r.Forgeries, broken, r.EffectsOverOnce, r.Unfinished)
	for _, t := range slices.Sorted(maps.Keys(r.Terminals)) {
		s += fmt.Sprintf("\n  %s %d", t, r.Terminals[t])
	}
	return s
}
