package agent

import "sync"

// Scheduler runs the goroutines of a host. A host starts each of its
// goroutines with Go, and none of them waits for another but in Wait, so that
// a simulator can let one run at a time, in an order that follows from its
// seed. The zero Config leaves them to Go's own scheduler.
type Scheduler interface {
	// Go runs f in a goroutine of its own and returns at once.
	Go(f func())
	// Wait returns when one of the channels, at most four, can be received
	// from: it has received from it, and returns its position. A nil channel is
	// never ready.
	Wait(ready ...<-chan struct{}) int
}

type goroutines struct{}

func (goroutines) Go(f func()) { go f() }

func (goroutines) Wait(ready ...<-chan struct{}) int {
	var c [4]<-chan struct{}
	if copy(c[:], ready) < len(ready) {
		panic("agent: too many channels to wait for")
	}
	select {
	case <-c[0]:
		return 0
	case <-c[1]:
		return 1
	case <-c[2]:
		return 2
	case <-c[3]:
		return 3
	}
}

// group counts goroutines that somebody waits for.
type group struct {
	sched   Scheduler
	mu      sync.Mutex
	running int
	idle    chan struct{} // closed when none runs, nil until somebody waits
}

// Go runs f in a goroutine of the group.
func (g *group) Go(f func()) {
	g.mu.Lock()
	g.running++
	g.mu.Unlock()
	g.sched.Go(func() {
		defer g.done()
		f()
	})
}

func (g *group) done() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running--; g.running == 0 && g.idle != nil {
		close(g.idle)
		g.idle = nil
	}
}

// Idle is closed as soon as no goroutine of the group runs.
func (g *group) Idle() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.idle == nil {
		g.idle = make(chan struct{})
	}
	idle := g.idle
	if g.running == 0 {
		close(idle)
		g.idle = nil
	}
	return idle
}
