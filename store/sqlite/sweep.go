package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/parley-agents/parley/store"
)

// How much a sweep does in one transaction, so that nobody waits long for the
// writer.
const (
	sweepRows  = 256
	sweepTalks = 16
)

// sweeper is where the search for conversations goes on: behind the exchange
// with this end and id. Those that are kept for long would otherwise stand
// before all others in every sweep.
type sweeper struct{ ended, id int64 }

// Sweep implements store.Store. It deletes a few hundred rows or a few
// conversations in a transaction. Conversations are sought in the order in which
// their exchanges ended, from where the last call left off; a call looks at no
// more than four times limit exchanges, and begins anew at the next call when it
// has come to the end. The space that becomes free is used again, and what is
// beyond 4 MiB of it given back to the file system, unless the file was made
// before there was a way to: see Compact. One sweep runs at a time.
func (s *Store) Sweep(ctx context.Context, now, before time.Time, limit int) (swept store.Swept, err error) {
	if s.writer == nil {
		return swept, store.ErrReadOnly
	}
	var at sweeper
	select {
	case at = <-s.sweeps:
		defer func() { s.sweeps <- at }()
	case <-ctx.Done():
		return swept, ctx.Err()
	case <-s.closing:
		return swept, store.ErrClosed
	}
	parts := []struct {
		what string
		n    *int
		step func(context.Context, *writer, int) (int, error)
	}{
		{"the inbox", &swept.Inbox, func(ctx context.Context, w *writer, n int) (int, error) {
			return deleted(ctx, w.stmt.sweep.inbox, now.UnixMilli(), n)
		}},
		{"effects", &swept.Effects, func(ctx context.Context, w *writer, n int) (int, error) {
			return deleted(ctx, w.stmt.sweep.effects, now.UnixMilli(), n)
		}},
		{"commands", &swept.Commands, func(ctx context.Context, w *writer, n int) (int, error) {
			return deleted(ctx, w.stmt.sweep.commands, before.UnixMilli(), n)
		}},
		{"dead letters", &swept.DeadLetters, func(ctx context.Context, w *writer, n int) (int, error) {
			return w.sweepLetters(ctx, before.UnixMilli(), n)
		}},
	}
	if before.IsZero() {
		parts = parts[:2]
	}
	for _, p := range parts {
		more, err := s.sweepPart(ctx, p.step, p.n, limit)
		swept.More = swept.More || more
		if err != nil {
			return swept, fmt.Errorf("sweep %s: %w", p.what, err)
		}
	}
	if !before.IsZero() {
		more, err := s.sweepTalks(ctx, &at, before.UnixMilli(), &swept.Conversations, limit)
		swept.More = swept.More || more
		if err != nil {
			return swept, fmt.Errorf("sweep conversations: %w", err)
		}
	}
	if err := s.giveBack(ctx); err != nil {
		return swept, fmt.Errorf("give free space back: %w", err)
	}
	return swept, nil
}

// sweepPart deletes in steps until nothing is left or there were limit rows.
func (s *Store) sweepPart(ctx context.Context, step func(context.Context, *writer, int) (int, error), total *int, limit int) (more bool, err error) {
	for *total < limit {
		want, n := min(sweepRows, limit-*total), 0
		err := s.write(ctx, func(ctx context.Context, w *writer) (err error) {
			n, err = step(ctx, w, want)
			return err
		})
		if err != nil {
			return false, err
		}
		if *total += n; n < want {
			return false, nil
		}
	}
	return true, nil
}

