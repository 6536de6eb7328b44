package crash_test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// point is where a process kills itself: before or after a change of its store,
// or at a place in its code, when it comes there for the n-th time.
type point struct {
	side, place string
	n           int
}

// pointOf reads a point such as "before result 2".
func pointOf(text string) point {
	words := strings.Fields(text)
	if len(words) < 3 {
		return point{}
	}
	n, err := strconv.Atoi(words[len(words)-1])
	if err != nil {
		panic(err) // the driver's mistake
	}
	return point{words[0], strings.Join(words[1:len(words)-1], " "), n}
}

// at is where the process comes to a place in its code.
func (c *child) at(place string) { c.reach("at", place, c.count(place)) }

func (c *child) count(place string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[place]++
	return c.seen[place]
}

// reach kills the process if this is the point.
func (c *child) reach(side, place string, n int) {
	if (point{side, place, n}) != c.fatal {
		return
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		panic(err)
	}
	select {} // nothing more happens here
}

// mortal is the store of a process.
type mortal struct {
	*sqlite.Store
	child *child
}

func (m *mortal) Commit(ctx context.Context, w store.WriteSet) error {
	defer m.around(placeOf(w))()
	return m.Store.Commit(ctx, w)
}

func (m *mortal) Identity(ctx context.Context, candidate store.Identity) (store.Identity, error) {
	defer m.around("identity")()
	return m.Store.Identity(ctx, candidate)
}

func (m *mortal) TakeOver(ctx context.Context, owner string) ([]store.Inbox, error) {
	defer m.around("takeover")()
	return m.Store.TakeOver(ctx, owner)
}

// around reaches one side of a change now and the other when it is made.
func (m *mortal) around(place string) func() {
	n := m.child.count(place)
	m.child.reach("before", place, n)
	return func() { m.child.reach("after", place, n) }
}

// placeOf names a commit by what it is about: a turn record by its kind, a step
// by the events of its entries, a delivery by what became of the message.
func placeOf(w store.WriteSet) string {
	var names []string
	for _, t := range w.Turns {
		names = append(names, string(t.Kind))
		switch {
		case strings.HasPrefix(t.Name, "once "):
			names = append(names, "of step")
		case t.Kind != store.Reply:
			names = append(names, "of tool")
		}
	}
	for _, e := range w.Entries {
		if e.Event != "" {
			names = append(names, string(e.Event))
		}
	}
	if len(w.Exchanges) == 0 {
		for _, d := range w.Deliveries {
			names = append(names, string(d.Status))
		}
	}
	return strings.Join(names, " ")
}
