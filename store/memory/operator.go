package memory

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/parley-agents/parley/store"
)

// buried is a dead letter and its place in the order of commits.
type buried struct {
	store.DeadLetter
	place int64
}

func (t *tables) bury(d store.DeadLetter) {
	d.At, d.Envelope = clock(d.At), bytes.Clone(d.Envelope)
	put(t, t.letters, d.DeadKey, buried{d, t.next()})
}

func readLetter(d buried) store.DeadLetter {
	d.Envelope = bytes.Clone(d.Envelope)
	return d.DeadLetter
}

// DeadLetters implements store.Store. It looks at all of them.
func (s *Store) DeadLetters(ctx context.Context, owner string, limit int) ([]store.DeadLetter, error) {
	return newest(ctx, s, limit, func(t *tables) []store.DeadLetter {
		return listed(t.letters, func(d buried) bool { return owner == "" || d.Owner == owner },
			func(a, b buried) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.place, a.place)) }, readLetter)
	})
}

// DeadLetter implements store.Store.
func (s *Store) DeadLetter(ctx context.Context, k store.DeadKey) (found store.DeadLetter, err error) {
	err = s.locked(ctx, func(t *tables) error {
		d, err := find(t.letters, k, fmt.Sprintf("the dead letter %s of %s from the %s", k.MessageID, k.Owner, k.Source))
		found = readLetter(d)
		return err
	})
	return found, err
}

// Inboxes implements store.Store. It looks at all rows.
func (s *Store) Inboxes(ctx context.Context, owner string, open bool, limit int) ([]store.Inbox, error) {
	return newest(ctx, s, limit, func(t *tables) []store.Inbox {
		return listed(t.inbox,
			func(i store.Inbox) bool {
				return (owner == "" || i.Recipient == owner) && (!open || i.Status == store.InProgress)
			},
			func(a, b store.Inbox) int { return b.AcceptedAt.Compare(a.AcceptedAt) }, func(i store.Inbox) store.Inbox { return i })
	})
}

// Outboxes implements store.Store. It looks at all rows.
func (s *Store) Outboxes(ctx context.Context, owner string, limit int, statuses ...store.OutboxStatus) ([]store.Outbox, error) {
	return newest(ctx, s, limit, func(t *tables) []store.Outbox {
		return listed(t.outbox,
			func(o outgoing) bool {
				return (owner == "" || o.Owner == owner) && (len(statuses) == 0 || slices.Contains(statuses, o.Status))
			},
			func(a, b outgoing) int { return cmp.Compare(b.place, a.place) }, func(o outgoing) store.Outbox { return o.Outbox })
	})
}

// newest are the first of a list, at most limit.
func newest[T any](ctx context.Context, s *Store, limit int, all func(*tables) []T) (found []T, err error) {
	err = s.locked(ctx, func(t *tables) error {
		found = all(t)
		found = found[:min(len(found), max(limit, 0))]
		return nil
	})
	return found, err
}

// listed reads the values of a table that are wanted, in order.
func listed[K comparable, V, T any](table map[K]V, wanted func(V) bool, order func(a, b V) int, read func(V) T) []T {
	var found []T
	for _, v := range slices.SortedFunc(maps.Values(table), order) {
		if wanted(v) {
			found = append(found, read(v))
		}
	}
	return found
}

// request is a command that waits.
type request struct {
	at time.Time
	id string
}

func byAsking(a, b request) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id)) }

// Post implements store.Store.
func (s *Store) Post(ctx context.Context, c store.Command) error {
	return s.locked(ctx, func(t *tables) error {
		err := c.Check()
		if _, found := t.commands[c.ID]; found && err == nil {
			err = store.ErrDuplicate
		}
		if err != nil {
			return fmt.Errorf("post command %s: %w", c.ID, err)
		}
		c.At = clock(c.At)
		t.commands[c.ID] = c
		t.asked.add(request{c.At, c.ID})
		return nil
	})
}

func (t *tables) answer(a store.CommandAnswer) error {
	c, found := t.commands[a.ID]
	var err error
	switch {
	case !found:
		err = store.ErrNotFound
	case !c.DoneAt.IsZero():
		err = store.ErrDuplicate
	}
	if err != nil {
		return fmt.Errorf("answer command %s: %w", a.ID, err)
	}
	c.DoneAt, c.Answer, c.Error = clock(a.At), a.Answer, a.Error
	put(t, t.commands, c.ID, c)
	remove(t, t.asked, request{c.At, c.ID})
	return nil
}

// Commands implements store.Store.
func (s *Store) Commands(ctx context.Context, owners []string, limit int) (found []store.Command, err error) {
	asked := s.owners.Of(owners)
	err = s.locked(ctx, func(t *tables) error {
		for r := range t.asked.from(request{}) {
			if len(found) >= limit {
				break
			}
			if c := t.commands[r.id]; asked[c.Owner] {
				found = append(found, c)
			}
		}
		return nil
	})
	return found, err
}

// Command implements store.Store.
func (s *Store) Command(ctx context.Context, id string) (found store.Command, err error) {
	err = s.locked(ctx, func(t *tables) error {
		found, err = find(t.commands, id, "command "+id)
		return err
	})
	return found, err
}
