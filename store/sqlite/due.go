package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/parley-agents/parley/store"
)

// Due implements store.Store. Each owner costs four look-ups in indexes, all
// in one snapshot, so that nothing can fall between the lists and Next.
func (s *Store) Due(ctx context.Context, owners []string, now time.Time, limit int) (store.Due, error) {
	var due store.Due
	err := s.snapshot(ctx, func(in inTx) (err error) {
		due, err = s.dueIn(ctx, in, owners, now, max(limit, 0))
		return err
	})
	if err != nil {
		return store.Due{}, fmt.Errorf("list what is due: %w", err)
	}
	return due, nil
}

func (s *Store) dueIn(ctx context.Context, in inTx, owners []string, now time.Time, limit int) (store.Due, error) {
	var (
		due store.Due
		at  = now.UnixMilli()
	)
	for _, owner := range slices.Compact(slices.Sorted(slices.Values(owners))) {
		timers, err := list(ctx, in(s.query.dueTimers), scanTimer, owner, at, limit)
		if err != nil {
			return due, fmt.Errorf("timers of %s: %w", owner, err)
		}
		outbox, err := list(ctx, in(s.query.dueOutbox), scanOutbox, owner, at, limit)
		if err != nil {
			return due, fmt.Errorf("outbox of %s: %w", owner, err)
		}
		due.Timers = append(due.Timers, timers...)
		due.Outbox = append(due.Outbox, outbox...)
		for _, stmt := range []*sql.Stmt{s.query.nextTimer, s.query.nextOutbox} {
			next, err := list(ctx, in(stmt), scanMoment, owner, at)
			if err != nil {
				return due, fmt.Errorf("next time of %s: %w", owner, err)
			}
			for _, t := range next {
				due.Next = sooner(due.Next, t)
			}
		}
	}
	due.Timers = earliest(due.Timers, limit, func(t store.Timer) time.Time { return t.At })
	due.Outbox = earliest(due.Outbox, limit, func(o store.Outbox) time.Time { return o.NextAt })
	return due, nil
}

func scanMoment(r row) (t time.Time, err error) {
	err = r.Scan((*moment)(&t))
	return t, err
}

// earliest keeps the first limit elements by time. Equal times keep their
// order: by owner, then as the owner's rows stood.
func earliest[T any](list []T, limit int, at func(T) time.Time) []T {
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(at(a).UnixMilli(), at(b).UnixMilli()) })
	return list[:min(len(list), limit)]
}

// sooner is the earlier of two times, where zero means never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
