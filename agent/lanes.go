package agent

import (
	"context"
	"sync"
	"time"

	"github.com/parley-agents/parley/store"
)

// outgoing is the state of the loop that sends and fires.
type outgoing struct {
	wake chan struct{}
	// settled has a token when something that was in hand no longer is.
	settled chan struct{}

	mu sync.Mutex
	// busy are the names of what is in hand, sending how many of them are sends,
	// and to how many of those go to each receiver.
	busy    map[string]bool
	begun   int // how often something was taken in hand
	sending int
	to      map[string]int
	// resting: the loop has seen all there was. again is when it must look once
	// more, zero if never: an alarm wakes it then. While it looks, again is when
	// something is due that it might not have seen.
	resting bool
	again   time.Time
	alarm   func(at time.Time) (stop func())
	stop    func() // the alarm that is set, nil if none is
}

func newOutgoing(alarm func(at time.Time) (stop func())) *outgoing {
	return &outgoing{wake: make(chan struct{}, 1), settled: make(chan struct{}, 1), busy: map[string]bool{}, to: map[string]int{}, alarm: alarm}
}

// look notes that the loop looks, so that it may not see what is committed from
// now on, or has ended.
func (o *outgoing) look() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.resting, o.again = false, time.Time{}
	if o.stop != nil {
		o.stop()
		o.stop = nil
	}
}

// rest notes that the loop has looked, and when it must look again.
func (o *outgoing) rest(again time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.resting, o.again = true, sooner(o.again, again)
	o.set()
}

// lookBy has the loop look when something is due, if it would not look before.
func (o *outgoing) lookBy(due time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.again.IsZero() || due.Before(o.again) {
		o.again = due
		o.set()
	}
}

// set sets the alarm of a loop that rests.
func (o *outgoing) set() {
	if !o.resting || o.again.IsZero() {
		return
	}
	if o.stop != nil {
		o.stop()
	}
	o.stop = o.alarm(o.again)
}

// take notes that the named thing is in hand, unless it is.
func (o *outgoing) take(name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.busy[name] {
		return false
	}
	o.busy[name] = true
	o.begun++
	return true
}

// drop notes that the named thing is no longer in hand.
func (o *outgoing) drop(name string) {
	o.mu.Lock()
	delete(o.busy, name)
	o.mu.Unlock()
	select {
	case o.settled <- struct{}{}:
	default:
	}
}

// join takes one of the sends to the receiver, if one is left.
func (o *outgoing) join(receiver string, all, each int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sending >= all || o.to[receiver] >= each {
		return false
	}
	o.sending++
	o.to[receiver]++
	return true
}

func (o *outgoing) part(receiver string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sending--
	if o.to[receiver]--; o.to[receiver] == 0 {
		delete(o.to, receiver)
	}
}

func (o *outgoing) holds(name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.busy[name]
}

// inHand reports whether anything is in hand, and how often anything was.
func (o *outgoing) inHand() (busy bool, begun int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.busy) > 0, o.begun
}

func messageName(row store.Outbox) string { return "message " + row.Owner + row.MessageID }

// post hands out the messages that may leave and that their receivers have room
// for. It reports how many were or are in hand, and when to look again although
// nothing else happens, zero if never.
func (h *Host) post(ctx context.Context, rows []store.Outbox, now time.Time) (handed int, next time.Time) {
	for _, row := range rows {
		if h.out.holds(messageName(row)) {
			handed++
			continue
		}
		ok, again := h.postOne(ctx, row, now)
		if ok {
			handed++
			continue
		}
		next = sooner(next, sooner(again, row.ExpiresAt.Add(time.Millisecond)))
	}
	return handed, next
}

// postOne sends a message in a goroutine of its own, unless its receiver has no
// room or is left alone. What has expired is not sent, so nothing keeps it.
func (h *Host) postOne(ctx context.Context, row store.Outbox, now time.Time) (ok bool, again time.Time) {
	if now.After(row.ExpiresAt) {
		h.claim(messageName(row), func() bool { return h.send(ctx, row) })
		return true, time.Time{}
	}
	if !h.out.join(row.Receiver, max(h.cfg.Sends, 1), max(h.cfg.SendsPerPeer, 1)) {
		return false, time.Time{}
	}
	ok, probe, until := h.broken.admit(row.Receiver, now)
	if !ok {
		h.out.part(row.Receiver)
		return false, until
	}
	h.claim(messageName(row), func() bool {
		defer func() {
			h.out.part(row.Receiver)
			if probe {
				h.broken.unproven(row.Receiver)
			}
		}()
		return h.send(ctx, row)
	})
	return true, time.Time{}
}

// unsent reports whether a message could be sent now, or is being sent.
//
// A message that is taken in hand is no longer due, so what is in hand is looked
// at before and after what is due: one that was taken, and perhaps sent, in
// between may have let another one up.
func (h *Host) unsent(ctx context.Context) (sendable bool) {
	busy, before := h.out.inHand()
	if busy {
		return true
	}
	defer func() {
		if busy, after := h.out.inHand(); busy || after != before {
			sendable = true
		}
	}()
	due, err := h.store.Due(ctx, h.owners, h.seam.now(), dueBatch)
	if err != nil {
		return false
	}
	for _, row := range due.Outbox {
		if !h.broken.leaves(row.Receiver) {
			return true
		}
	}
	return false
}

// sooner is the earlier of two times, where zero means never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
