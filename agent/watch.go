package agent

import (
	"sync"

	"github.com/parley-agents/parley/store"
)

// watches wakes whoever waits for an exchange to move.
type watches struct {
	mu    sync.Mutex
	moved map[store.Key]*watch
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
		w.moved = map[store.Key]*watch{}
	}
	c, ok := w.moved[k]
	if !ok {
		c = &watch{moved: make(chan struct{})}
		w.moved[k] = c
	}
	c.waiters++
	return c.moved, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if c.waiters--; c.waiters == 0 && w.moved[k] == c {
			delete(w.moved, k)
		}
	}
}

// waited reports whether anybody waits for the exchange to move.
func (w *watches) waited(k store.Key) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.moved[k] != nil
}

func (w *watches) wake(k store.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c, ok := w.moved[k]; ok {
		close(c.moved)
		delete(w.moved, k)
	}
}
