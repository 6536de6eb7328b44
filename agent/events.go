package agent

import (
	"context"
	"encoding/json"
	"iter"
	"sync"
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
}

// Refused: the guard did not let a message of the peer through.
type Refused struct {
	Rule    string
	Code    envelope.Code
	Reason  string
	Pointer string
}

// Calling: the agent's model calls a function.
type Calling struct {
	ID, Function string
	Arguments    json.RawMessage
}

// Called: the function has returned.
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
// order. The other events are told to whoever watches at that moment; a
// watcher that does not keep up loses the oldest of them. An error ends the
// sequence: ctx's cause, ErrStopped, or what the store says.
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
		w := watcher{host: h, key: k}
		if done, ok := w.acts(ctx, yield); done || !ok {
			return
		}
		for {
			select {
			case <-sub.ready:
			case <-running.Done():
				yield(nil, ErrStopped)
				return
			case <-ctx.Done():
				yield(nil, context.Cause(ctx))
				return
			}
			for _, e := range sub.take() {
				if e != nil {
					if !yield(e, nil) {
						return
					}
					continue
				}
				if done, ok := w.acts(ctx, yield); done || !ok {
					return
				}
			}
		}
	}
}

// watcher is the place of one watcher in the log.
type watcher struct {
	host *Host
	key  store.Key
	last int64
}

// acts tells what the log has since the last time. It reports whether the
// exchange has ended, and whether the consumer wants more.
func (w *watcher) acts(ctx context.Context, yield func(Event, error) bool) (done, more bool) {
	x, err := w.host.store.Exchange(ctx, w.key)
	if err != nil {
		yield(nil, err)
		return false, false
	}
	log, err := w.host.store.Log(ctx, w.key.Owner, w.key.Conversation, w.last)
	if err != nil {
		yield(nil, err)
		return false, false
	}
	for _, entry := range log {
		w.last = entry.Index
		if entry.Peer != w.key.Peer {
			continue
		}
		e := &Acted{Index: entry.Index, At: entry.At, Kind: entry.Kind, Event: entry.Event, From: entry.From, To: entry.To}
		if len(entry.Envelope) > 0 {
			if e.Message, err = envelope.Decode(entry.Envelope); err != nil {
				yield(nil, err)
				return false, false
			}
		}
		if !yield(e, nil) {
			return false, false
		}
	}
	return x.State.Done(), true
}

// bus carries events to whoever watches.
type bus struct {
	mu   sync.Mutex
	subs map[store.Key][]*subscription
}

// maxWaiting bounds the events that wait for one watcher.
const maxWaiting = 1024

// subscription is the queue of one watcher. A nil event says that the log has
// grown.
type subscription struct {
	ready chan struct{}
	mu    sync.Mutex
	queue []Event
}

func (b *bus) subscribe(k store.Key) *subscription {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.subs == nil {
		b.subs = map[store.Key][]*subscription{}
	}
	s := &subscription{ready: make(chan struct{}, 1)}
	b.subs[k] = append(b.subs[k], s)
	return s
}

func (b *bus) unsubscribe(k store.Key, s *subscription) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var rest []*subscription
	for _, other := range b.subs[k] {
		if other != s {
			rest = append(rest, other)
		}
	}
	if b.subs[k] = rest; len(rest) == 0 {
		delete(b.subs, k)
	}
}

// watched reports whether anybody watches the exchange.
func (b *bus) watched(k store.Key) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.subs[k]) > 0
}

// tell puts an event into the queues of the exchange's watchers; nil says that
// the log has grown.
func (b *bus) tell(k store.Key, e Event) {
	b.mu.Lock()
	subs := b.subs[k]
	b.mu.Unlock()
	for _, s := range subs {
		s.put(e)
	}
}

func (s *subscription) put(e Event) {
	s.mu.Lock()
	s.join(e)
	s.mu.Unlock()
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// join appends the event, or lets it run into the one before it.
func (s *subscription) join(e Event) {
	if n := len(s.queue); n > 0 {
		last := s.queue[n-1]
		if e == nil && last == nil {
			return
		}
		if d, ok := e.(*Delta); ok {
			if before, ok := last.(*Delta); ok {
				s.queue[n-1] = &Delta{Text: before.Text + d.Text, Reasoning: before.Reasoning + d.Reasoning}
				return
			}
		}
	}
	s.queue = append(s.queue, e)
	if len(s.queue) > maxWaiting {
		grown := false
		for _, lost := range s.queue[:maxWaiting/2] {
			grown = grown || lost == nil
		}
		s.queue = append([]Event(nil), s.queue[maxWaiting/2:]...)
		if grown {
			s.queue = append([]Event{nil}, s.queue...)
		}
	}
}

// take empties the queue.
func (s *subscription) take() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queue
	s.queue = nil
	return q
}
