package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	"github.com/parley-agents/parley/store"
)

// Post keeps a command for the host of the store in the file at path, from
// another process beside it: it takes no lock, and waits up to five seconds
// for a write set that the host has in hand. It returns when the command is
// durable. A host that runs finds it the next time it looks; if none runs, the
// next one does.
//
// It returns an error that wraps store.ErrDuplicate if the id is known, a
// *store.CommandError if no host could carry the command out, and refuses a
// file that is not there or has another schema than this program's. Once the
// write has begun, a caller whose ctx ends must not assume that nothing was
// written: Store.Command tells.
func Post(ctx context.Context, path string, c store.Command) error {
	if err := c.Check(); err != nil {
		return fmt.Errorf("post command %s: %w", c.ID, err)
	}
	err := beside(ctx, path, func(db *sql.DB) error {
		result, err := db.ExecContext(ctx, keepCommand, commandValues(c)...)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		if err == nil && n == 0 {
			err = store.ErrDuplicate
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("post command %s to store %s: %w", c.ID, path, err)
	}
	return nil
}

// beside runs do with one connection that writes durably to a file of the
// present schema, beside whoever else has it open.
func beside(ctx context.Context, path string, do func(*sql.DB) error) error {
	return onFile(ctx, path, url.Values{"mode": {"rw"}, "_synchronous": {"FULL"}, "_txlock": {"immediate"}}, func(db *sql.DB) error {
		if err := present(ctx, db); err != nil {
			return err
		}
		return do(db)
	})
}

// onFile runs do with one connection to a file, beside whoever else has it
// open. A full disk is store.ErrFull.
func onFile(ctx context.Context, path string, params url.Values, do func(*sql.DB) error) (err error) {
	path, err = resolve(path)
	if err != nil {
		return err
	}
	params.Set("_busy_timeout", busyTimeout)
	db, err := sql.Open(driver, dsn(path, params))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	if err := db.PingContext(ctx); err != nil {
		return named(err)
	}
	return named(do(db))
}
