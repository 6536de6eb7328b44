// Package trip puts the trip planner together: a traveller and a planner in this
// process, two suppliers in processes of their own, and the accidents that can
// befall them.
package trip

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/parley-agents/parley/a2a"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/examples/trip-planner/internal/contract"
	"github.com/parley-agents/parley/examples/trip-planner/internal/supplier"
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
	// Launch starts a supplier. Default: this program again, with the arguments
	// supplier.Command and those of the part.
	Launch Launch
	// Log receives what the planner's host reports, Verbose has the suppliers log
	// to standard error.
	Log     *slog.Logger
	Verbose bool
}

// World is the running trip planner. Its methods may be called from several
// goroutines at once.
type World struct {
	opts   Options
	orders orders
	// trouble is what the planner's model had last.
	trouble trouble

	traveller *agent.Agent
	planner   *agent.Host
	// desks are where the suppliers are, logs are their stores, for reading.
	desks []*desk
	logs  []*sqlite.Store
}

const (
	// budget is how long a trip may take to plan.
	budget = 60 * time.Second
	// stopTime is how long agents may take to stop that have hardly started.
	stopTime = 5 * time.Second
)

// Open starts the agents, and returns when all of them take requests. Close stops
// them. A second World in the same folder is refused with store.ErrInUse.
func Open(ctx context.Context, o Options) (*World, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Launch == nil {
		o.Launch = ownProcess
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the stores: %w", err)
	}
	w := &World{opts: o, traveller: travellerAgent(o)}
	if err := w.start(ctx); err != nil {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		return nil, errors.Join(err, w.Close(stopping))
	}
	return w, nil
}

// start starts the suppliers first and the planner last: work that an earlier
// run left behind goes on at once.
func (w *World) start(ctx context.Context) error {
	s, err := sqlite.Open(ctx, filepath.Join(w.opts.Dir, "planner.db"))
	if errors.Is(err, store.ErrInUse) {
		return fmt.Errorf("another trip planner runs on the data in %s: %w", w.opts.Dir, store.ErrInUse)
	}
	if err != nil {
		return fmt.Errorf("opening the planner's store: %w", err)
	}
	cfg := agent.Config{Store: s, Log: w.opts.Log.With("host", "planner"), Observer: &w.trouble, Dial: w.dial}
	if err := w.startSuppliers(ctx); err != nil {
		return errors.Join(err, s.Close())
	}
	w.planner = agent.NewHost(cfg, w.traveller, w.plannerAgent())
	return w.planner.Start(ctx)
}

// startSuppliers returns when both take requests.
func (w *World) startSuppliers(ctx context.Context) error {
	for _, name := range []string{supplier.Flights, supplier.Hotels} {
		p := supplier.Part{Name: name, Dir: w.opts.Dir, Delay: w.opts.SupplierDelay, Injection: w.opts.Faults.Injection, Verbose: w.opts.Verbose}
		if w.opts.Faults.RestartHotel && name == supplier.Hotels {
			p.Points = supplier.Points()
		}
		d, err := openDesk(p, w.opts.Launch, w.opts.Log)
		if err != nil {
			return err
		}
		w.desks = append(w.desks, d)
	}
	for _, d := range w.desks {
		if err := d.await(ctx); err != nil {
			return err
		}
		log, err := sqlite.Inspect(ctx, supplier.StorePath(d.part.Dir, d.part.Name))
		if err != nil {
			return fmt.Errorf("opening the store of %s: %w", d.part.Name, err)
		}
		w.logs = append(w.logs, log)
	}
	return nil
}

// dial makes the link to a supplier, and lets it lose what it is to lose. What a
// killed process had under way is lost too: then it is the next one's stored
// answer that comes.
func (w *World) dial(ctx context.Context, uri, url string) (agent.Link, error) {
	cfg := a2a.DialConfig{Log: w.opts.Log}
	switch {
	case w.opts.Faults.DropReply && uri == ownerOf(supplier.Flights):
		cfg.Client.Transport = newLossy(contract.BookFlight.Name().Capability())
	case w.opts.Faults.RestartHotel && uri == ownerOf(supplier.Hotels):
		cfg.Client.Transport = newLossy(contract.BookHotel.Name().Capability())
	}
	return a2a.Dialer(cfg)(ctx, uri, url)
}

// ownerOf is a supplier's name on the wire.
func ownerOf(name string) string { return "agent://local/" + name }

// Close stops the planner and then the suppliers. It returns when none of their
// processes is left; those that have not stopped when ctx ends are killed.
func (w *World) Close(ctx context.Context) error {
	var errs []error
	if w.planner != nil {
		errs = append(errs, w.planner.Stop(ctx))
	}
	for _, log := range w.logs {
		errs = append(errs, log.Close())
	}
	closed := make(chan error)
	for _, d := range w.desks {
		go func() { closed <- d.close(ctx) }()
	}
	for range w.desks {
		errs = append(errs, <-closed)
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
