package agenttest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store"
)

// patience is how long work may stand still, in real time.
const patience = 10 * time.Second

// rerun is a run of recorded work: what is compared with what.
type rerun struct {
	store store.Store
	clock *Clock
	cast  cast
	// changed says that something happened.
	changed chan struct{}

	mu      sync.Mutex
	current *work
	parts   map[store.Key]*part // of all work so far
	missed  error
	result  Rerun
}

type rerunKey struct{}

// rerunOf is the run that ctx belongs to, nil outside one.
func rerunOf(ctx context.Context) *rerun {
	run, _ := ctx.Value(rerunKey{}).(*rerun)
	return run
}

// Observe implements agent.Observer.
func (run *rerun) Observe(_ context.Context, o agent.Observation) {
	switch o.Name {
	case agent.HandlerFailed, agent.HandlerPanicked, agent.ToolFailed, agent.ToolPanicked, agent.WorkFailed:
		run.mu.Lock()
		defer run.mu.Unlock()
		run.result.Failures = append(run.result.Failures, o.Err)
	}
}

func (run *rerun) wake() {
	select {
	case run.changed <- struct{}{}:
	default:
	}
}

// fail keeps the first thing that makes going on pointless.
func (run *rerun) fail(err error) error {
	run.mu.Lock()
	if run.missed == nil {
		run.missed = err
	}
	run.mu.Unlock()
	run.wake()
	return err
}

func (run *rerun) missing() error {
	run.mu.Lock()
	defer run.mu.Unlock()
	return run.missed
}

// drive runs one work from its opening act to its end.
func (run *rerun) drive(ctx context.Context, host *agent.Host, w *work) error {
	run.mu.Lock()
	run.current = w
	for _, p := range append(w.children, w.main) {
		run.parts[p.key] = p
	}
	w.main.opened = true
	run.mu.Unlock()
	run.clock.Advance(w.main.script[0].At.Sub(run.clock.Now()))
	for {
		if err := run.deliver(ctx, host, w); err != nil {
			return err
		}
		if ended, err := run.ended(ctx, w); err != nil || ended {
			return err
		}
		still := time.NewTimer(patience)
		select {
		case <-run.changed:
		case <-ctx.Done():
			err := context.Cause(ctx)
			still.Stop()
			return err
		case <-still.C:
			return run.stuck(w)
		}
		still.Stop()
	}
}

// deliver brings what is due from the peers, and lets the time come at which a
// timer ran out then. Nothing else moves the clock: what was slept is recorded,
// and no deadline nears while the model and the peers answer at once.
func (run *rerun) deliver(ctx context.Context, host *agent.Host, w *work) error {
	for run.missing() == nil {
		run.mu.Lock()
		p, h := w.ready()
		if h != nil {
			h.offered = true
		}
		run.mu.Unlock()
		if h == nil {
			return nil
		}
		if late := h.At.Sub(run.clock.Now()); late > 0 && h.Kind != store.Received {
			run.clock.Advance(late)
		}
		if h.incoming() {
			if err := run.bring(ctx, host, p, h); err != nil {
				return err
			}
		}
	}
	return run.missing()
}

// bring delivers one message.
func (run *rerun) bring(ctx context.Context, host *agent.Host, p *part, h *happening) error {
	run.mu.Lock()
	e, err := p.again(h.message)
	run.mu.Unlock()
	if err != nil {
		return fmt.Errorf("message %s of the record: %w", h.MessageID, err)
	}
	data, err := run.signed(e)
	if err != nil {
		return err
	}
	replies, err := host.Deliver(ctx, data)
	if err != nil {
		return fmt.Errorf("delivering message %s of the record: %w", h.MessageID, err)
	}
	run.mu.Lock()
	defer run.mu.Unlock()
	h.again = true
	for _, data := range replies {
		r, err := envelope.Decode(data)
		if err != nil {
			return fmt.Errorf("the answer to message %s: %w", h.MessageID, err)
		}
		if r.ReceiptKind() == envelope.Nack && h.Kind == store.Received {
			run.result.Differences = append(run.result.Differences, Difference{Exchange: p.key, Event: h.Event,
				Recorded: `"accepted"`, Now: text(told(r.Header().Error))})
		}
	}
	return nil
}

// ended reports whether there is nothing more to come of the work, and closes
// the comparison if so.
func (run *rerun) ended(ctx context.Context, w *work) (bool, error) {
	x, err := run.store.Exchange(ctx, w.main.key)
	run.mu.Lock()
	defer run.mu.Unlock()
	switch h := w.main.due(); {
	case run.missed != nil:
		return false, run.missed
	case err != nil && w.main.script[0].again:
		// Its opening act was refused without a trace.
	case err != nil || !x.State.Done():
		return false, nil
	case h != nil && h.incoming() && !h.offered && h.message.ReceiptKind() == "":
		return false, nil
	}
	for h := w.main.act(); h != nil; h = w.main.act() {
		h.again = true
		run.result.Differences = append(run.result.Differences, differ(w.main.key, h.Event, h.message, nil)...)
	}
	if w.served < len(w.replies) {
		run.result.Differences = append(run.result.Differences, Difference{Exchange: w.main.key, Pointer: "/replies",
			Recorded: text(len(w.replies)), Now: text(w.served)})
	}
	for _, c := range w.children {
		if opening := c.script[0]; !c.opened && !w.enclosed(opening.At) {
			run.result.Differences = append(run.result.Differences, differ(c.key, opening.Event, opening.message, nil)...)
		}
	}
	return true, nil
}

func (run *rerun) stuck(w *work) error {
	run.mu.Lock()
	defer run.mu.Unlock()
	for _, p := range append([]*part{w.main}, w.children...) {
		if h := p.due(); h != nil && p.opened {
			return fmt.Errorf("the work of %s for %s stands still; the record goes on with %s, with %s",
				w.main.key.Owner, w.main.key.Peer, h.Event, p.key.Peer)
		}
	}
	return fmt.Errorf("the work of %s for %s has not ended, as the record has", w.main.key.Owner, w.main.key.Peer)
}

// sleeper is the clock of the run: a recorded sleep is over at once.
type sleeper struct {
	*Clock
	run *rerun
}

// At implements agent.Clock.
func (s sleeper) At(t time.Time, f func()) (stop func()) {
	s.run.mu.Lock()
	over := s.run.current != nil && s.run.current.sleeps(t)
	s.run.mu.Unlock()
	if over {
		go f()
		return func() {}
	}
	return s.Clock.At(t, f)
}
