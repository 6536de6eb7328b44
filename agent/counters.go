package agent

import (
	"maps"
	"sync"
)

// counters count what is dropped, refused and repeated.
type counters struct {
	mu sync.Mutex
	by map[string]int64
}

func (c *counters) add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]int64{}
	}
	c.by[name]++
}

// Counts are how often each thing happened since the host started: "violation."
// with the guard's rule, "duplicate", "absorbed", "resend", "dead".
func (h *Host) Counts() map[string]int64 {
	h.counts.mu.Lock()
	defer h.counts.mu.Unlock()
	return maps.Clone(h.counts.by)
}
