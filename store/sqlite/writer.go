package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/parley-agents/parley/store"
)

// writer owns the one connection that may write. Only its goroutine uses the
// connection once run has started.
type writer struct {
	db   *sql.DB
	conn *sql.Conn
	stmt statements
	// jobs is unbuffered: a job that was sent is in hand, and a job that was
	// not sent is not written.
	jobs  chan job
	ended chan struct{}
}

// job is one transaction that somebody waits for.
type job struct {
	do   func(ctx context.Context, w *writer) error
	done chan error
}

// openWriter opens the writing connection, makes it durable and brings the
// file to the present schema.
func openWriter(ctx context.Context, path string) (*writer, error) {
	db, err := sql.Open(driver, dsn(path, url.Values{
		"mode": {"rwc"}, "_synchronous": {"FULL"}, "_txlock": {"immediate"}, "_busy_timeout": {busyTimeout},
	}))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := prepareSpace(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := migrate(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	w := &writer{db: db, conn: conn, jobs: make(chan job), ended: make(chan struct{})}
	if err := w.setUp(ctx); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *writer) setUp(ctx context.Context) error {
	// The log is cut back to 64 MiB after a checkpoint that follows a burst.
	if _, err := w.conn.ExecContext(ctx, "PRAGMA journal_size_limit = 67108864"); err != nil {
		return fmt.Errorf("bound the write-ahead log: %w", err)
	}
	var mode string
	if err := w.conn.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return fmt.Errorf("switch to write-ahead logging: %w", err)
	}
	if mode != "wal" {
		return fmt.Errorf("switch to write-ahead logging: the file stays in journal mode %q", mode)
	}
	// A driver's own default may be NORMAL, under which a loss of power loses
	// acknowledged commits.
	var synchronous int
	if err := w.conn.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&synchronous); err != nil {
		return fmt.Errorf("read the synchronous setting: %w", err)
	}
	if synchronous != 2 {
		return fmt.Errorf("synchronous is %d, expected 2 (FULL)", synchronous)
	}
	return prepareAll(ctx, w.conn, w.stmt.texts())
}

// close closes the statements first: database/sql leaves those of a single
// connection open, and with them SQLite keeps the connection itself, so that
// the write-ahead log would never be folded into the file.
func (w *writer) close() error {
	err := closeAll(w.stmt.texts())
	return errors.Join(err, w.conn.Close(), w.db.Close())
}

// run commits jobs one after another until closing is closed.
func (w *writer) run(ctx context.Context, closing <-chan struct{}) {
	defer close(w.ended)
	for {
		select {
		case <-closing:
			return
		case j := <-w.jobs:
			j.done <- w.transact(ctx, j.do)
		}
	}
}

// transact runs one job in a transaction. If it returns an error nothing was
// written, and the connection is ready for the next job.
func (w *writer) transact(ctx context.Context, do func(context.Context, *writer) error) error {
	if _, err := w.stmt.begin.ExecContext(ctx); err != nil {
		return fmt.Errorf("begin a transaction: %w", err)
	}
	err := do(ctx, w)
	if err == nil {
		if _, err = w.stmt.commit.ExecContext(ctx); err == nil {
			return nil
		}
		err = fmt.Errorf("commit the transaction: %w", err)
	}
	// A full disk may have made SQLite roll back already; only then does this
	// fail, and to no harm.
	_, _ = w.stmt.rollback.ExecContext(ctx)
	return err
}

// write hands a job to the writer and waits for its answer. A caller whose
// ctx ends before the writer takes the job up gets ctx's error.
func (s *Store) write(ctx context.Context, do func(context.Context, *writer) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.writer == nil {
		return store.ErrReadOnly
	}
	j := job{do: do, done: make(chan error, 1)}
	select {
	case s.writer.jobs <- j:
		return <-j.done
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closing:
		return store.ErrClosed
	}
}

// Commit implements store.Store.
func (s *Store) Commit(ctx context.Context, set store.WriteSet) error {
	return s.write(ctx, func(ctx context.Context, w *writer) error { return w.apply(ctx, set) })
}

// TakeOver implements store.Store.
func (s *Store) TakeOver(ctx context.Context, owner string, until time.Time) ([]store.Inbox, error) {
	var taken []store.Inbox
	err := s.write(ctx, func(ctx context.Context, w *writer) (err error) {
		if _, err = w.stmt.takeOver.ExecContext(ctx, millis(until), owner); err != nil {
			return fmt.Errorf("take over the inbox of %s: %w", owner, err)
		}
		taken, err = list(ctx, w.stmt.inProgress, scanInbox, owner)
		if err != nil {
			return fmt.Errorf("list the inbox of %s: %w", owner, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return taken, nil
}

// Renew implements store.Store.
func (s *Store) Renew(ctx context.Context, k store.InboxKey, fence int64, until time.Time) error {
	return s.write(ctx, func(ctx context.Context, w *writer) error {
		err := w.leased(ctx, w.stmt.renew, k, millis(until), k.Recipient, k.Sender, k.MessageID, fence)
		if err != nil {
			return fmt.Errorf("renew the lease on message %s of %s under fence %d: %w", k.MessageID, k.Sender, fence, err)
		}
		return nil
	})
}

// Meta implements store.Store.
func (s *Store) Meta(ctx context.Context, candidate store.Meta) (store.Meta, error) {
	var kept store.Meta
	err := s.write(ctx, func(ctx context.Context, w *writer) error {
		if _, err := w.stmt.keepMeta.ExecContext(ctx, candidate.Generation, candidate.Secret); err != nil {
			return fmt.Errorf("keep the store's secret: %w", err)
		}
		if err := w.stmt.meta.QueryRowContext(ctx).Scan(&kept.Generation, &kept.Secret); err != nil {
			return fmt.Errorf("read the store's secret: %w", err)
		}
		return nil
	})
	return kept, err
}

// Identity implements store.Store.
func (s *Store) Identity(ctx context.Context, candidate store.Identity) (store.Identity, error) {
	kept := store.Identity{Owner: candidate.Owner}
	err := s.write(ctx, func(ctx context.Context, w *writer) error {
		if _, err := w.stmt.keepIdentity.ExecContext(ctx, candidate.Owner, candidate.Seed); err != nil {
			return fmt.Errorf("keep the identity of %s: %w", candidate.Owner, err)
		}
		if err := w.stmt.identity.QueryRowContext(ctx, candidate.Owner).Scan(&kept.Seed); err != nil {
			return fmt.Errorf("read the identity of %s: %w", candidate.Owner, err)
		}
		return nil
	})
	return kept, err
}
