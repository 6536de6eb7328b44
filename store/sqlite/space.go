package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
)

// How space is given back, in pages of 4 KiB.
const (
	keptFree   = 1024 // stay free, for what comes next
	givenBack  = 256  // in one transaction
	maxGivings = 16   // in one sweep
)

// giveBack cuts what is free beyond keptFree off the file, a little at a time.
// Only a file that was made with auto_vacuum can do that.
func (s *Store) giveBack(ctx context.Context) error {
	for range maxGivings {
		var mode, free int
		err := s.read(ctx, func() error {
			err := s.pool.QueryRowContext(context.WithoutCancel(ctx), "PRAGMA auto_vacuum").Scan(&mode)
			if err == nil {
				err = s.pool.QueryRowContext(context.WithoutCancel(ctx), "PRAGMA freelist_count").Scan(&free)
			}
			return err
		})
		if err != nil || mode != incremental || free <= keptFree {
			return err
		}
		err = s.write(ctx, func(ctx context.Context, w *writer) error { return w.vacuum(ctx, min(givenBack, free-keptFree)) })
		if err != nil {
			return err
		}
	}
	return nil
}

// incremental is the mode of auto_vacuum in which a file gives back free pages
// when it is told to.
const incremental = 2

// Compact rewrites the store in the file at path without its free space, while
// no host runs: it takes the lock that a host would hold, and returns an error
// that wraps store.ErrInUse if one holds it. From then on the file gives free
// space back by itself when it is swept, also if it was made before there was a
// way to. It returns by how many bytes the file became smaller.
//
// It needs room for a second copy of the store while it works. If it fails, or
// ctx ends first, the store is as it was.
func Compact(ctx context.Context, path string) (freed int64, err error) {
	path, err = resolve(path)
	if err != nil {
		return 0, fmt.Errorf("compact store: %w", err)
	}
	if _, err := os.Stat(path); err != nil {
		return 0, fmt.Errorf("compact store: %w", err)
	}
	held, err := lock(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	err = onFile(ctx, path, url.Values{"mode": {"rw"}, "_synchronous": {"FULL"}}, func(db *sql.DB) error {
		if err := present(ctx, db); err != nil {
			return err
		}
		before, err := size(ctx, db)
		if err != nil {
			return err
		}
		if err := prepareSpace(ctx, db); err != nil {
			return err
		}
		if _, err := db.ExecContext(ctx, "VACUUM"); err != nil {
			return err
		}
		after, err := size(ctx, db)
		freed = before - after
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("compact store %s: %w", path, err)
	}
	return freed, nil
}

func size(ctx context.Context, db *sql.DB) (bytes int64, err error) {
	err = db.QueryRowContext(ctx, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").Scan(&bytes)
	return bytes, err
}

// prepareSpace makes a new file one that can give space back. A file with
// tables in it keeps its mode.
func prepareSpace(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, fmt.Sprint("PRAGMA auto_vacuum = ", incremental)); err != nil {
		return fmt.Errorf("prepare to give free space back: %w", err)
	}
	return nil
}

// vacuum gives some free pages back. SQLite frees one a row that is read.
func (w *writer) vacuum(ctx context.Context, pages int) error {
	rows, err := w.conn.QueryContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", pages))
	if err != nil {
		return err
	}
	for rows.Next() {
	}
	if err := rows.Err(); err != nil {
		rows.Close()
		return err
	}
	return rows.Close()
}
