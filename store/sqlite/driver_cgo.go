//go:build cgo && !purego

package sqlite

import _ "github.com/mattn/go-sqlite3" // SQLite itself, through cgo

// driver is the name under which database/sql knows the driver. Both drivers
// read the same data source names and neither's errors are told apart here:
// statements say ON CONFLICT and count rows instead.
const driver = "sqlite3"
