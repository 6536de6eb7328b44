package a2a

import (
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/envelope"
)

func TestAStreamFromAPlaceThatTheLogHasNotComeToTellsEverythingAndEnds(t *testing.T) {
	const n = 3
	for _, place := range []string{"1000", "9223372036854775807"} {
		synctest.Test(t, func(t *testing.T) {
			gate := make(chan struct{})
			c := client{t, begin(t, nil, ticking(n, gate)...), planner}
			x := c.open(ticks, envelope.Request)
			f := c.follow(t.Context(), x, place, true)
			synctest.Wait()
			close(gate)
			events := f.wait(t)
			equal(t, "told", numbers(t, events), upTo(0, n))
			if last := states(events); last[len(last)-1] != "TASK_STATE_COMPLETED" {
				t.Errorf("the stream ends with %s", last[len(last)-1])
			}
		})
	}
}
