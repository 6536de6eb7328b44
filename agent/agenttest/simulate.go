package agenttest

import (
	"maps"
	"slices"
	"testing"

	"github.com/parley-agents/parley/agent/simulate"
)

// Simulate plays worlds of the test's own agents under accidents, and fails the
// test where a promise is broken: the runtime's, or one that Config.Set added
// with World.Check. A failure names the world's seed and the few accidents that
// suffice; Config.Seed and Config.Only with them play that world again.
func Simulate(t testing.TB, c simulate.Config) simulate.Result {
	t.Helper()
	r, err := simulate.Run(t.Context(), c)
	if err != nil {
		t.Error(err)
		return r
	}
	for _, f := range r.Failures {
		t.Errorf("world %d breaks %v; these accidents suffice: %q", f.Seed, f.Violations, f.Faults)
	}
	for _, p := range slices.Sorted(maps.Keys(r.Violations)) {
		if n := r.Violations[p]; n > 0 {
			t.Errorf("%s was broken %d times %s", p, n, simulate.Properties()[p])
		}
	}
	return r
}
