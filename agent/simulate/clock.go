package simulate

import (
	"container/heap"
	"time"
)

// clock is the clock of one node: the world's time, and how far it is ahead.
type clock struct {
	loop  *loop
	ahead time.Duration
}

// Now implements agent.Clock.
func (c *clock) Now() time.Time { return c.loop.now.Add(c.ahead) }

// At implements agent.Clock.
func (c *clock) At(t time.Time, f func()) (stop func()) {
	l := c.loop
	l.serial++
	a := &alarm{clock: c, at: t, serial: l.serial, do: f}
	heap.Push(&l.alarms, a)
	return func() { a.off = true }
}

// jump sets the clock forward, or back if d is negative.
func (c *clock) jump(d time.Duration) {
	c.ahead += d
	heap.Init(&c.loop.alarms)
}

// sleep waits in the world's time.
func (c *clock) sleep(d time.Duration, until ...<-chan struct{}) (slept bool) {
	over := make(chan struct{})
	stop := c.At(c.Now().Add(d), func() { close(over) })
	defer stop()
	return c.loop.Wait(append([]<-chan struct{}{over}, until...)...) == 0
}
