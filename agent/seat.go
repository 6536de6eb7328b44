package agent

import (
	"context"
	"slices"
)

// seat is the place of one running piece of work at a worker. Work that waits
// for somebody else gives its worker to another one meanwhile: else whoever asks
// another agent of its own host could wait for the very worker that it holds.
type seat struct {
	dispatcher *dispatcher
	// held: it has a worker. aside counts the goroutines of the work that wait
	// for somebody else, and while there are any the work holds no worker.
	held  bool
	aside int
	// ready is closed when the worker that it waits for is there, or is no longer
	// needed; nil while it waits for none.
	ready chan struct{}
	over  bool
}

// aside gives up the worker of the work that ctx belongs to until the returned
// function is called, which waits for one, or for ctx's end. Outside a handler
// it does nothing.
func aside(ctx context.Context) (back func()) {
	j := jobOf(ctx)
	if j == nil {
		return func() {}
	}
	j.seat.stepAside()
	return func() { j.seat.comeBack(ctx) }
}

func (s *seat) stepAside() {
	d := s.dispatcher
	d.mu.Lock()
	defer d.mu.Unlock()
	s.aside++
	s.giveUp()
}

// giveUp lets go of the worker, or of the wish for one.
func (s *seat) giveUp() {
	d := s.dispatcher
	if s.ready != nil {
		d.back = slices.DeleteFunc(d.back, func(other *seat) bool { return other == s })
		s.granted(false)
	}
	if s.held {
		s.held = false
		d.busy--
		d.grant()
	}
}

// granted lets the work go on.
func (s *seat) granted(held bool) {
	s.held = held
	close(s.ready)
	s.ready = nil
}

// comeBack returns when the work has a worker again, does not need one because
// another of its goroutines waits for somebody else, or has been told to stop.
func (s *seat) comeBack(ctx context.Context) {
	if ready := s.claim(); ready != nil && s.dispatcher.host.seam.wait(ready, ctx.Done()) == 1 {
		s.resign()
	}
}

func (s *seat) claim() <-chan struct{} {
	d := s.dispatcher
	d.mu.Lock()
	defer d.mu.Unlock()
	s.aside--
	if s.aside > 0 || s.held || s.over {
		return nil
	}
	if s.ready == nil {
		s.ready = make(chan struct{})
		d.back = append(d.back, s)
	}
	ready := s.ready
	d.grant()
	return ready
}

// resign lets the work go on without a worker: it was told to stop.
func (s *seat) resign() {
	d := s.dispatcher
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.ready != nil {
		d.back = slices.DeleteFunc(d.back, func(other *seat) bool { return other == s })
		s.granted(false)
	}
}

// leave ends the work's claim to a worker.
func (s *seat) leave() {
	d := s.dispatcher
	d.mu.Lock()
	defer d.mu.Unlock()
	s.over = true
	s.giveUp()
}
