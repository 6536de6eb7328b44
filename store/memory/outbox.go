package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/parley-agents/parley/store"
)

func (t *tables) post(o store.Outbox) error {
	l := letter{o.Owner, o.MessageID}
	if _, found := t.outbox[l]; found {
		return fmt.Errorf("post message %s of %s: %w", o.MessageID, o.Owner, store.ErrDuplicate)
	}
	o.Status, o.NextAt, o.ExpiresAt = store.Pending, clock(o.NextAt), clock(o.ExpiresAt)
	put(t, t.lines, o.Key(), append(t.lines[o.Key()], l))
	t.putOutgoing(l, outgoing{o, t.next()})
	return nil
}

func (t *tables) deliver(d store.Delivery) error {
	l := letter{d.Owner, d.MessageID}
	o, found := t.outbox[l]
	if !found {
		return fmt.Errorf("record the delivery of message %s of %s: %w", d.MessageID, d.Owner, store.ErrNotFound)
	}
	if o.Status == store.Pending {
		o.Status, o.Attempt, o.NextAt, o.LastError = d.Status, d.Attempt, clock(d.NextAt), d.LastError
		t.putOutgoing(l, o)
	}
	return nil
}

// putOutgoing writes a row and keeps the set of pending ones.
func (t *tables) putOutgoing(l letter, o outgoing) {
	put(t, t.outbox, l, o)
	if o.Status == store.Pending {
		put(t, t.pending, l, true)
	} else {
		drop(t, t.pending, l)
	}
}

// Due implements store.Store. It looks at every running timer and every
// pending row of all owners, and at nothing that is over.
func (s *Store) Due(ctx context.Context, owners []string, now time.Time, limit int) (store.Due, error) {
	var due store.Due
	err := s.locked(ctx, func(t *tables) error {
		due = t.due(owners, now.UnixMilli(), max(limit, 0))
		return nil
	})
	return due, err
}

func (t *tables) due(owners []string, now int64, limit int) store.Due {
	var due store.Due
	// later reports whether something is still to come, and notes when.
	later := func(at time.Time) bool {
		if at.UnixMilli() <= now {
			return false
		}
		if due.Next.IsZero() || at.Before(due.Next) {
			due.Next = at
		}
		return true
	}
	for k, timers := range t.timers {
		for name, at := range timers {
			if slices.Contains(owners, k.Owner) && !later(at) {
				due.Timers = append(due.Timers, store.Timer{Key: k, Name: name, At: at})
			}
		}
	}
	for _, o := range t.mayLeave(owners) {
		if !later(o.NextAt) {
			due.Outbox = append(due.Outbox, o.Outbox)
		}
	}
	slices.SortFunc(due.Timers, func(a, b store.Timer) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Conversation, b.Conversation),
			cmp.Compare(a.Peer, b.Peer), cmp.Compare(a.Name, b.Name))
	})
	slices.SortStableFunc(due.Outbox, func(a, b store.Outbox) int {
		return cmp.Or(a.NextAt.Compare(b.NextAt), cmp.Compare(a.Owner, b.Owner))
	})
	due.Timers = due.Timers[:min(len(due.Timers), limit)]
	due.Outbox = due.Outbox[:min(len(due.Outbox), limit)]
	return due
}

// mayLeave lists the pending rows that overtake or stand first in their line,
// in the order of commits.
func (t *tables) mayLeave(owners []string) []outgoing {
	var (
		free  []outgoing
		first = map[store.Key]outgoing{}
	)
	for l := range t.pending {
		o := t.outbox[l]
		if !slices.Contains(owners, o.Owner) {
			continue
		}
		if o.Overtakes {
			free = append(free, o)
		} else if head, found := first[o.Key()]; !found || o.place < head.place {
			first[o.Key()] = o
		}
	}
	for _, o := range first {
		free = append(free, o)
	}
	slices.SortFunc(free, func(a, b outgoing) int { return cmp.Compare(a.place, b.place) })
	return free
}
