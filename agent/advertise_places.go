package agent

import (
	"sync"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/store"
)

// placeRetry is how long a sender should wait for a place to become free.
const placeRetry = time.Second

// maxOwn is how many opening acts that the runtime itself answers may wait or be
// worked on, however much agents have in hand.
const maxOwn = 256

// places are what an agent with a capacity has to give: one for each exchange
// that it works on.
type places struct {
	mu sync.Mutex
	// taken counts how often each exchange holds its one place: once while its
	// opening act is judged, and once for each run of its work.
	taken map[store.Key]int
}

// take holds the exchange's place. Without force it reports false, and holds
// nothing, when all are taken by others.
func (p *places) take(k store.Key, capacity int, force bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !force && p.taken[k] == 0 && len(p.taken) >= capacity {
		return false
	}
	if p.taken == nil {
		p.taken = map[store.Key]int{}
	}
	p.taken[k]++
	return true
}

func (p *places) release(k store.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken[k]--; p.taken[k] <= 0 {
		delete(p.taken, k)
	}
}

// hold is the place of an exchange among those of the line and of its agent, as
// far as it has one. Whoever holds must release, once.
type hold struct {
	key         store.Key
	line, agent *places
}

func (h hold) release() {
	if h.agent != nil {
		h.agent.release(h.key)
	}
	if h.line != nil {
		h.line.release(h.key)
	}
}

// occupy gives the exchange that an opening act would open a place in line, and
// one at its agent, until they are released, or says which are all taken. The work
// that follows holds the places on its own account.
func (h *Host) occupy(e *envelope.Envelope) (place hold, verdict error) {
	k := keyOf(e)
	if h.owns(e) {
		if !h.dispatch.own.take(k, maxOwn, false) {
			return hold{}, overloaded("backlog")
		}
		return hold{key: k, line: &h.dispatch.own}, nil
	}
	place, rule := h.dispatch.admit(k, h.inner(e))
	a := h.agents[k.Owner]
	switch {
	case rule != "":
		return hold{}, overloaded(rule)
	case a == nil || a.advert.capacity == 0:
		return place, nil
	case !a.advert.places.take(k, a.advert.capacity, false):
		place.release()
		return hold{}, overloaded("capacity")
	}
	place.agent = &a.advert.places
	return place, nil
}

// overloaded is what an opening act that finds no place is told. Nothing of it
// is stored.
func overloaded(rule string) *guard.Violation {
	return &guard.Violation{Rule: rule, Answer: guard.Again, Code: envelope.CodeCapacity, Reason: guard.ReasonOverloaded, RetryAfter: placeRetry}
}

// holdOwn keeps the place of an exchange that the runtime itself answers.
func (h *Host) holdOwn(k store.Key) hold {
	h.dispatch.own.take(k, maxOwn, true)
	return hold{key: k, line: &h.dispatch.own}
}

// hold keeps the place of an exchange for work that was accepted, even if more
// are then taken than there are.
func (h *Host) hold(k store.Key) hold {
	a := h.agents[k.Owner]
	if a == nil || a.advert.capacity == 0 {
		return hold{}
	}
	a.advert.places.take(k, a.advert.capacity, true)
	return hold{key: k, agent: &a.advert.places}
}
