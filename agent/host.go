package agent

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/store"
)

// Config says what a host runs on. Only Store must be set.
type Config struct {
	// Store keeps everything. The host owns it: Stop closes it.
	Store store.Store
	// Clock is where time comes from. Default: the system's clock.
	Clock Clock
	// Random is where ids, salts and nonces come from. Default: crypto/rand.
	Random io.Reader
	// Scheduler runs the host's goroutines. Default: Go's own.
	Scheduler Scheduler
	// Log receives what an operator should see; it never carries content.
	// Default: slog.Default().
	Log *slog.Logger
	// Observer is told what the log is told, as values. Default: nobody.
	Observer Observer
	// Peers say where other agents are reached, by name, as Peer says it for one.
	Peers map[string]string
	// Dial makes the link to an agent at an address that Peer or Peers gave. It
	// must not need the agent to be there yet. Default: none, and an address is an
	// error of Start.
	Dial func(ctx context.Context, uri, url string) (Link, error)
	// Keys are the public keys of agents elsewhere, by URI, as whoever runs them
	// says: of those who call and are never dialled. Default: the key that a link
	// knows, else the one that an agent was first met with.
	Keys map[string]ed25519.PublicKey
	// Authority is the tenant of the host's agents. Default: "local".
	Authority string
	// Retention is how long a conversation is kept after its end, with its log
	// and all that belongs to it, as far as nothing else leans on it; answered
	// commands and dead letters are kept as long. Default: for ever.
	Retention time.Duration
	// MaxRuns is how often a host may end out of order with the same work in hand
	// before the work is taken for what ends it: it is then failed as (permanent,
	// poison) without another run. Work is in hand while its handler runs, and from
	// its acceptance until it has stood in line for a heartbeat; a proposal that
	// waits for its award is not, nor is what an earlier host left and this one has
	// not begun. Work that a host had in hand for longer than store.Steady before
	// it ended is counted anew. Default: 5.
	MaxRuns int
	// CarrierTimeout is how long one send may take. Default: 5 s.
	CarrierTimeout time.Duration
	// Terms say how long things are held and remembered.
	Terms Terms
	// Workers is how many handlers and models run at once. One that waits for
	// somebody else, in Ask, Gather, Sleep or the like in any of its goroutines,
	// gives its worker to another meanwhile, and a function given to Publish
	// needs one only to begin. Default: 256.
	Workers int
	// Backlog is how many accepted opening acts may wait for a worker. One that
	// comes beyond them is answered with nack(capacity, overloaded), which leaves
	// no trace here: its sender tries again until its deadline. What waits is
	// taken in the order of its priority and its age. Default: 1024; less than
	// zero: none.
	Backlog int
	// Sends is how many messages are being sent at once, SendsPerPeer how many of
	// them to one receiver, so that a slow one does not take all. Default: 256
	// and 32.
	Sends, SendsPerPeer int
	// Breaker says when a receiver that cannot be reached is left alone.
	Breaker Breaker
	// Drain is how long Stop lets running handlers finish before it tells them to
	// stop. Default: 5 s; less than zero: not at all.
	Drain time.Duration
}

// Host is the process: it owns one store and moves the exchanges of its agents
// by committed steps. Its methods may be called at once by several goroutines.
type Host struct {
	cfg    Config
	seam   *seam
	store  store.Store
	log    *slog.Logger
	agents map[string]*Agent
	owners []string
	// order has the agents' URIs in the order in which they were given.
	order  []string
	dir    directory
	counts counters

	mu    sync.Mutex
	state hostState
	// abort cuts a start short, settled is closed when it has ended, and unwanted
	// says that it was cut short. down is closed when a stop is done.
	abort         context.CancelCauseFunc
	settled, down chan struct{}
	unwanted      bool
	meta          store.Meta
	keys          map[string]ed25519.PrivateKey
	// ring are the public halves, nil before the start. Other hosts read it
	// while this one starts, so no lock may be needed.
	ring atomic.Pointer[map[string]ed25519.PublicKey]
	// running ends with the host, lasting never.
	running, lasting context.Context
	halt             context.CancelCauseFunc
	group            group

	dispatch *dispatcher

	jobs    jobs
	watches watches
	// tasks wakes whoever reads what the owner commits under a task.
	tasks   watches
	letters letters
	beside  beside
	bus     bus
	tokens  tokens
	mac     mac
	out     *outgoing
	broken  circuits
	beat    heartbeat
	asked   asked
	parties assemblies

	quarantine quarantine
	// questions is held while a question that a participant asks back is judged
	// and accepted: it looks at other exchanges than its own.
	questions sync.Mutex
}

