package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"time"

	"github.com/parley-agents/parley/store"
)

// DamagedError: a store does not hold together.
type DamagedError struct {
	Path   string
	Report Report
}

func (e *DamagedError) Error() string {
	first := e.Report.Findings[0]
	return fmt.Sprintf("the store %s is damaged in %d places: %s: %s", e.Path, len(e.Report.Findings), first.Where, first.What)
}

// Restore makes the store in the file to from the backup in the file from, and
// returns what belongs to it as a whole, its new generation above all. The
// backup may be of an older schema and is not changed. It is checked whole
// first, as Check does, and refused with a *DamagedError if it does not hold
// together. The file to must not exist, nor what a host left beside it; Restore
// holds its lock and returns an error that wraps fs.ErrExist or store.ErrInUse.
// It returns when the store is durable. If it fails, or ctx ends first, there
// is no file at to.
//
// A restored store is another body of its agents. Its generation is now in
// milliseconds, or one more than the backup's if that is later, and every
// message that they write from then on says so. A peer with an exchange from
// before refuses such a message in it, because what the old body said after the
// backup was made is not known here; such exchanges end by their deadlines on
// both sides. New conversations are not concerned. Keys of effects that had
// ended when the backup was made still stand for what was done; what was done
// after it the store does not know. So a backup is restored only when the store
// is lost, and never beside it.
func Restore(ctx context.Context, from, to string, now time.Time) (store.Meta, error) {
	meta, err := restore(ctx, from, to, now)
	if err != nil {
		return store.Meta{}, fmt.Errorf("restore store %s from %s: %w", to, from, err)
	}
	return meta, nil
}

func restore(ctx context.Context, from, to string, now time.Time) (meta store.Meta, err error) {
	to, err = resolve(to)
	if err != nil {
		return meta, err
	}
	if err := vacant(to); err != nil {
		return meta, err
	}
	held, err := lock(to)
	if err != nil {
		return meta, err
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	if err := vacant(to); err != nil {
		return meta, err
	}
	// A copy is made anew, so it would not show that the backup's own pages and
	// indexes are damaged.
	if err := intact(ctx, from); err != nil {
		return meta, err
	}
	partial := to + ".restoring"
	// Whoever holds the lock may remove what an earlier attempt left.
	if err := os.Remove(partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return meta, err
	}
	if err := copyInto(ctx, from, partial); err != nil {
		return meta, err
	}
	if meta, err = renew(ctx, partial, now); err == nil {
		err = holds(ctx, partial, from)
	}
	if err == nil {
		err = publish(partial, to)
	}
	if err != nil {
		return store.Meta{}, errors.Join(err, os.Remove(partial))
	}
	return meta, nil
}

// vacant returns an error if a store is there, or a part of one: SQLite would
// take an old write-ahead log for the new file's.
func vacant(path string) error {
	for _, name := range []string{path, path + "-wal", path + "-journal"} {
		switch _, err := os.Lstat(name); {
		case err == nil:
			return fmt.Errorf("%s: %w", name, fs.ErrExist)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	return nil
}

// renew brings a copy to the present schema and gives it a generation of its
// own. A store that no host ever opened has none yet.
func renew(ctx context.Context, path string, now time.Time) (meta store.Meta, err error) {
	err = onFile(ctx, path, url.Values{"mode": {"rw"}, "_synchronous": {"FULL"}}, func(db *sql.DB) error {
		if err := migrate(ctx, db); err != nil {
			return err
		}
		err := db.QueryRowContext(ctx, "UPDATE meta SET generation = max(?, generation + 1) RETURNING generation, secret", now.UnixMilli()).
			Scan(&meta.Generation, &meta.Secret)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return meta, err
}

// intact checks the file as SQLite sees it, whatever its schema.
func intact(ctx context.Context, path string) error {
	var report Report
	err := onFile(ctx, path, url.Values{"mode": {"ro"}}, func(db *sql.DB) error {
		if err := known(ctx, db); err != nil {
			return err
		}
		return checkPages(ctx, db, &report)
	})
	return damaged(path, report, err)
}

// holds checks what a copy of a backup holds.
func holds(ctx context.Context, path, backup string) error {
	report, err := Check(ctx, path)
	return damaged(backup, report, err)
}

func damaged(path string, report Report, err error) error {
	if corrupt(err) {
		report.add(CodePages, "the file", err.Error())
		err = nil
	}
	if err == nil && len(report.Findings) > 0 {
		return &DamagedError{path, report}
	}
	return err
}
