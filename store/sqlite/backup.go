package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
)

// Backup writes a copy of the store in the file at path to the file to, which
// must not exist. It works beside a running host and never waits for it: the
// copy is the store as it was at one moment, compact, in one file that only its
// owner may read, since it holds the keys of agents. Backup returns when the
// copy is durable. If it fails, or ctx ends first, there is no file at to.
//
// Never copy the files of a store that a host has open: what is committed
// stands in two of them.
func Backup(ctx context.Context, path, to string) (err error) {
	to, err = filepath.Abs(to)
	if err != nil {
		return fmt.Errorf("back up store: %w", err)
	}
	// The name is taken first, so that nobody else's file is written over.
	if err := createNew(to); err != nil {
		return fmt.Errorf("back up store %s: %w", path, err)
	}
	partial := to + ".partial"
	if err := copyInto(ctx, path, partial); err != nil {
		return errors.Join(fmt.Errorf("back up store %s: %w", path, err), os.Remove(to))
	}
	if err := publish(partial, to); err != nil {
		return errors.Join(fmt.Errorf("back up store %s: %w", path, err), os.Remove(partial), os.Remove(to))
	}
	return nil
}

// copyInto writes the store at path to a new file, or leaves none.
func copyInto(ctx context.Context, path, to string) error {
	if err := createNew(to); err != nil {
		return err
	}
	err := onFile(ctx, path, url.Values{"mode": {"ro"}}, func(db *sql.DB) error {
		if err := known(ctx, db); err != nil {
			return err
		}
		// SQLite writes into a file that is there if it is empty.
		_, err := db.ExecContext(ctx, "VACUUM INTO ?", to)
		return err
	})
	if err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}

// createNew makes an empty file that only its owner may read.
func createNew(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// publish gives a file its name for good: what is in it and that it is called
// so are durable when it returns.
func publish(from, to string) error {
	if err := synced(from); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return synced(filepath.Dir(to))
}

// synced makes a file or a folder durable.
func synced(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
