package simulate

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"
)

// loop runs the goroutines of a world one at a time. Which of those that can
// run comes next follows from the seed; time stands still until none can, and
// then moves to the next alarm. It is an agent.Scheduler.
//
// The one that runs has the baton: it runs until it waits or ends. So nothing
// in a world needs a lock, and two runs of one seed are one run.
type loop struct {
	now    time.Time
	random *rand.Rand
	// running is the task that has the baton, nil while the loop itself has it.
	running *task
	ready   []*task
	parked  []*task
	alarms  alarms
	serial  int
	baton   chan struct{}
	// turns counts how often the baton was passed.
	turns int
	// panics are those of tasks, each with where it came from.
	panics []string
	// abandoned: whoever still waits is unwound.
	abandoned bool
}

// maxTurns is how often the baton may be passed in one world: no world that
// gets anywhere needs as many.
const maxTurns = 200_000

// task is a goroutine of the world.
type task struct {
	turn   chan struct{}
	ready  []<-chan struct{}
	chosen int
}

// abandonment unwinds a goroutine whose world is over.
type abandonment struct{}

func newLoop(start time.Time, random *rand.Rand) *loop {
	return &loop{now: start, random: random, baton: make(chan struct{})}
}

// Go implements agent.Scheduler.
func (l *loop) Go(f func()) {
	t := &task{turn: make(chan struct{})}
	l.ready = append(l.ready, t)
	go func() {
		<-t.turn
		defer func() { l.baton <- struct{}{} }()
		defer func() {
			if p := recover(); p != nil && p != (abandonment{}) {
				l.panics = append(l.panics, fmt.Sprintf("%v\n%s", p, debug.Stack()))
			}
		}()
		f()
	}()
}

// Wait implements agent.Scheduler.
func (l *loop) Wait(ready ...<-chan struct{}) int {
	t := l.running
	if t == nil {
		panic("simulate: something waits outside the world's goroutines")
	}
	if l.abandoned {
		panic(abandonment{})
	}
	t.ready, t.chosen = ready, -1
	l.parked = append(l.parked, t)
	l.baton <- struct{}{}
	<-t.turn
	if t.chosen < 0 {
		panic(abandonment{})
	}
	return t.chosen
}

// poll makes ready whoever waits for a channel that can be received from.
func (l *loop) poll() {
	l.parked = slices.DeleteFunc(l.parked, func(t *task) bool {
		for i, c := range t.ready {
			select {
			case <-c:
				t.chosen = i
				l.ready = append(l.ready, t)
				return true
			default:
			}
		}
		return false
	})
}

// pass gives the baton to one of those that are ready and takes it back.
func (l *loop) pass() {
	i := 0
	if len(l.ready) > 1 {
		i = l.random.IntN(len(l.ready))
	}
	t := l.ready[i]
	l.ready = slices.Delete(l.ready, i, i+1)
	l.running = t
	l.turns++
	t.turn <- struct{}{}
	<-l.baton
	l.running = nil
}

// run goes on until nothing is left to do, the time is past end, or done says
// that it is enough; it is asked when everybody waits.
func (l *loop) run(end time.Time, done func() bool) {
	for {
		l.poll()
		if len(l.ready) > 0 {
			if l.pass(); l.turns > maxTurns {
				l.panics = append(l.panics, "the world goes round in circles")
				return
			}
			continue
		}
		if done() || !l.ring(end) {
			return
		}
	}
}

// ring moves the time to the next alarm that is not after end and starts what
// it is for.
func (l *loop) ring(end time.Time) bool {
	for len(l.alarms) > 0 {
		a := l.alarms[0]
		if a.off {
			heap.Pop(&l.alarms)
			continue
		}
		if a.due().After(end) {
			return false
		}
		heap.Pop(&l.alarms)
		if l.now.Before(a.due()) {
			l.now = a.due()
		}
		l.Go(func() {
			if !a.off {
				a.off = true
				a.do()
			}
		})
		return true
	}
	return false
}

// abandon unwinds everybody who still waits, and reports how many that were.
func (l *loop) abandon() (left int) {
	l.abandoned = true
	for {
		l.poll()
		if len(l.ready) > 0 {
			l.pass()
			continue
		}
		if len(l.parked) == 0 {
			return left
		}
		t := l.parked[0]
		l.parked = l.parked[1:]
		left++
		l.ready = append(l.ready, t)
	}
}

// alarm is something to be done at a time, as one node's clock shows it.
type alarm struct {
	clock  *clock
	at     time.Time
	serial int
	do     func()
	off    bool
}

// due is the alarm's time as the world has it.
func (a *alarm) due() time.Time { return a.at.Add(-a.clock.ahead) }

// alarms is a heap, earliest first.
type alarms []*alarm

func (a alarms) Len() int { return len(a) }
func (a alarms) Less(i, j int) bool {
	if x, y := a[i].due(), a[j].due(); !x.Equal(y) {
		return x.Before(y)
	}
	return a[i].serial < a[j].serial
}
func (a alarms) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *alarms) Push(x any)   { *a = append(*a, x.(*alarm)) }
func (a *alarms) Pop() any {
	old := *a
	last := old[len(old)-1]
	*a = old[:len(old)-1]
	return last
}
