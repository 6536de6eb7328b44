package agent

import (
	"context"
	"errors"
	"fmt"
	"math"
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

// heartbeat renews the leases of all that runs and gives those of what waits in
// line back, in one goroutine that lives for the moment of a beat. While nothing
// runs, it does not beat.
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
	list := h.jobs.leases()
	for len(list) > 0 && h.running.Err() == nil {
		n := min(len(list), beatBatch)
		batch := &group{sched: h.seam.sched}
		for _, l := range list[:n] {
			batch.Go(func() { h.renewOne(l) })
		}
		h.seam.wait(batch.Idle())
		list = list[n:]
	}
	h.giveBack(h.running, h.waitingLeases())
	if h.jobs.count() > 0 { // while something waits, something runs
		h.keepAlive()
	}
}

// leased is a lease and the exchange it is about.
type leased struct {
	lease
	key store.Key
}

func (h *Host) renewOne(l leased) {
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

// giveBack gives leases back, all in one commit. If one of them is no longer this
// host's, because its work has ended meanwhile, they are left for another time.
func (h *Host) giveBack(ctx context.Context, list []leased) {
	if len(list) == 0 {
		return
	}
	var set store.WriteSet
	for _, l := range list {
		set.Leases = append(set.Leases, store.Lease{InboxKey: l.InboxKey, Fence: l.fence})
	}
	err := h.store.Commit(ctx, set)
	if err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrFenced) && !errors.Is(err, store.ErrNotFound) {
		h.report(ctx, StoreFailed, list[0].key, err)
	}
}

// giveUpLeases gives all leases back when the host has ended in order, so that
// what it had in hand is not taken for what ended it. If that fails, the work
// counts as if the host had died.
func (h *Host) giveUpLeases(ctx context.Context) {
	var list []leased
	for _, owner := range h.owners {
		rows, err := h.store.Inboxes(ctx, owner, true, math.MaxInt)
		if err != nil {
			h.report(ctx, StoreFailed, store.Key{Owner: owner}, err)
			return
		}
		for _, row := range rows {
			if !row.LeaseUntil.IsZero() {
				list = append(list, leased{lease{row.InboxKey, row.Attempt}, store.Key{Owner: owner, Conversation: row.Conversation, Peer: row.Sender}})
			}
		}
	}
	h.giveBack(ctx, list)
}

// takeLease takes the lease on the work before its handler runs, unless the step that
// called for the work took it.
func (j *job) takeLease(ctx context.Context) error {
	if j.leased || j.poisoned() {
		return nil
	}
	k := j.inbox()
	if err := j.host.store.Renew(ctx, k, j.fence, j.host.seam.now().Add(j.host.cfg.Terms.Lease)); err != nil {
		return fmt.Errorf("taking the lease of message %s: %w", k.MessageID, err)
	}
	j.leased = true
	return nil
}

// inbox names the row of the message that asked for the work.
func (j *job) inbox() store.InboxKey {
	return store.InboxKey{Recipient: j.key.Owner, Sender: j.key.Peer, MessageID: j.opening.ID()}
}

// holds reports whether the work is still the job's, under its fencing token.
func (s *step) holds(ctx context.Context, j *job) (bool, error) {
	row, err := s.inbox(ctx, j.inbox())
	return row.Attempt == j.fence, err
}

// takeLease takes the lease on the work that this step calls for. What the step
// itself accepts has one.
func (s *step) takeLease(ctx context.Context, opening string) error {
	k := store.InboxKey{Recipient: s.x.Owner, Sender: s.x.Peer, MessageID: opening}
	if slices.ContainsFunc(s.set.Accept, func(i store.Inbox) bool { return i.InboxKey == k }) {
		return nil
	}
	row, err := s.inbox(ctx, k)
	if err != nil {
		return err
	}
	if row.Status == store.InProgress && row.LeaseUntil.IsZero() {
		s.set.Leases = append(s.set.Leases, store.Lease{InboxKey: k, Fence: row.Attempt, Until: s.now.Add(s.host.cfg.Terms.Lease)})
	}
	return nil
}

// waitingLeases are those that work in line holds from its acceptance.
func (h *Host) waitingLeases() []leased {
	var list []leased
	for _, k := range h.dispatch.waiting() {
		h.jobs.letGo(k) // whoever does the work must see that it has no lease any more
		x, err := h.store.Exchange(h.running, k)
		if err != nil {
			continue // it is given back at the next beat, or is gone
		}
		id := store.InboxKey{Recipient: k.Owner, Sender: k.Peer, MessageID: x.State.Opening}
		if row, err := h.store.Inbox(h.running, id); err == nil && row.Status == store.InProgress && !row.LeaseUntil.IsZero() {
			list = append(list, leased{lease{id, row.Attempt}, k})
		}
	}
	return list
}

// lease notes what a run is done under.
func (j *jobs) lease(r *run, of *job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r.lease = lease{of.inbox(), of.fence}
}

func (j *jobs) leases() []leased {
	j.mu.Lock()
	defer j.mu.Unlock()
	var list []leased
	for k, r := range j.running {
		if r.lease != (lease{}) {
			list = append(list, leased{r.lease, k})
		}
	}
	slices.SortFunc(list, func(a, b leased) int { return strings.Compare(a.MessageID, b.MessageID) })
	return list
}

// fenced tells a run that somebody else does its work, and reports whether it
// still runs. It does not look again: whatever is owed is owed by the other.
func (j *jobs) fenced(l leased) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.running[l.key]
	if r == nil || r.lease != l.lease {
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
