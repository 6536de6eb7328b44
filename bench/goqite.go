package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver of both sides
	"maragu.dev/goqite"

	"github.com/parley-agents/parley/internal/measure"
)

// goqiteSchema is the schema_sqlite.sql of goqite v0.4.0, which the module
// does not embed.
//
//go:embed goqite.sql
var goqiteSchema string

var versusGoqite = measure.Benchmark{
	Name:  "store-vs-goqite",
	About: "messages a second, two durable operations for each, against goqite v0.4.0: send, receive, delete",
	Measure: func(ctx context.Context, r *measure.Run) ([]measure.Gate, error) {
		found, err := r.Turns(ctx, r.Parley, func(ctx context.Context) (float64, error) { return queueRate(ctx, r) })
		if err != nil {
			return nil, err
		}
		r.Printf("parley  %.0f messages/s", found[0])
		r.Printf("goqite  %.0f messages/s", found[1])
		return []measure.Gate{measure.Ratio("store-vs-goqite", found[0], found[1], 4)}, nil
	},
}

// queueRate is the rate of messages through a fresh queue.
func queueRate(ctx context.Context, r *measure.Run) (perSecond float64, err error) {
	folder, err := r.Folder()
	if err != nil {
		return 0, err
	}
	db, err := openQueue(ctx, filepath.Join(folder, "goqite.db"))
	if err != nil {
		return 0, fmt.Errorf("open goqite: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	// A message is out of sight for as long as anybody may work on it.
	q := goqite.New(goqite.NewOpts{DB: db, Name: "bench", Timeout: time.Hour})
	body := r.Content()
	return r.Rate(ctx, func(ctx context.Context, _ int64) error {
		if err := q.Send(ctx, goqite.Message{Body: body}); err != nil {
			return fmt.Errorf("goqite: send: %w", err)
		}
		m, err := q.Receive(ctx)
		if err != nil {
			return fmt.Errorf("goqite: receive: %w", err)
		}
		// Whoever sent one may take one, so there is one.
		if m == nil {
			return errors.New("goqite: receive: the queue is empty")
		}
		if err := q.Delete(ctx, m.ID); err != nil {
			return fmt.Errorf("goqite: delete: %w", err)
		}
		return nil
	})
}

// openQueue sets goqite up as its README advises, one connection and
// write-ahead logging, and as durable as our store: the driver's own default
// would lose what was acknowledged when the power fails.
func openQueue(ctx context.Context, path string) (*sql.DB, error) {
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(path),
		RawQuery: "_journal=WAL&_synchronous=FULL&_timeout=5000&_fk=true"}
	db, err := sql.Open("sqlite3", dsn.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	var mode, synchronous string
	_, err = db.ExecContext(ctx, goqiteSchema)
	if err == nil {
		err = db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode)
	}
	if err == nil {
		err = db.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&synchronous)
	}
	if err == nil && (mode != "wal" || synchronous != "2") {
		err = fmt.Errorf("journal mode %q and synchronous %q, expected wal and 2 (FULL)", mode, synchronous)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}
