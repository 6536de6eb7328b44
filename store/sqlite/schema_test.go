package sqlite

import (
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-agents/parley/store"
)

// versionOne makes a file as the first version of the schema had it, with an
// entry of 100 000 bytes in its log.
func versionOne(t *testing.T) (path string, db *sql.DB) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "parley.db")
	db, err := sql.Open(driver, dsn(path, url.Values{"mode": {"rwc"}}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	tables, err := migrations.ReadFile("migrations/00001_records.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(tables), "PRAGMA user_version = 1",
		`INSERT INTO log (owner, conversation, idx, hash, peer, kind, event, from_state, to_state, message_id, digest, reason, envelope)
			VALUES ('a', 'c', 1, zeroblob(32), 'b', 'sent', '', '', '', 'm', zeroblob(32), '', zeroblob(100000))`} {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	return path, db
}

func answer(t *testing.T, db *sql.DB, text string) (found string) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), text).Scan(&found); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestTheLatestVersionIsTheLastMigration(t *testing.T) {
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files {
		if !strings.HasPrefix(f.Name(), fmt.Sprintf("%05d_", i+1)) {
			t.Errorf("migration %d is called %s", i+1, f.Name())
		}
	}
	if len(files) != latestVersion {
		t.Errorf("there are %d migrations and the latest version is %d", len(files), latestVersion)
	}
}

func TestAnOlderFileIsBroughtUpToDate(t *testing.T) {
	path, old := versionOne(t)
	if _, err := Inspect(t.Context(), path); err == nil || !strings.Contains(err.Error(), "schema version 1") || !strings.Contains(err.Error(), "host") {
		t.Errorf("inspect before: got %v", err)
	}
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := answer(t, old, "PRAGMA user_version"); got != "2" {
		t.Errorf("the version is %s", got)
	}
	if err := s.Commit(t.Context(), store.WriteSet{Entries: []store.Entry{{Owner: "a", Conversation: "c", Envelope: make([]byte, 200_000)}}}); err != nil {
		t.Fatal(err)
	}
	log, err := s.Log(t.Context(), "a", "c", 0)
	if err != nil || len(log) != 2 || len(log[0].Envelope) != 100_000 || len(log[1].Envelope) != 200_000 {
		t.Errorf("got %d entries, %v", len(log), err)
	}
}

func TestAMigrationThatFailsChangesNothing(t *testing.T) {
	path, old := versionOne(t)
	// The last statement of the next migration makes an index of this name.
	if _, err := old.ExecContext(t.Context(), "CREATE INDEX exchange_opened ON exchange (opened_ms)"); err != nil {
		t.Fatal(err)
	}
	const schema = "SELECT group_concat(sql) FROM sqlite_schema"
	before := answer(t, old, schema)
	if _, err := Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), "from schema version 1 to 2") {
		t.Fatalf("got %v", err)
	}
	if answer(t, old, schema) != before || answer(t, old, "PRAGMA user_version") != "1" {
		t.Error("the failed migration changed the file")
	}
	if _, err := old.ExecContext(t.Context(), "DROP INDEX exchange_opened"); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatalf("once the cause is gone: %v", err)
	}
	s.Close()
}
