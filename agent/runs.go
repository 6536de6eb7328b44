package agent

import (
	"context"
	"sync"

	"github.com/parley-agents/parley/store"
)

// jobs are the running ones, one for each exchange.
type jobs struct {
	mu      sync.Mutex
	running map[store.Key]*run
	// hands are what is known of the work on exchanges without reading it.
	hands map[store.Key]hand
}

// run is a job that runs.
type run struct {
	cancel context.CancelCauseFunc
	// again: more became due while it ran, and urgent: a cancel is to be answered.
	again, urgent bool
	// lease is what the work is done under, zero until it was prepared.
	lease lease
	// tokens are those of the window, made for the first thing that is told.
	opened sync.Once
	tokens chan struct{}
}

// window has a token for each thing that the job may tell before the first one
// it told is received.
func (r *run) window() chan struct{} {
	r.opened.Do(func() {
		r.tokens = make(chan struct{}, maxUntold)
		for range maxUntold {
			r.tokens <- struct{}{}
		}
	})
	return r.tokens
}

// start registers a run; if there is one, that one will look again when it is
// done, and start returns nil.
func (j *jobs) start(k store.Key, cancel context.CancelCauseFunc) *run {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.running == nil {
		j.running = map[store.Key]*run{}
	}
	if before := j.running[k]; before != nil {
		before.again = true
		return nil
	}
	r := &run{cancel: cancel}
	j.running[k] = r
	return r
}

// stop tells the run to stop, if there is one. It looks again when it is done:
// it may have been about to find that nothing was left to do.
func (j *jobs) stop(k store.Key, cause error) (running bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.running[k]
	if r == nil {
		return false
	}
	r.cancel(cause)
	r.again, r.urgent = true, r.urgent || cause == errStop
	return true
}

func (j *jobs) of(k store.Key) *run {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.running[k]
}

// end takes a run off and reports whether more became due, and whether that
// can wait.
func (j *jobs) end(k store.Key) (again, urgent bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.running[k]
	delete(j.running, k)
	delete(j.hands, k)
	return r.again, r.urgent
}

// remind tells the run to look again when it is done, if there is one.
func (j *jobs) remind(k store.Key) (running bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.running[k]
	if r != nil {
		r.again = true
	}
	return r != nil
}
