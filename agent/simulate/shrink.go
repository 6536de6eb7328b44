package simulate

import (
	"slices"
)

// shrink looks for few accidents that still break the promise that the world
// broke first: it leaves out as many at a time as it can, then fewer (delta
// debugging, Zeller and Hildebrandt, IEEE TSE 2002).
func (c Config) shrink(o *outcome) Failure {
	broken := o.violations[0].Property
	var on stage
	fails := func(list []Fault) *outcome {
		again := c.world(&on, o.seed, Config{Only: append([]Fault{}, list...)}.only())
		if slices.ContainsFunc(again.violations, func(v Violation) bool { return v.Property == broken }) {
			return again
		}
		return nil
	}
	list, last := o.happened, o
	for size := len(list); size > 0; {
		shrunk := false
		for from := 0; from < len(list); from += size {
			rest := slices.Concat(list[:from], list[min(from+size, len(list)):])
			if again := fails(rest); again != nil {
				list, last, shrunk = rest, again, true
				break
			}
		}
		if !shrunk {
			size /= 2
		}
		size = min(size, max(len(list), 0))
	}
	return Failure{Seed: o.seed, Violations: last.violations, Faults: list, Traces: last.traces}
}
