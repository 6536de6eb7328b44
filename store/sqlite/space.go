package sqlite

import (
	"context"
	"database/sql"
	"fmt"
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
