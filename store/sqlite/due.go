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
	timers := agenda[store.Timer]{in, owners, &s.query.timers, []any{now}, scanTimer, func(t store.Timer) hour { return hour{t.Owner, t.At} }}
	if due.Timers, due.Next, err = timers.look(ctx, limit); err != nil {
		return due, fmt.Errorf("timers: %w", err)
	}
	// Each rank has its own order of time. What has aged there stands before
	// what has not, so the first of each are enough for the first of all.
	for rank := store.High; rank <= store.Low; rank++ {
		outbox := agenda[store.Outbox]{in, owners, &s.query.outgoing, []any{int(rank), now}, scanOutbox,
			func(o store.Outbox) hour { return hour{o.Owner, o.NextAt} }}
		more, next, err := outbox.look(ctx, limit)
		if err != nil {
			return due, fmt.Errorf("outbox: %w", err)
		}
		due.Outbox, due.Next = append(due.Outbox, more...), sooner(due.Next, next)
	}
	at := time.UnixMilli(now)
	slices.SortStableFunc(due.Outbox, func(a, b store.Outbox) int { return a.Compare(b, at) })
	due.Outbox = due.Outbox[:min(len(due.Outbox), limit)]
	return due, nil
}

// agenda is what some owners have before them in one table.
type agenda[T any] struct {
	in     inTx
	owners map[string]bool
	query  *agendaQueries
	at     []any // what each query begins to ask with: the rank if there are ranks, and the time
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

// look lists at most limit rows that are due, earliest first, and says when
// the next one will be.
func (a agenda[T]) look(ctx context.Context, limit int) (due []T, next time.Time, err error) {
	if due, err = a.due(ctx, limit); err != nil {
		return nil, next, err
	}
	if next, err = a.next(ctx); err != nil {
		return nil, next, fmt.Errorf("what comes next: %w", err)
	}
	return due, next, nil
}

func (a agenda[T]) due(ctx context.Context, limit int) ([]T, error) {
	if limit == 0 {
		return nil, nil
	}
	mine := func(v T) bool { return a.owners[a.hour(v).owner] }
	found, all, err := first(ctx, a.in(a.query.due), a.scan, mine, limit, a.at...)
	if all || err != nil {
		return found, err
	}
	return a.dueByOwner(ctx, limit)
}

// dueByOwner asks the owners one after another, whoever has the earliest row
// first, until nobody that is left can have one of the first.
func (a agenda[T]) dueByOwner(ctx context.Context, limit int) ([]T, error) {
	heads, err := a.hours(ctx, a.query.heads)
	if err != nil {
		return nil, err
	}
	var found []T
	for _, head := range heads {
		if len(found) == limit && !a.hour(found[limit-1]).at.After(head.at) {
			break
		}
		more, err := list(ctx, a.in(a.query.dueOf), a.scan, slices.Concat(a.at, []any{head.owner, limit})...)
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
func (a agenda[T]) next(ctx context.Context) (time.Time, error) {
	mine := func(h hour) bool { return a.owners[h.owner] }
	hours, all, err := first(ctx, a.in(a.query.next), scanHour, mine, 1, a.at...)
	if err == nil && !all {
		hours, err = a.hours(ctx, a.query.laters)
	}
	if err != nil || len(hours) == 0 {
		return time.Time{}, err
	}
	return hours[0].at, nil
}

// hours asks for the first hour of each owner, and returns the earliest first.
func (a agenda[T]) hours(ctx context.Context, stmt *sql.Stmt) ([]hour, error) {
	owners, err := json.Marshal(slices.Sorted(maps.Keys(a.owners)))
	if err != nil {
		return nil, err
	}
	hours, err := list(ctx, a.in(stmt), scanHour, slices.Concat(a.at, []any{string(owners)})...)
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
