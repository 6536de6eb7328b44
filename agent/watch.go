package agent

import (
	"sync"

	"github.com/parley-agents/parley/store"
)

// watches wakes whoever waits for an exchange to move.
type watches struct {
	mu    sync.Mutex
	moved map[store.Key]watch
}

type watch struct {
	moved   chan struct{}
	waiters int
}

// next is closed at the exchange's next step. Take it before reading the
// exchange, so that no step falls between, and release it afterwards.
func (w *watches) next(k store.Key) (moved <-chan struct{}, release func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.moved == nil {
		w.moved = map[store.Key]watch{}
	}
	c, ok := w.moved[k]
	if !ok {
		c.moved = make(chan struct{})
	}
	c.waiters++
	w.moved[k] = c
	return c.moved, func() { w.release(k, c.moved) }
}

func (w *watches) release(k store.Key, moved chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.moved[k]
	if c.moved != moved { // it has been closed
		return
	}
	if c.waiters--; c.waiters == 0 {
		delete(w.moved, k)
		return
	}
	w.moved[k] = c
}

// waited reports whether anybody waits for the exchange to move.
func (w *watches) waited(k store.Key) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.moved[k].moved != nil
}

func (w *watches) wake(k store.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c, ok := w.moved[k]; ok {
		close(c.moved)
		delete(w.moved, k)
	}
}
