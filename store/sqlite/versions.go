package sqlite

import (
	"context"
	"fmt"

	"github.com/pressly/goose/v3/database"
)

// versions keeps the schema version for goose where SQLite has a place for
// it, in the file's header. Migrations only go up, one after another, so the
// last version says it all.
type versions struct{}

var _ database.StoreExtender = versions{}

// Tablename implements database.Store.
func (versions) Tablename() string { return "user_version" }

// TableExists implements database.StoreExtender.
func (versions) TableExists(context.Context, database.DBTxConn) (bool, error) { return true, nil }

// CreateVersionTable implements database.Store.
func (versions) CreateVersionTable(context.Context, database.DBTxConn) error { return nil }

// Insert implements database.Store.
func (versions) Insert(ctx context.Context, db database.DBTxConn, r database.InsertRequest) error {
	_, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", r.Version))
	return err
}

// Delete implements database.Store.
func (versions) Delete(context.Context, database.DBTxConn, int64) error {
	return database.ErrNotImplemented
}

// GetMigration implements database.Store.
func (versions) GetMigration(context.Context, database.DBTxConn, int64) (*database.GetMigrationResult, error) {
	return nil, database.ErrNotImplemented
}

// GetLatestVersion implements database.Store.
func (versions) GetLatestVersion(ctx context.Context, db database.DBTxConn) (last int64, err error) {
	err = db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&last)
	return last, err
}

// ListMigrations implements database.Store.
func (v versions) ListMigrations(ctx context.Context, db database.DBTxConn) ([]*database.ListMigrationsResult, error) {
	last, err := v.GetLatestVersion(ctx, db)
	if err != nil {
		return nil, err
	}
	var applied []*database.ListMigrationsResult
	for version := last; version >= 0; version-- {
		applied = append(applied, &database.ListMigrationsResult{Version: version, IsApplied: true})
	}
	return applied, nil
}
