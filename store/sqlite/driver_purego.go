//go:build !cgo || purego

package sqlite

import (
	"errors"

	"modernc.org/sqlite" // SQLite translated to Go
	sqlite3 "modernc.org/sqlite/lib"
)

// driver is the name under which database/sql knows the driver. Both drivers
// read the same data source names, and of their errors only a full disk and a
// damaged file are told apart: statements say ON CONFLICT and count rows instead.
const driver = "sqlite"

// corrupt reports whether the driver says that the file was a database and is
// damaged.
func corrupt(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code()&0xff == sqlite3.SQLITE_CORRUPT
}

// full reports whether the driver says that there is no room for a write. It
// does not tell what the system's error was where a sync failed.
func full(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code()&0xff == sqlite3.SQLITE_FULL || e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE)
}
