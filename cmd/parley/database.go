package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/parley-agents/parley/store/sqlite"
)

// inspect opens a store for reading, also while a host runs. That there is no
// such file is an error of its own.
func inspect(ctx context.Context, path string) (*sqlite.Store, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("inspect store: %w", err)
	}
	return sqlite.Inspect(ctx, path)
}

// openSQLite opens a SQLite file with the driver that the store uses. Its name
// depends on how the program was built; no other driver is linked in.
func openSQLite(source string) (*sql.DB, error) {
	var driver string
	for _, name := range sql.Drivers() {
		driver = name
	}
	return sql.Open(driver, source)
}

// fileSettings are what a SQLite file says about itself.
type fileSettings struct {
	journal string // the journal mode
	version int    // of the schema
}

// readSettings reads them without writing anything and while a host runs.
func readSettings(ctx context.Context, path string) (s fileSettings, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return s, err
	}
	source := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: "mode=ro"}
	db, err := openSQLite(source.String())
	if err != nil {
		return s, err
	}
	defer db.Close()
	if err = db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&s.journal); err == nil {
		err = db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&s.version)
	}
	return s, err
}

// probe makes a store in the folder, as a host would, and removes it. It fails
// where the folder cannot be written, the file system has no locks or no
// shared memory, or commits would not be durable: opening a store checks that
// it has a write-ahead log and synchronous=FULL.
func probe(ctx context.Context, folder string) (err error) {
	inner, err := os.MkdirTemp(folder, ".parley-doctor-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(inner)) }()
	s, err := sqlite.Open(ctx, filepath.Join(inner, "probe.db"))
	if err != nil {
		return fmt.Errorf("make a store in %s: %w", folder, err)
	}
	return s.Close()
}
