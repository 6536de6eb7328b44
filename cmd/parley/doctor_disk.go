package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parley-agents/parley/store/sqlite"
)

const (
	// roomy is how much room a file system should have.
	roomy = 100 << 20
	// longWAL is how long a write-ahead log should not get. A host empties it
	// as it goes.
	longWAL = 64 << 20
)

// examineFilesystem looks where the store is, or would be.
func (p process) examineFilesystem(db string) finding {
	f := finding{"store.filesystem", statusOK, "the file system is a local one and has room", ""}
	where, err := p.filesystem(filepath.Dir(db))
	switch {
	case err != nil:
		f.Status, f.Text, f.Hint = statusWarn, err.Error(), "name a folder that is there"
	case where.remote:
		f.Status, f.Text = statusFail, "the file system is "+where.kind+": a store shares memory between processes, which it does not have"
		f.Hint = "use a local disk"
	case where.free < roomy:
		f.Status, f.Text, f.Hint = statusWarn, fmt.Sprintf("the file system has %d MiB left", where.free>>20), "make room: without it nothing can be committed"
	case where.kind != "":
		f.Status, f.Text, f.Hint = statusWarn, "the file system is "+where.kind+" and can be a remote one", "use a local disk, or be sure that it is one"
	}
	return f
}

// examineWAL looks how long the write-ahead log is.
func examineWAL(db string) finding {
	f := finding{"store.wal", statusOK, "the write-ahead log is short", ""}
	real, err := filepath.EvalSymlinks(db)
	if err != nil {
		real = db
	}
	info, err := os.Stat(real + "-wal")
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		f.Status, f.Text, f.Hint = statusWarn, err.Error(), "make it readable for this user"
	case info.Size() > longWAL:
		f.Status, f.Text = statusWarn, fmt.Sprintf("the write-ahead log has %d MiB", info.Size()>>20)
		f.Hint = "a reader that does not end keeps it: end it, or stop the host and use store compact"
	}
	return f
}

// integrity reads the whole store.
func integrity(ctx context.Context, db string) finding {
	f := finding{"store.integrity", statusOK, "", ""}
	report, err := sqlite.Check(ctx, db)
	switch {
	case err != nil:
		f.Status, f.Text, f.Hint = statusFail, err.Error(), "name a store that this program can read"
	case len(report.Findings) > 0:
		f.Status, f.Text = statusFail, (&sqlite.DamagedError{Path: db, Report: report}).Error()
		f.Hint = "look with store check; restore the last sound backup"
	default:
		f.Text = count(report.Entries, "entry", "entries") + " in " + count(report.Logs, "log", "logs") + " hold together"
	}
	return f
}
