// Package sqlite keeps a Parley store in one SQLite file. It is the default
// engine, for all agents of one machine's host.
//
// A store has one writer: a goroutine with the only connection that may
// write. It commits whatever write sets wait together in one transaction with
// synchronous=FULL, so that what Commit has acknowledged survives a loss of
// power and many callers share what that costs; a lone caller waits for
// nobody. Each set is answered as if it had been alone. Readers have a small
// pool of read-only connections and never wait for the writer, nor it for
// them. An operating-system lock beside the file keeps a second host out; it
// needs a system with flock: Linux, macOS or a BSD.
//
// The write-ahead log, the file with the suffix -wal, is kept below 64 MiB, and
// a single set's size beyond that if it is larger. A read that holds on to an
// old state of the store, such as a backup by another process, lets it grow for
// as long; with the next commit after that it shrinks again.
//
// SQLite comes through cgo, or as Go code where a program is built without
// cgo or with the build tag purego. Both read each other's files.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"github.com/parley-agents/parley/store"
)

// readers is how many reads run at once; more wait their turn.
const readers = 4

// busyTimeout is how long a connection waits for SQLite's own locks, in
// milliseconds. Only a checkpoint or a backup ever makes it wait.
const busyTimeout = "5000"

// Store is a store.Store in one SQLite file. Make it with Open or Inspect. All
// methods may be called at once by several goroutines.
type Store struct {
	lock   *os.File // nil if it is only inspected
	writer *writer  // nil if it is only inspected
	pool   *sql.DB
	query  queries
	owners store.OwnerSet
	// slots bounds the reads under way to the size of the pool, so that a
	// read waits here, where its context can end the wait.
	slots   chan struct{}
	sweeps  chan sweeper // holds the one sweeper while it rests
	closing chan struct{}
	once    sync.Once
	ended   error // what the first Close returned
}

var _ store.Store = (*Store)(nil)

// Open opens the store in the file at path and creates the file if there is
// none; its folder must exist. It returns an error that wraps store.ErrInUse
// when another host has the file open, in this or another process, and
// refuses a file that a newer version of Parley or another program wrote. A
// file of an older version is brought up to date first. On Linux a file on a
// network file system is refused with a *NetworkError.
//
// Ctx bounds the opening only. The caller must Close the store.
func Open(ctx context.Context, path string) (*Store, error) {
	return openOn(ctx, path, fileSystem)
}

// openOn opens a store where kind tells the file system of a folder.
func openOn(ctx context.Context, path string, kind func(folder string) (name string, network bool)) (*Store, error) {
	path, err := resolve(path)
	if err == nil {
		err = local(path, kind)
	}
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	held, err := lock(path)
	if err != nil {
		return nil, err
	}
	if err := create(path); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), held.Close())
	}
	w, err := openWriter(ctx, path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open store %s: %w", path, named(err)), held.Close())
	}
	s := newStore()
	s.lock, s.writer = held, w
	if err := s.openReaders(ctx, path); err != nil {
		return nil, errors.Join(fmt.Errorf("open store %s for reading: %w", path, err), s.release())
	}
	go w.run(context.WithoutCancel(ctx), s.closing)
	return s, nil
}

// create makes an empty file that only its owner may read, since it will hold
// the keys of agents. SQLite gives its companions the same mode.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func newStore() *Store {
	s := &Store{slots: make(chan struct{}, readers), closing: make(chan struct{}), sweeps: make(chan sweeper, 1)}
	s.sweeps <- sweeper{}
	return s
}

// Close ends the store after the write set in hand and the reads under way,
// and gives up the lock. Write sets still waiting, and every later call, get
// store.ErrClosed. Closing twice is harmless and returns the same answer.
func (s *Store) Close() error {
	s.once.Do(func() {
		close(s.closing)
		if s.writer != nil {
			<-s.writer.ended
			s.writer.recent.bar(&changes{all: true}) // for good
		}
		for range readers {
			s.slots <- struct{}{}
		}
		s.ended = s.release()
	})
	return s.ended
}

// release closes everything that is open. The writer's connection goes after
// the readers', because the last connection to go empties the write-ahead
// log into the file, which a reader may not do.
func (s *Store) release() error {
	var err error
	if s.pool != nil {
		err = s.pool.Close()
	}
	if s.writer != nil {
		err = errors.Join(err, s.writer.close(), s.lock.Close())
	}
	return err
}

func (s *Store) openReaders(ctx context.Context, path string) error {
	pool, err := sql.Open(driver, dsn(path, url.Values{
		"mode": {"ro"}, "_query_only": {"true"}, "_busy_timeout": {busyTimeout},
	}))
	if err != nil {
		return err
	}
	s.pool = pool
	pool.SetMaxOpenConns(readers)
	pool.SetMaxIdleConns(readers)
	if err := present(ctx, pool); err != nil {
		return err
	}
	return prepareAll(ctx, pool, s.query.texts())
}

// dsn names the file in the notation that both drivers read.
func dsn(path string, params url.Values) string {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: params.Encode()}
	return u.String()
}

// resolve follows symbolic links, so that two names of one file share a lock.
// It refuses what is there and is no file: SQLite would wait for ever for what
// comes out of a pipe.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		if info, err := os.Stat(real); err == nil && !info.Mode().IsRegular() {
			return "", fmt.Errorf("%s is not a file", real)
		}
		return real, nil
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	return filepath.Join(folder, filepath.Base(path)), nil
}
