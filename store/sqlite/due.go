package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/parley-agents/parley/store"
)

// strangers is how many rows of owners that were not asked for a look at
// everybody's rows passes over.
const strangers = 128

// Due implements store.Store. All its queries see one snapshot, so that
// nothing can fall between the lists and Next.
//
// What is due stands in the order of time, whoever owns it, so that a host
// with a thousand agents asks as little as a host with one. Rows of agents that
// no longer run stand there too and stay due for ever: where too many of them
// come first, each owner is looked up instead.
func (s *Store) Due(ctx context.Context, owners []string, now time.Time, limit int) (store.Due, error) {
	var due store.Due
	asked := s.owners.Of(owners)
	err := s.snapshot(ctx, func(in inTx) (err error) {
		due, err = s.dueIn(ctx, in, asked, now.UnixMilli(), max(limit, 0))
		return err
	})
	if err != nil {
		return store.Due{}, fmt.Errorf("list what is due: %w", err)
	}
	return due, nil
}

func (s *Store) dueIn(ctx context.Context, in inTx, owners map[string]bool, now int64, limit int) (due store.Due, err error) {
	timers := agenda[store.Timer]{in, owners, &s.query.timers, scanTimer, func(t store.Timer) hour { return hour{t.Owner, t.At} }}
	outbox := agenda[store.Outbox]{in, owners, &s.query.outgoing, scanOutbox, func(o store.Outbox) hour { return hour{o.Owner, o.NextAt} }}
	if due.Timers, err = timers.due(ctx, limit, now); err != nil {
		return due, fmt.Errorf("timers: %w", err)
	}
	if due.Outbox, err = s.leaving(ctx, outbox, now, limit); err != nil {
		return due, fmt.Errorf("outbox: %w", err)
	}
	timer, err := timers.next(ctx, now)
	if err != nil {
		return due, fmt.Errorf("next timer: %w", err)
	}
	message, err := outbox.next(ctx, now)
	if err != nil {
		return due, fmt.Errorf("next of the outbox: %w", err)
	}
	due.Next = sooner(timer, message)
	return due, nil
}

// leaving lists the rows of the outbox that are due. Each rank has its own
// order of time. What has aged there stands before what has not, so the first
// of each rank are enough for the first of all.
func (s *Store) leaving(ctx context.Context, outbox agenda[store.Outbox], now int64, limit int) ([]store.Outbox, error) {
	// Mostly all are of one rank.
	var waits [store.Low + 1]bool
	if err := outbox.in(s.query.ranks).QueryRowContext(context.WithoutCancel(ctx), now).Scan(&waits[store.High], &waits[store.Normal], &waits[store.Low]); err != nil {
		return nil, err
	}
	var found []store.Outbox
	for rank := store.High; rank <= store.Low; rank++ {
		if !waits[rank] {
			continue
		}
		more, err := outbox.due(ctx, limit, now, int(rank))
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	at := time.UnixMilli(now)
	slices.SortStableFunc(found, func(a, b store.Outbox) int { return a.Compare(b, at) })
	return found[:min(len(found), limit)], nil
}

// agenda is what some owners have before them in one table.
type agenda[T any] struct {
	in     inTx
	owners map[string]bool
	query  *agendaQueries
	scan   func(row) (T, error)
	hour   func(T) hour
}

// agendaQueries are how an agenda is read: for everybody, in the order of
// time, and for single owners.
type agendaQueries struct {
	due, next     *sql.Stmt // what is due at a time, and the hours after it
	heads, laters *sql.Stmt // the first of each owner that is due, and the first after
	dueOf         *sql.Stmt // what is due of one owner
}

// hour is when something is to be done for an owner.
type hour struct {
	owner string
	at    time.Time
}

// due lists at most limit rows that are due, earliest first: at what time, and
// of which rank if there are ranks.
func (a agenda[T]) due(ctx context.Context, limit int, at ...any) ([]T, error) {
	if limit == 0 {
		return nil, nil
	}
	mine := func(v T) bool { return a.owners[a.hour(v).owner] }
	found, all, err := first(ctx, a.in(a.query.due), a.scan, mine, limit, at...)
	if all || err != nil {
		return found, err
	}
	return a.dueByOwner(ctx, limit, at)
}

// dueByOwner asks the owners one after another, whoever has the earliest row
// first, until nobody that is left can have one of the first.
func (a agenda[T]) dueByOwner(ctx context.Context, limit int, at []any) ([]T, error) {
	heads, err := a.hours(ctx, a.query.heads, at...)
	if err != nil {
		return nil, err
	}
	var found []T
	for _, head := range heads {
		if len(found) == limit && !a.hour(found[limit-1]).at.After(head.at) {
			break
		}
		more, err := list(ctx, a.in(a.query.dueOf), a.scan, slices.Concat(at, []any{head.owner, limit})...)
		if err != nil {
			return nil, fmt.Errorf("of %s: %w", head.owner, err)
		}
		found = append(found, more...)
		slices.SortStableFunc(found, func(x, y T) int { return a.hour(x).at.Compare(a.hour(y).at) })
		found = found[:min(len(found), limit)]
	}
	return found, nil
}

// next is the earliest time after now, zero if there is none.
func (a agenda[T]) next(ctx context.Context, now int64) (time.Time, error) {
	mine := func(h hour) bool { return a.owners[h.owner] }
	hours, all, err := first(ctx, a.in(a.query.next), scanHour, mine, 1, now)
	if err == nil && !all {
		hours, err = a.hours(ctx, a.query.laters, now)
	}
	if err != nil || len(hours) == 0 {
		return time.Time{}, err
	}
	return hours[0].at, nil
}

// hours asks for the first hour of each owner, and returns the earliest first.
func (a agenda[T]) hours(ctx context.Context, stmt *sql.Stmt, at ...any) ([]hour, error) {
	owners, err := json.Marshal(slices.Sorted(maps.Keys(a.owners)))
	if err != nil {
		return nil, err
	}
	hours, err := list(ctx, a.in(stmt), scanHour, slices.Concat(at, []any{string(owners)})...)
	hours = slices.DeleteFunc(hours, func(h hour) bool { return h.at.IsZero() })
	slices.SortStableFunc(hours, func(a, b hour) int { return a.at.Compare(b.at) })
	return hours, err
}

// first lists the first rows that are mine, at most limit. It gives up, and says
// that there may be more, when too many others come before them.
func first[T any](ctx context.Context, stmt *sql.Stmt, scan func(row) (T, error), mine func(T) bool, limit int, args ...any) (found []T, all bool, err error) {
	passed := 0
	err = visit(ctx, stmt, scan, func(v T) bool {
		if mine(v) {
			found = append(found, v)
		} else {
			passed++
		}
		return len(found) < limit && passed <= strangers
	}, args...)
	return found, passed <= strangers, err
}

func scanHour(r row) (h hour, err error) {
	err = r.Scan(&h.owner, (*moment)(&h.at))
	return h, err
}

// sooner is the earlier of two times, where zero means never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
