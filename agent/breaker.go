package agent

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/parley-agents/parley/store"
)

// Breaker says when a receiver that cannot be reached is left alone: what is for
// it waits then, without an attempt being made, counted or written, and from time
// to time one message is let through to see whether it is back. A field that is
// zero has its default.
//
// It is this host's own rather than a library's because its clock must be the
// host's: github.com/sony/gobreaker/v2 v2.4.0 asks time.Now in its constructor
// and in each transition, and no setting changes that.
type Breaker struct {
	// Failures is how many sends in a row the carrier must have failed. Only its
	// errors count, among them CarrierTimeout, and never what the receiver
	// answers. Default: 5; less than zero: a receiver is never left alone.
	Failures int
	// Wait is how long it is left alone, doubled each time up to MaxWait.
	// Default: 1 s and 10 s.
	Wait, MaxWait time.Duration
}

func (b Breaker) withDefaults() Breaker {
	preset(&b.Failures, 5)
	preset(&b.Wait, time.Second)
	preset(&b.MaxWait, 10*time.Second)
	return b
}

// circuits are those of the receivers that have failed of late.
type circuits struct {
	mu sync.Mutex
	by map[string]*circuit // by receiver
}

type circuit struct {
	failures int
	// wait is how long it is left alone, zero while it is not, and until when.
	wait    time.Duration
	until   time.Time
	probing bool
}

// admit reports whether something may be sent to the receiver now. probe says
// that it is let through to see whether the receiver is back; until is the next
// time at which something may be, zero if the probe under way decides that.
func (c *circuits) admit(receiver string, now time.Time) (ok, probe bool, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	broken := c.by[receiver]
	switch {
	case broken == nil || broken.wait == 0:
		return true, false, time.Time{}
	case now.Before(broken.until):
		return false, false, broken.until
	case broken.probing:
		return false, false, time.Time{}
	}
	broken.probing = true
	return true, true, time.Time{}
}

// unproven ends a probe that may have come to nothing.
func (c *circuits) unproven(receiver string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if broken := c.by[receiver]; broken != nil {
		broken.probing = false
	}
}

// failed counts a failure, and reports whether the receiver is left alone for
// it, and for how long.
func (c *circuits) failed(receiver string, now time.Time, b Breaker) (wait time.Duration, opened bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]*circuit{}
	}
	broken := c.by[receiver]
	if broken == nil {
		broken = &circuit{}
		c.by[receiver] = broken
	}
	broken.failures++
	switch {
	case b.Failures < 0, broken.wait == 0 && broken.failures < b.Failures:
		return 0, false
	case broken.wait == 0:
		broken.wait = b.Wait
	case broken.probing:
		broken.wait = min(2*broken.wait, b.MaxWait)
	default: // it was on its way when the others failed
		return 0, false
	}
	broken.probing, broken.until = false, now.Add(broken.wait)
	return broken.wait, true
}

// healed forgets the failures of a receiver, and reports whether it was left
// alone for them.
func (c *circuits) healed(receiver string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	broken := c.by[receiver]
	delete(c.by, receiver)
	return broken != nil && broken.wait > 0
}

// leaves reports whether the receiver is left alone.
func (c *circuits) leaves(receiver string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	broken := c.by[receiver]
	return broken != nil && broken.wait > 0
}

// open are the receivers that are left alone, in order.
func (c *circuits) open() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []string
	for receiver, broken := range c.by {
		if broken.wait > 0 {
			list = append(list, receiver)
		}
	}
	slices.Sort(list)
	return list
}

// carried notes how a carrier did with something for the receiver.
func (h *Host) carried(ctx context.Context, k store.Key, failed error) {
	if failed == nil {
		if h.broken.healed(k.Peer) {
			h.counts.add("circuit.closed")
			h.report(ctx, CircuitClosed, k, nil)
			h.poke()
		}
		return
	}
	if wait, opened := h.broken.failed(k.Peer, h.seam.now(), h.cfg.Breaker); opened {
		h.counts.add("circuit.opened")
		h.report(ctx, CircuitOpened, k, failed, slog.Duration("wait", wait))
	}
}
