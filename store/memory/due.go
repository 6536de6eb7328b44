package memory

import (
	"cmp"
	"context"
	"slices"
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
	later := time.UnixMilli(now + 1)
	// Each rank has its own order of time. What has aged there stands before
	// what has not, so the first of each are enough for the first of all.
	for rank := store.High; rank <= store.Low; rank++ {
		found := 0
		for d := range t.leaving.from(departure{rank: rank}) {
			if d.rank != rank || d.at.UnixMilli() > now || found == limit {
				break
			}
			if owners[d.owner] {
				found++
				due.Outbox = append(due.Outbox, t.outbox[d.letter].Outbox)
			}
		}
		for d := range t.leaving.from(departure{rank: rank, at: later}) {
			if d.rank != rank {
				break
			}
			if owners[d.owner] {
				due.Next = sooner(due.Next, d.at)
				break
			}
		}
	}
	at := time.UnixMilli(now)
	slices.SortStableFunc(due.Outbox, func(a, b store.Outbox) int { return a.Compare(b, at) })
	due.Outbox = due.Outbox[:min(len(due.Outbox), limit)]
	for timer := range t.running.from(store.Timer{At: later}) {
		if owners[timer.Owner] {
			due.Next = sooner(due.Next, timer.At)
			break
		}
	}
	return due
}

// sooner is the earlier of two times, where zero means never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// byTime orders timers, and those of one time by what they are of.
func byTime(a, b store.Timer) int {
	return cmp.Or(a.At.Compare(b.At), byKey(a.Key, b.Key), cmp.Compare(a.Name, b.Name))
}

func byKey(a, b store.Key) int {
	return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Conversation, b.Conversation), cmp.Compare(a.Peer, b.Peer))
}
