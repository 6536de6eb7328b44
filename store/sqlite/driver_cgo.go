//go:build cgo && !purego

package sqlite

import (
	"errors"
	"slices"
	"syscall"

	"github.com/mattn/go-sqlite3" // SQLite itself, through cgo
)

// driver is the name under which database/sql knows the driver. Both drivers
// read the same data source names, and of their errors only a full disk and a
// damaged file are told apart: statements say ON CONFLICT and count rows instead.
const driver = "sqlite3"

// corrupt reports whether the driver says that the file was a database and is
// damaged.
func corrupt(err error) bool {
	e, ok := errors.AsType[sqlite3.Error](err)
	return ok && e.Code == sqlite3.ErrCorrupt
}

// full reports whether the driver says that there is no room for a write.
// SQLite says so itself where a write failed, but not where a sync did.
func full(err error) bool {
	e, ok := errors.AsType[sqlite3.Error](err)
	return ok && (e.Code == sqlite3.ErrFull || e.ExtendedCode == sqlite3.ErrIoErrSHMSize ||
		e.Code == sqlite3.ErrIoErr && slices.Contains([]syscall.Errno{syscall.ENOSPC, syscall.EDQUOT}, e.SystemErrno))
}
