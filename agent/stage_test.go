package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

// stage is a planner, a clerk and a bank, each a process of its own with a host
// and a store. The planner asks the clerk, who may ask the bank. Processes are
// dropped at chosen places and started again, one second later, on what their
// stores hold.
type stage struct {
	t     *testing.T
	world *world
	kills []kill
	parts map[string]*process
}

// process is one of the three, whatever its lives.
type process struct {
	stage *stage
	name  string
	cast  func(*life) *agent.Agent

	mu   sync.Mutex
	life *life // the one that goes on, or has just ended
	seen map[string]int
}

// life is one run of a process. What runs on in it after its death does nothing
// any more, as nothing of a process does.
type life struct {
	process *process
	records *memory.Store
	alive   atomic.Bool
	up, end chan struct{}
	host    *agent.Host
	agent   *agent.Agent
}

// kill is where a process dies: at the n-th commit that it makes, or at the n-th
// time that it comes to a place of that name; before the commit takes effect, or
// when it is durable and nobody has been told.
type kill struct {
	process string
	place   string
	n       int
	after   bool
}

// everywhere is the place of every change of the store.
const everywhere = "commit"

func (k kill) String() string {
	side := "before"
	if k.after {
		side = "after"
	}
	return fmt.Sprintf("%s dies %s %s %d", k.process, side, k.place, k.n)
}

var errDied = errors.New("the process has died")

// raise starts the processes.
func raise(t *testing.T, w *world, cast map[string]func(*life) *agent.Agent, kills ...kill) *stage {
	t.Helper()
	s := &stage{t: t, world: w, kills: kills, parts: map[string]*process{}}
	for name, c := range cast {
		s.parts[name] = &process{stage: s, name: name, cast: c, seen: map[string]int{}}
	}
	for _, p := range s.parts {
		p.begin(memory.New())
	}
	return s
}

// begin starts a life on the records. It may die before it is up.
func (p *process) begin(records *memory.Store) {
	l := &life{process: p, records: records, up: make(chan struct{}), end: make(chan struct{})}
	l.alive.Store(true)
	l.agent = p.cast(l)
	l.host = agent.NewHost(agent.Config{Store: &mortal{records, l}, Log: slog.New(slog.DiscardHandler)}, l.agent)
	p.mu.Lock()
	p.life = l
	p.mu.Unlock()
	for _, other := range p.stage.others(p) {
		l.host.Connect(agent.PeerHost(other))
		other.Connect(agent.PeerHost(l.host))
	}
	if err := l.host.Start(p.stage.t.Context()); err == nil {
		close(l.up)
	} else if l.alive.Load() {
		p.stage.t.Errorf("starting %s: %v", p.name, err)
	}
}

// others are the hosts of the other processes.
func (s *stage) others(p *process) (list []*agent.Host) {
	for _, other := range s.parts {
		if l := other.latest(); other != p && l != nil {
			list = append(list, l.host)
		}
	}
	return list
}

func (p *process) latest() *life {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.life
}

// living waits for a life that is up.
func (p *process) living() *life {
	for {
		l := p.latest()
		select {
		case <-l.up:
			if l.alive.Load() {
				return l
			}
		case <-l.end:
		}
		<-time.After(100 * time.Millisecond)
	}
}

// die ends the life here and now; the next one begins a second later.
func (l *life) die() {
	if !l.alive.CompareAndSwap(true, false) {
		return
	}
	close(l.end)
	p := l.process
	if err := l.records.Close(); err != nil {
		p.stage.t.Error(err)
	}
	go func() {
		if err := l.host.Kill(); err != nil {
			p.stage.t.Error(err)
		}
		<-time.After(time.Second)
		next, err := l.records.Reopen()
		if err != nil {
			p.stage.t.Error(err)
			return
		}
		p.begin(next)
	}()
}