// NewHost describes a host of the agents; Start runs it. An agent belongs to
// one host.
func NewHost(cfg Config, agents ...*Agent) *Host {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Authority == "" {
		cfg.Authority = "local"
	}
	if cfg.CarrierTimeout == 0 {
		cfg.CarrierTimeout = 5 * time.Second
	}
	cfg.Terms = cfg.Terms.withDefaults()
	cfg.Breaker = cfg.Breaker.withDefaults()
	preset(&cfg.Workers, 256)
	preset(&cfg.Backlog, 1024)
	preset(&cfg.Sends, 256)
	preset(&cfg.SendsPerPeer, 32)
	preset(&cfg.Drain, 5*time.Second)
	h := &Host{cfg: cfg, seam: newSeam(cfg.Clock, cfg.Random, cfg.Scheduler), store: cfg.Store, log: cfg.Log,
		agents: map[string]*Agent{}, keys: map[string]ed25519.PrivateKey{}}
	h.group.sched = h.seam.sched
	h.dispatch = newDispatcher(h)
	h.down = make(chan struct{})
	h.out = newOutgoing(func(at time.Time) func() { return h.seam.clock.At(at, h.poke) })
	for _, a := range agents {
		uri := h.uri(a.name)
		if h.agents[uri] != nil {
			a.fault("the name is given twice")
		}
		if a.host != nil {
			a.fault("the agent belongs to another host")
		} else {
			a.host = h
		}
		h.agents[uri] = a
		h.order = append(h.order, uri)
	}
	h.owners = slices.Sorted(maps.Keys(h.agents))
	return h
}

// preset gives a setting that is zero its default.
func preset[T comparable](setting *T, fallback T) {
	var zero T
	if *setting == zero {
		*setting = fallback
	}
}

func (h *Host) uri(name string) string { return "agent://" + h.cfg.Authority + "/" + name }

// Start checks the agents, takes over the work that an earlier host of the
// same store left behind, and begins to send and receive. It returns when the
// host is ready; what is wrong with an agent's description or the configuration
// is returned here. ctx bounds the start alone, and Stop cuts it short, which
// gives ErrStopped. Starting twice is an error.
func (h *Host) Start(ctx context.Context) error {
	if h.store == nil {
		return errors.New("starting host: Config.Store is nil")
	}
	ctx, begun, err := h.begin(ctx)
	if err == nil {
		err = h.bringUp(ctx)
		err = begun(err)
	}
	if err != nil {
		return fmt.Errorf("starting host: %w", err)
	}
	return nil
}

// bringUp makes a host ready that nobody can reach yet.
func (h *Host) bringUp(ctx context.Context) error {
	if err := h.cfg.Terms.check(h.cfg.CarrierTimeout); err != nil {
		return err
	}
	var faults []error
	for _, uri := range h.owners {
		faults = append(faults, h.agents[uri].check())
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	if err := h.identify(ctx); err != nil {
		return err
	}
	links, err := h.dial(ctx)
	if err != nil {
		return err
	}
	if err := h.startModels(ctx); err != nil {
		return err
	}
	h.dir.add(Link{transport: inProcess{h}, agents: h.owners, key: h.publicKey})
	for _, l := range links {
		h.Connect(l)
	}
	for uri, a := range h.agents {
		for _, p := range a.peers {
			for _, c := range p.contracts {
				h.asked.put(uri, c)
			}
		}
	}
	if err := h.resume(ctx); err != nil {
		errs := []error{err}
		for _, m := range h.services() {
			errs = append(errs, m.Stop(context.WithoutCancel(ctx)))
		}
		return &resumeError{errors.Join(errs...)}
	}
	return nil
}

// identify reads or makes what the store keeps of the host and its agents.
func (h *Host) identify(ctx context.Context) error {
	meta, err := h.store.Meta(ctx, store.Meta{Generation: h.seam.now().UnixMilli(), Secret: h.seam.bytes(32)})
	if err != nil {
		return fmt.Errorf("reading the store: %w", err)
	}
	h.meta = meta
	for _, uri := range h.owners {
		id, err := h.store.Identity(ctx, store.Identity{Owner: uri, Seed: h.seam.bytes(ed25519.SeedSize)})
		if err != nil {
			return fmt.Errorf("reading the key of %s: %w", uri, err)
		}
		h.keys[uri] = ed25519.NewKeyFromSeed(id.Seed)
	}
	ring := make(map[string]ed25519.PublicKey, len(h.keys))
	for uri, key := range h.keys {
		ring[uri] = key.Public().(ed25519.PublicKey)
	}
	h.ring.Store(&ring)
	return nil
}

func (h *Host) startModels(ctx context.Context) error {
	list := h.services()
	for i, m := range list {
		if err := m.Start(ctx); err != nil {
			errs := []error{fmt.Errorf("starting the model: %w", err)}
			for _, before := range list[:i] {
				errs = append(errs, before.Stop(ctx))
			}
			return errors.Join(errs...)
		}
	}
	return nil
}

// services lists the models with a life of their own, each once.
func (h *Host) services() []llm.Service {
	var list []llm.Service
	for _, uri := range h.owners {
		if s, ok := h.agents[uri].model.(llm.Service); ok && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// Connect makes the agents behind the link reachable. It may be called at any
// time; the newest link to an agent counts. Work that an earlier host left
// behind goes on as soon as this one starts: connect it before, so that the
// work finds whom it asks.
//
// What a link collects is collected from the host's start, or from now on, until
// it stops.
func (h *Host) Connect(l Link) {
	h.dir.add(l)
	if l.collect != nil {
		h.Run(func(ctx context.Context) { l.collect(ctx, h) })
	}
}

// Store is the host's store, for reading.
func (h *Host) Store() store.Store { return h.store }

// publicKey is the key of one of the host's agents, nil before it has started.
func (h *Host) publicKey(uri string) ed25519.PublicKey {
	if ring := h.ring.Load(); ring != nil {
		return (*ring)[uri]
	}
	return nil
}
