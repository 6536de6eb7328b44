package agent

import (
	"container/heap"
	"slices"
	"sync"
	"time"

	"github.com/parley-agents/parley/store"
)

// aging is how much longer work of one priority waits than work of the next
// higher one that was accepted at the same time: what has waited that much
// longer goes first, so that none is starved.
const aging = 10 * time.Second

// dispatcher lets accepted work run, so many pieces at once as there are
// workers. What waits has no goroutine: it is a row of the inbox, and its key
// stands in line here. It says nothing that the store does not; the line is made
// anew after a restart.
type dispatcher struct {
	host             *Host
	workers, backlog int
	// work are the goroutines that run it.
	work group

	mu   sync.Mutex
	mode dispatching
	// busy counts the workers that are taken: more than there are only by what
	// cannot wait, such as the answer to a cancel.
	busy   int
	line   line
	queued map[store.Key]*waiting
	order  int64
	// back are the seats whose work can go on as soon as there is a worker.
	back []*seat
	// places are what has been accepted, or is being judged, and waits; own those
	// of what the runtime itself answers, which takes none from agents.
	places, own places
}

func newDispatcher(h *Host) *dispatcher {
	d := &dispatcher{host: h, workers: max(h.cfg.Workers, 1), backlog: max(h.cfg.Backlog, 0), queued: map[store.Key]*waiting{}}
	d.work.sched = h.seam.sched
	return d
}

// dispatching says what a dispatcher lets run.
type dispatching int

const (
	shut     dispatching = iota // nothing yet
	flowing                     // everything
	draining                    // only what work under way waits for
	halted                      // nothing more
)

// waiting is work in line.
type waiting struct {
	key store.Key
	// before orders it: when it was accepted, put off by its priority.
	before time.Time
	order  int64
	place  int
	// inner: work of this same host asked for it.
	inner bool
	// own: the runtime itself answers it.
	own bool
	// held are the places that it holds at its agent.
	held hold
}

// line is a heap of what waits.
type line []*waiting

func (l line) Len() int { return len(l) }
func (l line) Less(i, j int) bool {
	if c := l[i].before.Compare(l[j].before); c != 0 {
		return c < 0
	}
	return l[i].order < l[j].order
}
func (l line) Swap(i, j int) {
	l[i], l[j] = l[j], l[i]
	l[i].place, l[j].place = i, j
}
func (l *line) Push(w any) {
	w.(*waiting).place = len(*l)
	*l = append(*l, w.(*waiting))
}
func (l *line) Pop() any {
	last := (*l)[len(*l)-1]
	*l = slices.Delete(*l, len(*l)-1, len(*l))
	return last
}

// putOff is by how much a priority puts work off.
func putOff(priority string) time.Duration {
	switch priority {
	case "high":
		return 0
	case "low":
		return 2 * aging
	}
	return aging
}

// admit makes room in line for the work that an opening act would start, until
// that is released; the work, once it stands in line, holds the place itself.
// It reports which rule forbids it, "" if none does.
func (d *dispatcher) admit(k store.Key, inner bool) (place hold, rule string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mode != flowing && !(d.mode == draining && inner) {
		return hold{}, "draining"
	}
	if !d.places.take(k, d.backlog+max(d.workers-d.busy, 0), false) {
		return hold{}, "backlog"
	}
	return hold{key: k, line: &d.places}, ""
}

// enqueue puts work in line, unless it stands there.
func (d *dispatcher) enqueue(w waiting) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.queued[w.key] != nil {
		w.held.release()
		return
	}
	if d.mode == flowing && d.busy < d.workers && len(d.line)+len(d.back) == 0 {
		d.run(w.key, w.held) // nobody stands before it
		return
	}
	d.stand(w)
	d.grant()
}

// stand puts work in line, whether or not there is a worker.
func (d *dispatcher) stand(w waiting) {
	d.order++
	w.order = d.order
	if !w.own {
		d.places.take(w.key, 0, true)
	}
	d.queued[w.key] = &w
	heap.Push(&d.line, &w)
}

// rush starts work at once, in line or not and whether or not there is a
// worker. It must be done soon.
func (d *dispatcher) rush(k store.Key, held hold) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drop(k)
	if d.mode == flowing || d.mode == draining {
		d.run(k, held)
		return
	}
	held.release()
}

// forget takes work out of line that is no longer owed.
func (d *dispatcher) forget(k store.Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drop(k)
}

func (d *dispatcher) drop(k store.Key) {
	w := d.queued[k]
	if w == nil {
		return
	}
	heap.Remove(&d.line, w.place)
	d.unqueue(w)
	w.held.release()
}

func (d *dispatcher) unqueue(w *waiting) {
	delete(d.queued, w.key)
	if !w.own {
		d.places.release(w.key)
	}
}

// set changes what may run.
func (d *dispatcher) set(mode dispatching) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mode = mode
	d.grant()
}

// waiting lists what stands in line.
func (d *dispatcher) waiting() []store.Key {
	d.mu.Lock()
	defer d.mu.Unlock()
	keys := make([]store.Key, 0, len(d.line))
	for _, w := range d.line {
		keys = append(keys, w.key)
	}
	return keys
}

// load is how many workers are taken and how much stands in line.
func (d *dispatcher) load() (working, waiting int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.busy, len(d.line)
}

// grant gives free workers to whoever waits: first to work that has begun, then
// to the first in line.
func (d *dispatcher) grant() {
	for d.busy < d.workers && d.mode != shut && d.mode != halted {
		if len(d.back) > 0 {
			s := d.back[0]
			d.back = slices.Delete(d.back, 0, 1)
			d.busy++
			s.granted(true)
			continue
		}
		w := d.first()
		if w == nil {
			return
		}
		d.unqueue(w)
		d.run(w.key, w.held)
	}
}

// first takes the first in line that may run.
func (d *dispatcher) first() *waiting {
	if d.mode == flowing {
		if d.line.Len() == 0 {
			return nil
		}
		return heap.Pop(&d.line).(*waiting)
	}
	var best *waiting
	for i, w := range d.line {
		if w.inner && (best == nil || d.line.Less(i, best.place)) {
			best = w
		}
	}
	if best != nil {
		heap.Remove(&d.line, best.place)
	}
	return best
}

// run starts a goroutine that holds a worker.
func (d *dispatcher) run(k store.Key, held hold) {
	s := &seat{dispatcher: d, held: true}
	d.busy++
	started := d.host.spawnIn(&d.work, func() {
		defer s.leave()
		defer held.release()
		d.host.work(k, s)
	})
	if !started { // the host has ended; the work stays in the inbox
		d.busy--
		d.mode = halted
		held.release()
	}
}
