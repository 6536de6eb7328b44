// Package agenttest holds what a test of an agent needs: a clock that is moved
// by hand, a model that follows a script, hosts on stores of their own, and
// transcripts to compare with.
package agenttest

import (
	"sync"
	"time"
)

// Clock is an agent.Clock that moves only when it is told to. It is safe for
// concurrent use.
type Clock struct {
	mu     sync.Mutex
	now    time.Time
	alarms map[int]alarm
	next   int
}

type alarm struct {
	at time.Time
	f  func()
}

// NewClock is a clock that shows the given time.
func NewClock(now time.Time) *Clock {
	return &Clock{now: now.UTC(), alarms: map[int]alarm{}}
}

// Now is the time that the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// At calls f once, in a goroutine of its own, when the clock is moved to t or
// past it; at once if it shows that already.
func (c *Clock) At(t time.Time, f func()) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !t.After(c.now) {
		go f()
		return func() {}
	}
	id := c.next
	c.next++
	c.alarms[id] = alarm{t, f}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.alarms, id)
	}
}

// Advance moves the clock and starts what has become due.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	for id, a := range c.alarms {
		if !a.at.After(c.now) {
			delete(c.alarms, id)
			go a.f()
		}
	}
}
