// Package trip puts the trip planner together: a traveller and three agents,
// each with an inbox of its own, and the accidents that can befall them.
package trip

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/examples/trip-planner/internal/contract"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// Options say how to run the trip planner.
type Options struct {
	// Dir is where the agents keep their stores.
	Dir string
	// Model answers for the planner.
	Model llm.Model
	// Faults are the accidents of the run.
	Faults Faults
	// SupplierDelay is how long the suppliers' systems take to answer.
	SupplierDelay time.Duration
	// Answer is how the traveller answers a question while the trip stays open,
	// such as at a terminal. It returns when he has, with ErrNoAnswer if he will
	// not, or when ctx ends: the question is then asked again by the next World
	// on the stores that can. Nil if he cannot be asked: the planner then ends
	// with its question.
	Answer func(ctx context.Context, question string) (string, error)
	// Log receives what the hosts report.
	Log *slog.Logger
}

// World is the running trip planner. Its methods may be called from several
// goroutines at once.
type World struct {
	opts   Options
	faults Faults
	ledger *Ledger
	orders orders
	// trouble is what the planner's model had last.
	trouble trouble
	// seats and rooms are the links under DropReply and RestartHotel.
	seats, rooms *lossy

	traveller *agent.Agent
	planner   *agent.Host
	flights   *agent.Host

	mu       sync.Mutex
	hotels   *agent.Host
	restarts int
	closed   bool
	reopened sync.WaitGroup
}

// budget is how long a trip may take to plan.
const budget = 60 * time.Second

// Open starts the agents. Close stops them.
func Open(ctx context.Context, o Options) (*World, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the stores: %w", err)
	}
	w := &World{opts: o, faults: o.Faults, traveller: travellerAgent(o),
		seats: newLossy(contract.BookFlight.Name().Capability()), rooms: newLossy(contract.BookHotel.Name().Capability())}
	if err := w.start(ctx); err != nil {
		return nil, errors.Join(err, w.Close(context.WithoutCancel(ctx)))
	}
	return w, nil
}

// start starts the suppliers first and the planner last, with all of them
// connected: work that an earlier run left behind goes on at once.
func (w *World) start(ctx context.Context) (err error) {
	if w.planner, err = w.host(ctx, "planner", nil, w.traveller, w.plannerAgent()); err != nil {
		return err
	}
	if w.flights, err = w.host(ctx, "flights", w.seats.watch, w.flightsAgent()); err != nil {
		return err
	}
	var points []point
	if w.faults.RestartHotel {
		points = restartPoints()
	}
	if w.hotels, err = w.hotelsHost(ctx, points); err != nil {
		return err
	}
	// Nobody else writes it now: the stores are ours.
	if w.ledger, err = OpenLedger(filepath.Join(w.opts.Dir, "suppliers.json")); err != nil {
		return err
	}
	w.connect(w.hotels)
	for _, h := range []*agent.Host{w.flights, w.hotels, w.planner} {
		if err := h.Start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// host opens the store of that name and describes a host of the agents on it.
func (w *World) host(ctx context.Context, name string, wrap func(store.Store) store.Store, agents ...*agent.Agent) (*agent.Host, error) {
	var s store.Store
	s, err := sqlite.Open(ctx, filepath.Join(w.opts.Dir, name+".db"))
	if err != nil {
		return nil, fmt.Errorf("opening the store of %s: %w", name, err)
	}
	if wrap != nil {
		s = wrap(s)
	}
	return agent.NewHost(agent.Config{Store: s, Log: w.opts.Log.With("host", name), Observer: &w.trouble}, agents...), nil
}

// hotelsHost is the hotels' host, which is dropped at the given points.
func (w *World) hotelsHost(ctx context.Context, points []point) (*agent.Host, error) {
	f := &fragile{points: points}
	f.crash = func() { w.restartHotels(f) }
	return w.host(ctx, "hotels", func(s store.Store) store.Store { f.Store = w.rooms.watch(s); return f }, w.hotelsAgent())
}

// restartHotels drops the hotels' host where it stands and opens another one
// on its file. It is called from inside the dying host, so the rest happens
// elsewhere.
func (w *World) restartHotels(f *fragile) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.restarts++
	dying := w.hotels
	w.reopened.Go(func() {
		if err := dying.Kill(); err != nil {
			w.opts.Log.Error("dropping the hotels' host", "error", err)
		}
		h, err := w.hotelsHost(context.Background(), f.remaining())
		if err == nil {
			w.connect(h)
			err = h.Start(context.Background())
		}
		if err != nil {
			w.opts.Log.Error("reopening the hotels' host", "error", err)
			return
		}
		w.mu.Lock()
		w.hotels = h
		w.mu.Unlock()
	})
}

// connect makes the hosts reachable for each other.
func (w *World) connect(hotels *agent.Host) {
	link := func(lossy *lossy, faulty bool, other *agent.Host) {
		if faulty {
			lossy.between(w.planner, other)
			return
		}
		agent.Introduce(w.planner, other)
	}
	link(w.seats, w.faults.DropReply, w.flights)
	link(w.rooms, w.faults.RestartHotel, hotels)
}

// reserve makes the reservation of the work that ctx belongs to.
func (w *World) reserve(ctx context.Context, kind string) (reference string, err error) {
	work, _ := agent.Current(ctx)
	return w.ledger.Reserve(kind, agent.EffectKey(ctx), work.Correlation)
}

// supplier waits as long as the systems behind an agent take.
func (w *World) supplier(ctx context.Context) error {
	timer := time.NewTimer(w.opts.SupplierDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close stops the agents.
func (w *World) Close(ctx context.Context) error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.reopened.Wait()
	var errs []error
	for _, h := range []*agent.Host{w.planner, w.flights, w.hotels} {
		if h != nil {
			errs = append(errs, h.Stop(ctx))
		}
	}
	return errors.Join(errs...)
}

// Question is what an answer answers.
type Question struct {
	// Conversation ended with the question, Correlation ties all of them
	// together.
	Conversation, Correlation string
}

// Plan asks the planner for a trip. The conversation is the id under which
// Continue finds it again. An answer to one question counts once: the same
// answer again gives what the first one gave, another one is refused.
func (w *World) Plan(ctx context.Context, r contract.PlanRequest, to Question) (p contract.Plan, conversation string, err error) {
	within := budget
	if w.opts.Answer != nil && !r.Confirmed {
		within = patience
	}
	opts := []agent.AskOption{agent.Within(within), agent.OnBehalfOf("user:traveller"), agent.Opened(func(id string) { conversation = id })}
	if to.Conversation != "" {
		opts = append(opts, agent.Correlation(to.Correlation), agent.Key("answer "+to.Conversation))
	}
	p, err = agent.Ask(ctx, w.traveller, "planner", contract.PlanTrip, r, opts...)
	return p, conversation, err
}

// key is the traveller's side of a conversation with the planner.
func (w *World) key(conversation string) store.Key {
	return store.Key{Owner: w.traveller.URI(), Conversation: conversation, Peer: plannerURI}
}
