package a2a

import (
	"context"
	"iter"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/store"
)

// pushHost is what push notifications need of an agent.Host.
type pushHost interface {
	Now() time.Time
	At(t time.Time, f func()) (stop func())
	NewID() string
}

// pushStore is what push notifications need of a store.Store.
type pushStore interface {
	Tasks(ctx context.Context, owner, task string) ([]store.Exchange, error)
	PutCallback(ctx context.Context, c store.Callback) error
	Callback(ctx context.Context, k store.CallbackKey) (store.Callback, error)
	Callbacks(ctx context.Context, owner, task string) ([]store.Callback, error)
	DeleteCallback(ctx context.Context, k store.CallbackKey) error
	AdvanceCallback(ctx context.Context, c store.Callback) error
}

// findTask is the caller's task, or wire.TaskNotFound.
type findTask func(ctx context.Context, c wire.Call, task string) (store.Exchange, error)

// eventsOf is what happened in a task after a place, then what happens, until
// the task has ended, waiting for its client or not. It may begin with the task as
// it is, whatever the place.
type eventsOf func(ctx context.Context, x store.Exchange, after string, parley bool) iter.Seq2[wire.Event, error]

// pusher posts the events of tasks to the webhooks that were set up for them.
// Each webhook has a loop of its own, which reads the log of its task and keeps
// its place there: it is told everything, in order, at least once, across
// restarts of the host, and neither the task nor another webhook waits for it.
type pusher struct {
	host   pushHost
	kept   pushStore
	rules  pushRules
	client *http.Client
	lanes  *lanes
	log    *slog.Logger
	// events is, by the owner's URI, how its tasks are read. It is complete before
	// run is called.
	events map[string]eventsOf

	// changing is held from a look at webhooks in the store to the write that
	// follows from it.
	changing sync.Mutex

	mu      sync.Mutex
	loops   map[store.CallbackKey]*pushLoop
	waiting map[store.CallbackKey]bool
	// work is filled when something waits.
	work chan struct{}
}

// pushLoop tells one webhook. halted is set when it was told to end, done is
// closed when it has.
type pushLoop struct {
	cancel context.CancelFunc
	halted bool
	done   chan struct{}
}

// newPusher makes a pusher; private lets webhooks be on this machine and in
// private networks, and be called without TLS.
func newPusher(h pushHost, kept pushStore, private bool, log *slog.Logger) *pusher {
	to := newTargets(private)
	return &pusher{
		host: h, kept: kept, log: log,
		rules:   pushRules{plain: private, targets: to},
		client:  newPushClient(to.dialer()),
		lanes:   newLanes(maxPosts, maxPostsPerHost),
		events:  map[string]eventsOf{},
		loops:   map[store.CallbackKey]*pushLoop{},
		waiting: map[store.CallbackKey]bool{},
		work:    make(chan struct{}, 1),
	}
}

// serve makes the webhooks of the owner's tasks part of its service. It is
// called before run.
func (p *pusher) serve(owner string, find findTask, events eventsOf) *pushes {
	p.events[owner] = events
	return &pushes{owner: owner, find: find, to: p, perCaller: maxCallerPushes}
}

// run tells the webhooks that were not told everything, and those that tell
// names from then on, until ctx ends. It returns when no loop is left.
func (p *pusher) run(ctx context.Context) {
	var loops sync.WaitGroup
	defer loops.Wait()
	for owner := range p.events {
		loops.Go(func() { p.resume(ctx, owner) })
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.work:
		}
		for _, loop := range p.begin(ctx) {
			loops.Go(loop)
		}
	}
}

// resume tells the owner's webhooks that an earlier host left.
func (p *pusher) resume(ctx context.Context, owner string) {
	for attempt := 1; ctx.Err() == nil; attempt++ {
		err := p.enterAll(ctx, owner)
		if err == nil {
			return
		}
		p.report(ctx, "webhooks cannot be read", err, slog.String("agent", owner))
		p.pass(ctx, p.host.Now().Add(p.backoff(attempt)))
	}
}

func (p *pusher) enterAll(ctx context.Context, owner string) error {
	p.changing.Lock()
	defer p.changing.Unlock()
	left, err := p.kept.Callbacks(ctx, owner, "")
	for _, c := range left {
		p.enter(c.CallbackKey)
	}
	return err
}

// tell has a webhook told that is new or was changed: what is being posted for
// it as it was is broken off.
func (p *pusher) tell(k store.CallbackKey) {
	p.halt(k)
	p.enter(k)
}

// enter has a webhook told what it was not told yet, unless that is being done.
func (p *pusher) enter(k store.CallbackKey) {
	p.mu.Lock()
	if loop := p.loops[k]; loop == nil || loop.halted {
		p.waiting[k] = true
	}
	p.mu.Unlock()
	select {
	case p.work <- struct{}{}:
	default:
	}
}

// begin makes the loops of the webhooks that wait, to be run. Each starts when
// the one before it has ended.
func (p *pusher) begin(ctx context.Context) (loops []func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k := range p.waiting {
		ctx, cancel := context.WithCancel(ctx)
		before, own := p.loops[k], &pushLoop{cancel: cancel, done: make(chan struct{})}
		p.loops[k] = own
		loops = append(loops, func() {
			defer p.end(k, own)
			if before != nil {
				<-before.done
			}
			p.loop(ctx, k)
		})
	}
	clear(p.waiting)
	return loops
}

func (p *pusher) end(k store.CallbackKey, own *pushLoop) {
	own.cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.loops[k] == own {
		delete(p.loops, k)
	}
	close(own.done)
}

// halt ends the loop of a webhook that is not in the store as it was. When ended
// is closed, nothing more is posted there.
func (p *pusher) halt(k store.CallbackKey) (ended <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if loop := p.loops[k]; loop != nil {
		loop.halted = true
		loop.cancel()
		return loop.done
	}
	none := make(chan struct{})
	close(none)
	return none
}

// pass waits until the host's clock reaches t, or for ctx's end.
func (p *pusher) pass(ctx context.Context, t time.Time) {
	over := make(chan struct{})
	stop := p.host.At(t, func() { close(over) })
	defer stop()
	select {
	case <-over:
	case <-ctx.Done():
	}
}

func (p *pusher) report(ctx context.Context, what string, err error, about ...slog.Attr) {
	if ctx.Err() == nil {
		p.log.LogAttrs(ctx, slog.LevelWarn, what, append(about, slog.Any("error", err))...)
	}
}
