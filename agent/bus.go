package agent

import (
	"sync"

	"github.com/parley-agents/parley/store"
)

// bus carries events to whoever watches.
type bus struct {
	mu   sync.Mutex
	subs map[store.Key][]*subscription
}

// What may wait for one watcher: a number of events, the bytes in them, and
// the bytes up to which pieces of text run together.
const (
	maxWaiting      = 1024
	maxWaitingBytes = 4 << 20
	maxDelta        = 4 << 10
)

// subscription is the queue of one watcher. A nil event says that the log has
// grown.
type subscription struct {
	ready chan struct{}
	mu    sync.Mutex
	queue []Event
	bytes int
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
	s.bytes += weight(e)
	if n := len(s.queue); n > 0 {
		last := s.queue[n-1]
		if e == nil && last == nil {
			return
		}
		before, ok := last.(*Delta)
		if d, also := e.(*Delta); ok && also && weight(before)+weight(d) <= maxDelta {
			s.queue[n-1] = &Delta{Text: before.Text + d.Text, Reasoning: before.Reasoning + d.Reasoning}
			return
		}
	}
	s.queue = append(s.queue, e)
	if len(s.queue) > maxWaiting || s.bytes > maxWaitingBytes {
		s.shed()
	}
}

// shed drops the oldest events until half of what may wait is free, but never
// the news that the log has grown, nor the newest event.
func (s *subscription) shed() {
	grown, n := false, 0
	for n < len(s.queue)-1 && (len(s.queue)-n > maxWaiting/2 || s.bytes > maxWaitingBytes/2) {
		grown = grown || s.queue[n] == nil
		s.bytes -= weight(s.queue[n])
		n++
	}
	var kept []Event
	if grown {
		kept = append(kept, nil)
	}
	s.queue = append(kept, s.queue[n:]...)
}

// weight is how many bytes of others' making an event holds.
func weight(e Event) int {
	switch e := e.(type) {
	case *Delta:
		return len(e.Text) + len(e.Reasoning)
	case *Calling:
		return len(e.Function) + len(e.Arguments)
	case *Called:
		return len(e.Function) + len(e.Result)
	}
	return 0
}

// take empties the queue.
func (s *subscription) take() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queue
	s.queue, s.bytes = nil, 0
	return q
}
