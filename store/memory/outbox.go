package memory

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/parley-agents/parley/store"
)

// outgoing is an outbox row and its place in the order of commits.
type outgoing struct {
	store.Outbox
	place int64
}

// line is what a row waits in: the rows of an exchange leave one after
// another, and one that overtakes stands in a line of its own.
type line struct {
	store.Key
	alone int64 // the place of the row that overtakes, 0 for all others
}

func (o outgoing) line() line {
	l := line{Key: o.Key()}
	if o.Overtakes {
		l.alone = o.place
	}
	return l
}

// waiter is a pending row in its line.
type waiter struct {
	line
	place int64
	letter
}

func (o outgoing) waiter() waiter { return waiter{o.line(), o.place, letter{o.Owner, o.MessageID}} }

func inLine(a, b waiter) int {
	return cmp.Or(byKey(a.Key, b.Key), cmp.Compare(a.alone, b.alone), cmp.Compare(a.place, b.place))
}

// departure is when the first row of a line may leave.
type departure struct {
	rank  store.Rank
	at    time.Time
	place int64
	letter
}

func inTime(a, b departure) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), a.at.Compare(b.at), cmp.Compare(a.place, b.place))
}

func (t *tables) post(o store.Outbox) error {
	l := letter{o.Owner, o.MessageID}
	if _, found := t.outbox[l]; found {
		return fmt.Errorf("post message %s of %s: %w", o.MessageID, o.Owner, store.ErrDuplicate)
	}
	o.Status, o.NextAt, o.ExpiresAt = store.Pending, clock(o.NextAt), clock(o.ExpiresAt)
	o.Backoff = o.Backoff.Truncate(time.Millisecond)
	put(t, t.lines, o.Key(), append(t.lines[o.Key()], l))
	t.putOutgoing(outgoing{o, t.next()})
	return nil
}

func (t *tables) deliver(d store.Delivery) error {
	o, found := t.outbox[letter{d.Owner, d.MessageID}]
	if !found {
		return fmt.Errorf("record the delivery of message %s of %s: %w", d.MessageID, d.Owner, store.ErrNotFound)
	}
	if o.Status == store.Pending {
		o.Status, o.Attempt, o.NextAt, o.LastError = d.Status, d.Attempt, clock(d.NextAt), d.LastError
		t.putOutgoing(o)
	}
	return nil
}

func (t *tables) redrive(r store.Redrive) error {
	o, found := t.outbox[letter{r.Owner, r.MessageID}]
	var err error
	switch {
	case !found:
		err = store.ErrNotFound
	case o.Status != store.Pending:
		err = store.ErrNotPending
	}
	if err != nil {
		return fmt.Errorf("send message %s of %s at another time: %w", r.MessageID, r.Owner, err)
	}
	o.NextAt = clock(r.NextAt)
	if !r.ExpiresAt.IsZero() {
		o.ExpiresAt = clock(r.ExpiresAt)
	}
	t.putOutgoing(o)
	return nil
}

// dropUnsent looks at the pending rows of the exchange that do not overtake.
func (t *tables) dropUnsent(k store.Key) {
	var unsent []outgoing
	for w := range t.waiting.from(waiter{line: line{Key: k}}) {
		if w.line != (line{Key: k}) {
			break
		}
		if o := t.outbox[w.letter]; o.Attempt == 0 {
			unsent = append(unsent, o)
		}
	}
	for _, o := range unsent {
		o.Status = store.Dropped
		t.putOutgoing(o)
	}
}

// putOutgoing writes a row, and keeps which rows wait and which of them stands
// first in its line.
func (t *tables) putOutgoing(o outgoing) {
	w := o.waiter()
	if first, found := t.first(w.line); found {
		remove(t, t.leaving, first)
	}
	put(t, t.outbox, w.letter, o)
	if o.Status == store.Pending {
		add(t, t.waiting, w)
	} else {
		remove(t, t.waiting, w)
	}
	if first, found := t.first(w.line); found {
		add(t, t.leaving, first)
	}
}

// first is the departure of the row that stands first in the line.
func (t *tables) first(l line) (departure, bool) {
	for w := range t.waiting.from(waiter{line: l}) {
		o := t.outbox[w.letter]
		return departure{o.Rank(), o.NextAt, w.place, w.letter}, w.line == l
	}
	return departure{}, false
}

// Outbox implements store.Store.
func (s *Store) Outbox(ctx context.Context, k store.Key) (found []store.Outbox, err error) {
	err = s.locked(ctx, func(t *tables) error {
		for _, l := range t.lines[k] {
			found = append(found, t.outbox[l].Outbox)
		}
		return nil
	})
	return found, err
}

// OutboxRow implements store.Store.
func (s *Store) OutboxRow(ctx context.Context, owner, messageID string) (found store.Outbox, err error) {
	err = s.locked(ctx, func(t *tables) error {
		o, err := find(t.outbox, letter{owner, messageID}, fmt.Sprintf("message %s in the outbox of %s", messageID, owner))
		found = o.Outbox
		return err
	})
	return found, err
}
