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
	// clean says that the job in hand has written nothing so far. A job that
	// never says so counts as one that has.
	clean bool
	heads heads
	// recent is what was written last, changes what the open transaction changes
	// of it.
	recent  recent
	changes changes
	// log is the file of the write-ahead log. At waitAt bytes the writer waits
	// a moment for those who read it.
	log    string
	waitAt int64
	tally
}

// job is what somebody waits for, all or nothing.
type job struct {
	// do may run several times; what it wrote before was then undone.
	do   func(ctx context.Context, w *writer) error
	size int // about how many bytes it writes
	done chan error
}

func newJob(size int, do func(ctx context.Context, w *writer) error) job {
	return job{do: do, size: size, done: make(chan error, 1)}
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
	w := &writer{db: db, conn: conn, log: path + "-wal", jobs: make(chan job), ended: make(chan struct{})}
	if err := w.setUp(ctx); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *writer) setUp(ctx context.Context) error {
	for _, pragma := range []string{
		fmt.Sprint("wal_autocheckpoint = ", foldPages),
		// A log that starts anew is cut back to this.
		fmt.Sprint("journal_size_limit = ", 2*foldBytes),
		// 8 MiB of pages, more than a batch changes: what does not fit is
		// written to the log twice. Many commits look at the place of each.
		"cache_size = -8192",
		// What savepoints keep to undo a set is not worth a file.
		"temp_store = MEMORY",
	} {
		if _, err := w.conn.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return fmt.Errorf("set %s: %w", pragma, err)
		}
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
	if err := prepareDirect(ctx, w.conn, w.stmt.directTexts()); err != nil {
		return err
	}
	return prepareAll(ctx, w.conn, w.stmt.texts())
}

// close closes the statements first: database/sql leaves those of a single
// connection open, and with them SQLite keeps the connection itself, so that
// the write-ahead log would never be folded into the file.
func (w *writer) close() error {
	return errors.Join(closeDirect(w.stmt.directTexts()), closeAll(w.stmt.texts()), w.conn.Close(), w.db.Close())
}

// run serves what waits, batch after batch, until closing is closed.
func (w *writer) run(ctx context.Context, closing <-chan struct{}) {
	defer close(w.ended)
	for {
		select {
		case <-closing:
			return
		case j := <-w.jobs:
			w.serve(ctx, w.gather(j))
			w.fold(ctx)
		}
	}
}

// write has the writer run do in a transaction, perhaps several times; what it
// wrote before was then undone. Do may change any table.
func (s *Store) write(ctx context.Context, do func(context.Context, *writer) error) error {
	return s.hand(ctx, newJob(0, func(ctx context.Context, w *writer) error {
		w.heads.forget()
		w.changes.all = true
		return do(ctx, w)
	}))
}

// hand hands a job to the writer and waits for its answer. A caller whose ctx
// ends before the writer takes the job up gets ctx's error.
func (s *Store) hand(ctx context.Context, j job) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.writer == nil {
		return store.ErrReadOnly
	}
	select {
	case s.writer.jobs <- j:
		err := <-j.done
		if err == nil {
			s.writer.sets.Add(1)
		}
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closing:
		return store.ErrClosed
	}
}

// Commit implements store.Store.
func (s *Store) Commit(ctx context.Context, set store.WriteSet) error {
	p, err := prepare(set)
	if err != nil {
		return err
	}
	return s.hand(ctx, commitJob(p))
}

func commitJob(set *prepared) job {
	return newJob(set.size, func(ctx context.Context, w *writer) error { return w.apply(ctx, set) })
}

// TakeOver implements store.Store.
func (s *Store) TakeOver(ctx context.Context, owner string) ([]store.Inbox, error) {
	var taken []store.Inbox
	err := s.write(ctx, func(ctx context.Context, w *writer) (err error) {
		if _, err = w.stmt.takeOver.ExecContext(ctx, store.Steady.Milliseconds(), owner); err != nil {
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
	return s.hand(ctx, newJob(0, func(ctx context.Context, w *writer) error {
		w.clean = true // a lease is written last if at all
		return w.lease(ctx, store.Lease{InboxKey: k, Fence: fence, Until: until})
	}))
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
