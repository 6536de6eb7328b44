package simulate

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/faulty"
	"github.com/parley-agents/parley/store/memory"
)

// Node is a place in a world where a host runs, crashes and runs again. Its
// store outlives its hosts.
type Node struct {
	world *World
	name  string
	build func() []*agent.Agent
	clock *clock
	disk  *memory.Store

	host   *agent.Host
	agents map[string]*agent.Agent
	up     bool
	// starting: the host is inside Start, which nothing may drop but Start itself.
	starting bool
	lives    int
	// changed is closed when the node comes up or goes down.
	changed chan struct{}
}

// errCrashed is what a dropped host sees of its last call.
var errCrashed = errors.New("the host was dropped")

// errDisk is a call of a store that went wrong.
var errDisk = errors.New("the disk failed")

// start runs the node's next host. It is tried until it succeeds, since it may
// crash itself.
func (n *Node) start() {
	for !n.up {
		n.lives++
		if err := n.boot(); err != nil {
			n.clock.sleep(time.Second)
		}
	}
}

func (n *Node) boot() error {
	disk, err := n.disk.Reopen()
	if err != nil {
		return err
	}
	n.disk = disk
	list := n.build()
	n.agents = map[string]*agent.Agent{}
	w := n.world
	h := agent.NewHost(agent.Config{
		Store: n.faulty(disk), Clock: n.clock, Scheduler: w.loop, Random: w.randomOf(n.name, n.lives),
		Log: slog.New(slog.DiscardHandler), Workers: w.size("workers", n, 8), Backlog: w.size("backlog", n, 16),
	}, list...)
	for _, a := range list {
		n.agents[a.URI()] = a
	}
	w.connect(n, h)
	n.host = h
	n.up, n.starting = true, true
	err = h.Start(context.Background())
	n.starting = false
	if err != nil {
		n.fall()
		if !errors.Is(err, errCrashed) && !errors.Is(err, errDisk) && !errors.Is(err, store.ErrClosed) {
			w.violate("start", "host %s: %v", n.name, err)
		}
		return err
	}
	n.signal()
	return nil
}

func (n *Node) signal() {
	close(n.changed)
	n.changed = make(chan struct{})
}

// fall drops the host as a crash would.
func (n *Node) fall() {
	if !n.up {
		return
	}
	n.up = false
	_ = n.host.Kill()
	n.signal()
}

// crash drops the host, and has the node start again after a while.
func (n *Node) crash(how float64) {
	if !n.up {
		return
	}
	n.world.tally.Crashes++
	if n.starting {
		n.lives++ // every later call of its store fails, and so does Start
		return
	}
	n.fall()
	n.world.loop.Go(func() {
		n.clock.sleep(time.Duration(between(how, 0.05, 20) * float64(time.Second)))
		n.start()
	})
}

// stop ends the host in order, and starts the node again after a while.
func (n *Node) stop(how float64) {
	if !n.up || n.starting {
		return
	}
	n.world.tally.Stops++
	life := n.lives
	if err := n.host.Stop(context.Background()); err != nil && !crashed(err) && !errors.Is(err, errDisk) {
		n.world.violate("stop", "host %s: %v", n.name, err)
	}
	if n.lives != life || !n.up {
		return // it crashed over it
	}
	n.up = false
	n.signal()
	n.clock.sleep(time.Duration(between(how, 0.05, 20) * float64(time.Second)))
	n.start()
}

// faulty is the node's store for one life: each of its calls may be the last.
func (n *Node) faulty(disk store.Store) store.Store {
	life := n.lives
	if n.world.ledgerless {
		disk = forgetful{disk}
	}
	return faulty.New(disk, func(side faulty.Side, call string) error {
		if n.lives != life {
			return errCrashed
		}
		if how, crash := n.world.faults.accident(Crash, "crash "+string(side), n.name+" "+call); crash {
			n.crash(how)
			return errCrashed
		}
		if side == faulty.Before && call == "Commit" {
			if _, fails := n.world.faults.accident(Disk, "disk", n.name+" "+call); fails {
				return errDisk
			}
		}
		return nil
	})
}

// size is a bound of a node's host, drawn from the seed.
func (w *World) size(what string, n *Node, most int) int {
	return 1 + int(w.faults.draw(what+" "+n.name, 0)*float64(most))
}

// randomOf is the randomness of one life of a node.
func (w *World) randomOf(name string, life int) *rand.ChaCha8 {
	return rand.NewChaCha8(seedOf(w.seed, "random "+name, life))
}

// forgetful is a store without a ledger of effects.
type forgetful struct{ store.Store }

func (forgetful) Effect(context.Context, store.EffectKey) (store.Effect, error) {
	return store.Effect{}, store.ErrNotFound
}

func (f forgetful) Commit(ctx context.Context, w store.WriteSet) error {
	w.Claim, w.Effects, w.Release = nil, nil, nil
	return f.Store.Commit(ctx, w)
}