// at is where the code of a process comes to a place. It returns errDied when
// the process dies there, and for good afterwards.
func (l *life) at(place string) error {
	if l.fatal(place, l.count(place), false) {
		l.die()
	}
	if !l.alive.Load() {
		return errDied
	}
	return nil
}

// count is how often the process has come to the place by now.
func (l *life) count(place string) int {
	p := l.process
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.alive.Load() {
		p.seen[place]++
	}
	return p.seen[place]
}

// fatal reports whether the process dies at the n-th time at the place, on that
// side of it.
func (l *life) fatal(place string, n int, after bool) bool {
	return slices.Contains(l.process.stage.kills, kill{l.process.name, place, n, after})
}

// fired reports whether each kill came about.
func (s *stage) fired() bool {
	return !slices.ContainsFunc(s.kills, func(k kill) bool {
		p := s.parts[k.process]
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.seen[k.place] < k.n
	})
}

// stop ends the processes.
func (s *stage) stop() {
	for _, p := range s.parts {
		if err := p.living().host.Stop(s.t.Context()); err != nil {
			s.t.Error(err)
		}
	}
}

// mortal is the store of a life.
type mortal struct {
	store.Store
	life *life
}

func (m *mortal) Commit(ctx context.Context, w store.WriteSet) error {
	return m.change(placeOf(w), func() error {
		err := m.Store.Commit(ctx, w)
		if err == nil {
			m.life.process.stage.world.recorded(m.life.process.name, w)
		}
		return err
	})
}

func (m *mortal) Identity(ctx context.Context, candidate store.Identity) (id store.Identity, err error) {
	err = m.change("identity", func() error { id, err = m.Store.Identity(ctx, candidate); return err })
	return id, err
}

func (m *mortal) TakeOver(ctx context.Context, owner string) (rows []store.Inbox, err error) {
	err = m.change("takeover", func() error { rows, err = m.Store.TakeOver(ctx, owner); return err })
	return rows, err
}

// change makes a change of the store, unless the process dies at it.
func (m *mortal) change(place string, make func() error) error {
	n, all := m.life.count(place), m.life.count(everywhere)
	fatal := func(after bool) bool {
		return m.life.fatal(place, n, after) || m.life.fatal(everywhere, all, after)
	}
	if fatal(false) {
		m.life.die()
	}
	if !m.life.alive.Load() {
		return store.ErrClosed
	}
	err := make()
	if fatal(true) {
		m.life.die()
		return store.ErrClosed
	}
	return err
}

// placeOf names a commit by what it is about: a turn record by its kind, a step
// by the events of its entries, a delivery by what became of the message.
func placeOf(w store.WriteSet) string {
	var names []string
	for _, t := range w.Turns {
		names = append(names, string(t.Kind))
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

// trip is the business exchange that the planner is about: what an application
// keeps of its own, so that it finds its question again.
const trip = "0195d4f0-0000-7000-8000-000000000001"

// ask lets the planner ask the clerk, as an application does it: whenever its
// process has died, the next one looks for the question and asks if there is
// none.
func (s *stage) ask(c protocol.Contract[Seat, Booking]) (Booking, error) {
	for {
		l := s.parts["planner"].living()
		out, err := l.askOnce(s.t.Context(), c)
		if l.alive.Load() {
			return out, err
		}
	}
}

func (l *life) askOnce(ctx context.Context, c protocol.Contract[Seat, Booking]) (Booking, error) {
	known, err := l.host.Store().Correlated(ctx, l.agent.URI(), trip)
	if err != nil {
		return Booking{}, err
	}
	if len(known) == 0 {
		return agent.Ask(ctx, l.agent, "clerk", c, seat, agent.Key("trip-1"), agent.Correlation(trip), agent.Within(10*time.Minute))
	}
	x, err := agent.Resume(ctx, l.agent, "clerk", known[0].Conversation, c)
	if err != nil {
		return Booking{}, err
	}
	return x.Wait(ctx)
}