// deleted runs a statement and counts the rows that it deleted.
func deleted(ctx context.Context, stmt *sql.Stmt, args ...any) (int, error) {
	result, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// sweptLetter is a dead letter that goes, with its blob if it has one.
type sweptLetter struct {
	id   int64
	blob []byte
}

func (w *writer) sweepLetters(ctx context.Context, before int64, limit int) (int, error) {
	old, err := list(ctx, w.stmt.sweep.letters, func(r row) (l sweptLetter, err error) {
		err = r.Scan(&l.id, &l.blob)
		return l, err
	}, before, limit)
	if err != nil {
		return 0, err
	}
	for _, l := range old {
		if _, err := w.stmt.sweep.letter.ExecContext(ctx, l.id); err != nil {
			return 0, err
		}
		if err := w.dropBlobs(ctx, l.blob); err != nil {
			return 0, err
		}
	}
	return len(old), nil
}

// dropBlobs deletes the blobs that nobody refers to any more. Nil names none.
func (w *writer) dropBlobs(ctx context.Context, names ...[]byte) error {
	for _, name := range names {
		if name == nil {
			continue
		}
		if _, err := w.stmt.dropBlob.ExecContext(ctx, name); err != nil {
			return fmt.Errorf("delete the body of an envelope: %w", err)
		}
	}
	return nil
}

// ending is an exchange that has ended.
type ending struct {
	sweeper
	owner, conversation string
}

// sweepTalks forgets conversations. Whether one may go is asked by a reader, so
// that the writer is not kept busy with those that may not, and asked again in
// the transaction in which it goes.
func (s *Store) sweepTalks(ctx context.Context, at *sweeper, before int64, total *int, limit int) (more bool, err error) {
	var (
		going []ending
		last  ending
		next  = *at
		left  = min(max(limit, 0), math.MaxInt/4) * 4
		over  = false
	)
	for !over && left > 0 && *total+len(going) < limit {
		want := min(sweepRows, left)
		found, err := many(ctx, s, "the exchanges that have ended", s.query.ended, scanEnding, next.ended, next.id, before, want)
		if err != nil {
			return false, err
		}
		over = len(found) < want
		for _, e := range found {
			if *total+len(going) == limit {
				over = false
				break
			}
			left, next = left-1, e.sweeper
			if e.owner == last.owner && e.conversation == last.conversation {
				continue
			}
			last = e
			free, err := s.forgettable(ctx, e, before)
			if err != nil {
				return false, err
			}
			if free {
				going = append(going, e)
			}
			if len(going) == sweepTalks {
				if err := s.forget(ctx, going, before, total); err != nil {
					return false, err
				}
				going = nil
			}
		}
	}
	if err := s.forget(ctx, going, before, total); err != nil {
		return false, err
	}
	if *at = next; over {
		*at = sweeper{}
	}
	return !over, nil
}

func scanEnding(r row) (e ending, err error) {
	err = r.Scan(&e.ended, &e.id, &e.owner, &e.conversation)
	return e, err
}

func (s *Store) forgettable(ctx context.Context, e ending, before int64) (bool, error) {
	_, err := one(ctx, s, "whether a conversation may go", s.query.forgettable, scanCount, e.owner, e.conversation, before)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// forget deletes conversations in one transaction and counts them.
func (s *Store) forget(ctx context.Context, going []ending, before int64, total *int) error {
	if len(going) == 0 {
		return nil
	}
	n := 0
	err := s.write(ctx, func(ctx context.Context, w *writer) error {
		n = 0
		for _, e := range going {
			free, err := exists(ctx, w.stmt.sweep.forgettable, e.owner, e.conversation, before)
			if err == nil && free {
				err = w.forget(ctx, e.owner, e.conversation)
				n++
			}
			if err != nil {
				return fmt.Errorf("forget conversation %s of %s: %w", e.conversation, e.owner, err)
			}
		}
		return nil
	})
	if err == nil {
		*total += n
	}
	return err
}

func (w *writer) forget(ctx context.Context, owner, conversation string) error {
	blobs, err := list(ctx, w.stmt.sweep.blobs, func(r row) (name []byte, err error) {
		err = r.Scan(&name)
		return name, err
	}, owner, conversation)
	if err != nil {
		return err
	}
	tasks, err := list(ctx, w.stmt.sweep.tasks, scanText, owner, conversation)
	if err != nil {
		return err
	}
	w.heads.forget() // a log that begins anew begins at 1
	for _, stmt := range []*sql.Stmt{w.stmt.sweep.turns, w.stmt.sweep.outbox, w.stmt.sweep.received, w.stmt.sweep.log, w.stmt.sweep.exchanges} {
		if _, err := stmt.ExecContext(ctx, owner, conversation); err != nil {
			return err
		}
	}
	for _, task := range tasks {
		if _, err := w.stmt.sweep.callbacks.ExecContext(ctx, owner, task); err != nil {
			return fmt.Errorf("delete the callbacks of task %s: %w", task, err)
		}
	}
	return w.dropBlobs(ctx, blobs...)
}
