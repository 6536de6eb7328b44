package sqlite

import (
	"context"
	"database/sql"
	_ "embed" // for schema.sql
	"fmt"
)

// schemaVersion is the version of schema.sql, kept in the file as PRAGMA
// user_version.
const schemaVersion = 1

//go:embed schema.sql
var schema string

// migrate brings the file to the schema of this program: it creates the
// tables in an empty file and refuses a file that it does not know. A refused
// file is left as it was.
func migrate(ctx context.Context, conn *sql.Conn) error {
	var version, tables int
	if err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("read the schema version: %w", err)
	}
	if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return fmt.Errorf("read the schema: %w", err)
	}
	switch {
	case version == schemaVersion:
		return nil
	case version > schemaVersion:
		return fmt.Errorf("the file has schema version %d and this program knows versions up to %d: use a newer program", version, schemaVersion)
	case version != 0 || tables != 0:
		return fmt.Errorf("the file has schema version %d and %d tables or indexes: it is not a parley store", version, tables)
	}
	return create(ctx, conn)
}

func create(ctx context.Context, conn *sql.Conn) error {
	for _, text := range []string{"BEGIN IMMEDIATE", schema, fmt.Sprintf("PRAGMA user_version = %d", schemaVersion), "COMMIT"} {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			// This fails only where SQLite has rolled back already.
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
			return fmt.Errorf("create the tables: %w", err)
		}
	}
	return nil
}
