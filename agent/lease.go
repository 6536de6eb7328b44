package agent

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/parley-agents/parley/store"
)

// errFenced is why a handler's context ended: somebody else does its work.
var errFenced = errors.New("the work was taken over")

// lease is what a host does a piece of work under.
type lease struct {
	store.InboxKey
	fence int64
}

// heartbeat renews the leases of all that waits and runs, in one goroutine that
// lives for the moment of a beat. While nothing does, it does not beat.
type heartbeat struct {
	mu    sync.Mutex
	armed bool
}

// beatBatch is how many leases are renewed together, so that the store can
// write them in one transaction.
const beatBatch = 32

// keepAlive makes sure that there is a next beat.
func (h *Host) keepAlive() {
	h.beat.mu.Lock()
	defer h.beat.mu.Unlock()
	if h.beat.armed || h.running.Err() != nil {
		return
	}
	h.beat.armed = true
	h.seam.clock.At(h.seam.now().Add(h.cfg.Terms.Heartbeat), func() { h.spawn(h.renewLeases) })
}

// renewLeases is one beat.
func (h *Host) renewLeases() {
	h.beat.mu.Lock()
	h.beat.armed = false
	h.beat.mu.Unlock()
	held := append(h.jobs.leases(), h.waitingLeases()...)
	for len(held) > 0 && h.running.Err() == nil {
		n := min(len(held), beatBatch)
		batch := &group{sched: h.seam.sched}
		for _, l := range held[:n] {
			batch.Go(func() { h.renewOne(l) })
		}
		h.seam.wait(batch.Idle())
		held = held[n:]
	}
	if h.jobs.count() > 0 { // while something waits, something runs
		h.keepAlive()
	}
}

// holding is a lease and the exchange it is about.
type holding struct {
	lease
	key store.Key
}

func (h *Host) renewOne(l holding) {
	err := h.store.Renew(h.running, l.InboxKey, l.fence, h.seam.now().Add(h.cfg.Terms.Lease))
	switch {
	case err == nil || h.running.Err() != nil:
	case errors.Is(err, store.ErrFenced):
		row, failed := h.store.Inbox(h.running, l.InboxKey)
		if failed == nil && row.Status == store.InProgress && h.jobs.fenced(l) {
			h.counts.add("lease.lost")
			h.report(h.running, LeaseLost, l.key, err)
		}
	case !errors.Is(err, store.ErrNotFound):
		h.report(h.running, StoreFailed, l.key, err)
	}
}

// waitingLeases are those of the work in line.
func (h *Host) waitingLeases() []holding {
	var list []holding
	for _, k := range h.dispatch.waiting() {
		x, err := h.store.Exchange(h.running, k)
		if err != nil {
			continue // it is renewed at the next beat, or is gone
		}
		id := store.InboxKey{Recipient: k.Owner, Sender: k.Peer, MessageID: x.State.Opening}
		if row, err := h.store.Inbox(h.running, id); err == nil && row.Status == store.InProgress {
			list = append(list, holding{lease{id, row.Attempt}, k})
		}
	}
	return list
}

// lease notes what a run is done under.
func (j *jobs) lease(r *run, of *job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r.lease = &lease{store.InboxKey{Recipient: of.key.Owner, Sender: of.key.Peer, MessageID: of.opening.ID()}, of.fence}
}

func (j *jobs) leases() []holding {
	j.mu.Lock()
	defer j.mu.Unlock()
	var list []holding
	for k, r := range j.running {
		if r.lease != nil {
			list = append(list, holding{*r.lease, k})
		}
	}
	slices.SortFunc(list, func(a, b holding) int { return strings.Compare(a.MessageID, b.MessageID) })
	return list
}

// fenced tells a run that somebody else does its work, and reports whether it
// still runs. It does not look again: whatever is owed is owed by the other.
func (j *jobs) fenced(l holding) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.running[l.key]
	if r == nil || r.lease == nil || *r.lease != l.lease {
		return false
	}
	r.cancel(errFenced)
	return true
}

func (j *jobs) count() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.running)
}
