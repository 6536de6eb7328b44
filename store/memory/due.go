package memory

import (
	"cmp"
	"context"
	"time"

	"github.com/parley-agents/parley/store"
)

// Due implements store.Store. It looks at what is due in the order of time,
// whoever owns it: what it costs grows with limit, and with what is due of
// owners that were not asked for.
func (s *Store) Due(ctx context.Context, owners []string, now time.Time, limit int) (store.Due, error) {
	var due store.Due
	asked := s.owners.Of(owners)
	err := s.locked(ctx, func(t *tables) error {
		due = t.due(asked, now.UnixMilli(), max(limit, 0))
		return nil
	})
	return due, err
}

func (t *tables) due(owners map[string]bool, now int64, limit int) (due store.Due) {
	for timer := range t.running.from(store.Timer{}) {
		if timer.At.UnixMilli() > now || len(due.Timers) == limit {
			break
		}
		if owners[timer.Owner] {
			due.Timers = append(due.Timers, timer)
		}
	}
	for d := range t.leaving.from(departure{}) {
		if d.at.UnixMilli() > now || len(due.Outbox) == limit {
			break
		}
		if owners[d.owner] {
			due.Outbox = append(due.Outbox, t.outbox[d.letter].Outbox)
		}
	}
	later := time.UnixMilli(now + 1)
	for timer := range t.running.from(store.Timer{At: later}) {
		if owners[timer.Owner] {
			due.Next = timer.At
			break
		}
	}
	for d := range t.leaving.from(departure{at: later}) {
		if owners[d.owner] {
			if due.Next.IsZero() || d.at.Before(due.Next) {
				due.Next = d.at
			}
			break
		}
	}
	return due
}

// byTime orders timers, and those of one time by what they are of.
func byTime(a, b store.Timer) int {
	return cmp.Or(a.At.Compare(b.At), byKey(a.Key, b.Key), cmp.Compare(a.Name, b.Name))
}

func byKey(a, b store.Key) int {
	return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Conversation, b.Conversation), cmp.Compare(a.Peer, b.Peer))
}
