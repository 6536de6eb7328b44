package simulate

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store/memory"
	"github.com/parley-agents/parley/transcript"
)

const (
	// trouble is how long accidents happen; then the network, the disks and
	// the hosts are well again.
	trouble = time.Minute
	// patience is how long a world may take to end after that: every deadline
	// and window has passed by then.
	patience = 10 * time.Minute
)

// epoch is when every world begins.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// World is one run of some hosts and their users, in a time of its own, under
// accidents that follow from its seed. Everything in it runs in goroutines of
// the world, one at a time: its code needs no locks, must not start goroutines
// of its own, and waits only in what package agent or the world offers.
type World struct {
	seed   uint64
	loop   *loop
	faults *faults
	nodes  []*Node
	wire   wire
	// calm is a clock that no accident touches.
	calm *clock
	// slowed says until when a node is slow, and by how much.
	slowed map[*Node]slowness
	script *rand.Rand
	checks []check

	// running counts the users that have not done yet, turns what has no
	// number of its own.
	running, turns int
	ledgerless     bool
	tally          Result
	violations     []Violation
	traces         []transcript.Trace
}

type slowness struct {
	until time.Time
	by    time.Duration
}

type check struct {
	property string
	holds    func() error
}

// Violation is a promise that a world broke.
type Violation struct {
	// Property names the promise, such as "P6": see Properties.
	Property string `json:"property"`
	// Detail says what was seen.
	Detail string `json:"detail"`
}

// Node adds a place to the world where the agents that build makes run on a
// host. build is called for each life of the host, since an agent belongs to
// one host.
func (w *World) Node(name string, build func() []*agent.Agent) *Node {
	n := &Node{world: w, name: name, build: build, clock: &clock{loop: w.loop}, disk: memory.New(), changed: make(chan struct{})}
	_ = n.disk.Close() // boot opens it
	w.nodes = append(w.nodes, n)
	return n
}

// Name is the name that the node was given.
func (n *Node) Name() string { return n.name }

// Agent is the agent of that name on the node's present host.
func (n *Node) Agent(name string) *agent.Agent { return n.agents["agent://local/"+name] }

// Random is the world's own randomness: what a script draws from it follows
// from the seed.
func (w *World) Random() *rand.Rand { return w.script }

// Now is the world's time.
func (w *World) Now() time.Time { return w.loop.now }

// Sleep lets the world's time pass.
func (w *World) Sleep(d time.Duration) { w.calm.sleep(d) }

// Check adds a promise of the user's own to those that every world must keep.
// It is looked at when the world has ended.
func (w *World) Check(property string, holds func() error) {
	w.checks = append(w.checks, check{property, holds})
}

// Do lets a user of a node's agents do something, once the world has begun. If
// the node's host is dropped meanwhile, so that f returns agent.ErrStopped, f
// begins again at its next host. What it returns otherwise is its own affair:
// every outcome of a conversation is allowed.
func (w *World) Do(n *Node, f func(ctx context.Context) error) {
	w.running++
	w.loop.Go(func() {
		defer func() { w.running-- }()
		for {
			for !n.up {
				w.loop.Wait(n.changed)
			}
			life := n.lives
			if err := f(context.Background()); !errors.Is(err, agent.ErrStopped) && (n.up && n.lives == life || !crashed(err)) {
				return
			}
			if n.up && n.lives == life {
				w.Sleep(time.Second) // it is about to fall
			}
		}
	})
}

// crashed reports whether an error is what a dropped host leaves behind.
func crashed(err error) bool {
	return err != nil && strings.Contains(err.Error(), errCrashed.Error())
}

func newWorld(seed uint64, kinds []Kind, only map[Fault]bool) *World {
	w := &World{seed: seed, slowed: map[*Node]slowness{}, tally: Result{Terminals: map[string]int{}, Outcomes: map[string]int{}}}
	w.loop = newLoop(epoch, rand.New(rand.NewChaCha8(seedOf(seed, "loop", 0))))
	w.script = rand.New(rand.NewChaCha8(seedOf(seed, "script", 0)))
	w.calm = &clock{loop: w.loop}
	w.faults = newFaults(seed, kinds, only)
	w.wire = newWire()
	return w
}

// seedOf is the seed of one source of randomness of a world.
func seedOf(seed uint64, what string, n int) [32]byte {
	b := binary.BigEndian.AppendUint64(nil, seed)
	b = binary.BigEndian.AppendUint64(b, uint64(n))
	return sha256.Sum256(append(b, what...))
}

// turn numbers what has no number of its own.
func (w *World) turn() int {
	w.turns++
	return w.turns
}

// violate notes a broken promise.
func (w *World) violate(property, format string, args ...any) {
	w.violations = append(w.violations, Violation{property, fmt.Sprintf(format, args...)})
}

func (w *World) slowDown(n *Node, by time.Duration) {
	w.slowed[n] = slowness{w.Now().Add(5 * by), by}
}

func (w *World) slowness(n *Node) time.Duration {
	if s, ok := w.slowed[n]; ok && w.Now().Before(s.until) && !w.faults.over {
		return s.by
	}
	return 0
}

// play runs the world to its end. set describes it: its nodes and what their
// users do.
func (w *World) play(set func(*World)) {
	w.faults.over = true // nothing goes wrong before everybody is up
	set(w)
	w.loop.Go(func() {
		for _, n := range w.nodes {
			n.start()
		}
		w.faults.over = false
		for _, n := range w.nodes {
			w.tilt(n)
		}
	})
	w.loop.run(epoch.Add(trouble), w.settled())
	w.faults.over = true
	w.loop.run(epoch.Add(trouble+patience), w.settled())
}

// tilt disturbs a node's clock now and then, and ends its host in order.
func (w *World) tilt(n *Node) {
	w.loop.Go(func() {
		for !w.faults.over {
			w.Sleep(2 * time.Second)
			if how, happens := w.faults.accident(Clock, "clock", n.name); happens {
				d := time.Duration(between(how, 0.2, 60) * float64(time.Second))
				if how < 0.3 {
					d = -d
				}
				n.clock.jump(d)
			}
			if how, happens := w.faults.accident(Stop, "stop", n.name); happens {
				n.stop(how)
			}
		}
	})
}

// settled says whether the world has nothing left to do. It looks once in a
// second of the world's time, because a look reads all stores.
func (w *World) settled() func() bool {
	var next time.Time
	return func() bool {
		if w.running > 0 || w.Now().Before(next) {
			return false
		}
		next = w.Now().Add(time.Second)
		return !slices.ContainsFunc(w.nodes, func(n *Node) bool { return !n.up || n.busy() })
	}
}

// busy reports whether an exchange of the node has not ended, or a message has
// not left.
func (n *Node) busy() bool {
	ctx := context.Background()
	for uri := range n.agents {
		live, err := n.disk.Exchanges(ctx, uri, "")
		if err != nil || len(live) > 0 {
			return true
		}
	}
	due, err := n.disk.Due(ctx, n.owners(), n.clock.Now().Add(24*time.Hour), 1)
	return err != nil || len(due.Outbox) > 0
}

func (n *Node) owners() []string {
	var owners []string
	for uri := range n.agents {
		owners = append(owners, uri)
	}
	slices.Sort(owners)
	return owners
}

// end drops the hosts and unwinds whoever is left.
func (w *World) end() {
	for _, n := range w.nodes {
		n.fall()
	}
	w.loop.abandon()
}
