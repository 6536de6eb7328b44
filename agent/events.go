package agent

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/repair"
	"github.com/parley-agents/parley/store"
)

// Event is something that happens in an exchange: an *Acted, *Refused,
// *Calling, *Called, *Delta or *Mended.
type Event interface{ event() }

// Acted: an act or receipt moved the exchange, a timer fired, or a message was
// rejected.
type Acted struct {
	Index    int64
	At       time.Time
	Kind     store.EntryKind
	Event    protocol.Event
	From, To protocol.State
	// Message is what was sent or received, nil for a timer.
	Message *envelope.Envelope
	// Reason is why a message was rejected.
	Reason string
}

// Refused: the guard did not let a message of the peer through.
type Refused struct {
	Rule    string
	Code    envelope.Code
	Reason  string
	Pointer string
}

// Calling: the agent's model calls a function that is no act.
type Calling struct {
	ID, Function string
	Arguments    json.RawMessage
}

// Called: the function has returned, or could not be called. Result is what
// the model is told, nil when the work was stopped before that.
type Called struct {
	ID, Function string
	Result       json.RawMessage
}

// Delta is a piece of what the model writes, as it comes. Pieces that nobody
// has taken yet are put together.
type Delta struct{ Text, Reasoning string }

// Mended is an attempt to mend the arguments of a call.
type Mended struct {
	Function string
	repair.Event
}

func (*Acted) event()   {}
func (*Refused) event() {}
func (*Calling) event() {}
func (*Called) event()  {}
func (*Delta) event()   {}
func (*Mended) event()  {}

// Watch tells what happens in an exchange of the agent, whichever side it is
// on: the acts so far, then everything that comes, until the exchange has
// ended, ctx ends or the host stops.
//
// Acts come from the log: none is lost, none is told twice, and they come in
// order. The other events are told to whoever watches at that moment, and come
// before the act that ends the exchange; a watcher that does not keep up loses
// the oldest of them and holds nobody up. An error ends the sequence: ctx's
// cause, ErrStopped, or what the store says, such as store.ErrNotFound. The
// sequence may be ranged over again, and from several goroutines: each time it
// begins at the first act.
func Watch(ctx context.Context, a *Agent, conversation, peer string) iter.Seq2[Event, error] {
	if a.host == nil {
		return func(yield func(Event, error) bool) { yield(nil, ErrStopped) }
	}
	uri, err := a.host.resolve(peer)
	if err != nil {
		return func(yield func(Event, error) bool) { yield(nil, err) }
	}
	return a.host.watch(ctx, store.Key{Owner: a.URI(), Conversation: conversation, Peer: uri})
}

func (h *Host) watch(ctx context.Context, k store.Key) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		running, err := h.live()
		if err != nil {
			yield(nil, err)
			return
		}
		sub := h.bus.subscribe(k)
		defer h.bus.unsubscribe(k, sub)
		w := watcher{host: h, key: k, yield: yield}
		if !w.acts(ctx, sub, nil) {
			return
		}
		for {
			back := aside(ctx)
			ready := h.seam.wait(sub.ready, running.Done(), ctx.Done())
			back()
			switch ready {
			case 1:
				yield(nil, ErrStopped)
				return
			case 2:
				yield(nil, context.Cause(ctx))
				return
			}
			for waiting := sub.take(); len(waiting) > 0; waiting = waiting[1:] {
				if e := waiting[0]; e != nil && !yield(e, nil) || e == nil && !w.acts(ctx, sub, waiting[1:]) {
					return
				}
			}
		}
	}
}

// watcher is the place of one watcher in the log.
type watcher struct {
	host  *Host
	key   store.Key
	last  int64
	yield func(Event, error) bool
}

// acts tells what the log has since the last time, and reports whether there
// is more to come. Before the act that ends the exchange it tells the events
// that wait.
func (w *watcher) acts(ctx context.Context, sub *subscription, waiting []Event) bool {
	fail := func(err error) bool {
		w.yield(nil, w.host.cause(ctx, err))
		return false
	}
	x, err := w.host.store.Exchange(ctx, w.key)
	if err != nil {
		return fail(err)
	}
	log, err := w.host.store.Log(ctx, w.key.Owner, w.key.Conversation, w.last)
	if err != nil {
		return fail(err)
	}
	// The exchange may have ended since it was read: then the log says so, and
	// nothing else will.
	over := x.State.Done()
	for _, entry := range log {
		w.last = entry.Index
		if entry.Peer != w.key.Peer {
			continue
		}
		over = over || entry.To.Done()
		if entry.To.Done() && !entry.From.Done() {
			for _, e := range append(waiting, sub.take()...) {
				if e != nil && !w.yield(e, nil) {
					return false
				}
			}
		}
		e, err := acted(entry)
		if err != nil {
			return fail(err)
		}
		if !w.yield(e, nil) {
			return false
		}
	}
	return !over
}

func acted(entry store.Entry) (*Acted, error) {
	e := &Acted{Index: entry.Index, At: entry.At, Kind: entry.Kind, Event: entry.Event, From: entry.From, To: entry.To, Reason: entry.Reason}
	if len(entry.Envelope) == 0 {
		return e, nil
	}
	var err error
	e.Message, err = envelope.Decode(entry.Envelope)
	return e, err
}
