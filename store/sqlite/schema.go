package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// latestVersion is the version of the last migration. A file keeps its own as
// PRAGMA user_version.
const latestVersion = 11

// migrate brings the file to the schema of this program, each version in a
// transaction of its own. It refuses a file that it does not know and leaves
// it as it was.
func migrate(ctx context.Context, db *sql.DB) error {
	version, err := schemaVersion(ctx, db)
	if err != nil {
		return err
	}
	if version > latestVersion {
		return tooNew(version)
	}
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	up, err := goose.NewProvider(goose.DialectCustom, db, folder, goose.WithStore(versions{}), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	if _, err := up.UpTo(ctx, latestVersion); err != nil {
		return fmt.Errorf("migrate from schema version %d to %d: %w", version, latestVersion, err)
	}
	return nil
}

func tooNew(version int64) error {
	return fmt.Errorf("the file has schema version %d and this program knows versions up to %d: use a newer program", version, latestVersion)
}

// present checks that the file has the schema of this program.
func present(ctx context.Context, db *sql.DB) error {
	version, err := schemaVersion(ctx, db)
	switch {
	case err != nil:
		return err
	case version > latestVersion:
		return tooNew(version)
	case version < latestVersion:
		return fmt.Errorf("the file has schema version %d and this program reads version %d: let a host open it once", version, latestVersion)
	}
	return nil
}

// known checks that the file has a schema of this program, present or earlier.
func known(ctx context.Context, db *sql.DB) error {
	version, err := schemaVersion(ctx, db)
	switch {
	case err != nil:
		return err
	case version > latestVersion:
		return tooNew(version)
	case version == 0:
		return errors.New("the file is empty: it is not a parley store")
	}
	return nil
}

// schemaVersion reads which version of the schema the file has, 0 if it is
// empty. A file with tables of another program is an error.
func schemaVersion(ctx context.Context, db *sql.DB) (version int64, err error) {
	var all, ours int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, fmt.Errorf("read the schema version: %w", err)
	}
	err = db.QueryRowContext(ctx, `SELECT count(*), count(CASE WHEN type = 'table' AND name IN ('exchange', 'log', 'outbox') THEN 1 END)
		FROM sqlite_schema`).Scan(&all, &ours)
	if err != nil {
		return 0, fmt.Errorf("read the schema: %w", err)
	}
	empty := version == 0 && all == 0
	if !empty && (version < 1 || ours != 3) {
		return 0, fmt.Errorf("the file has schema version %d and %d tables or indexes: it is not a parley store", version, all)
	}
	return version, nil
}
