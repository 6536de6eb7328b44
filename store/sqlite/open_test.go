package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// inFile runs SQL on a file that no store has open.
func inFile(t *testing.T, path, text string) (answer string) {
	t.Helper()
	db, err := sql.Open(sqlite.Driver, path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.QueryRowContext(t.Context(), text).Scan(&answer)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		t.Fatal(err)
	}
	return answer
}

func TestASecondOpenIsRefusedUntilTheFirstCloses(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "parley.db")
	first := open(t, path)
	if err := os.Symlink(path, filepath.Join(folder, "alias.db")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	for _, name := range []string{path, "parley.db", "alias.db"} {
		_, err := sqlite.Open(t.Context(), name)
		if !errors.Is(err, store.ErrInUse) || !strings.Contains(err.Error(), path) {
			t.Errorf("open %s: got %v, want in use with the path", name, err)
		}
	}
	open(t, filepath.Join(folder, "other.db"))
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, "alias.db")
}

func TestAnyFileNameIsThatFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "50% of?mode=memory#1 & más.db")
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestAFileOfANewerVersionIsRefusedAndLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	inFile(t, path, "PRAGMA user_version = 99")
	_, err := sqlite.Open(t.Context(), path)
	if err == nil || !strings.Contains(err.Error(), "version 99") || !strings.Contains(err.Error(), "newer program") || !strings.Contains(err.Error(), path) {
		t.Fatalf("got %v", err)
	}
	if _, err := sqlite.Inspect(t.Context(), path); err == nil || !strings.Contains(err.Error(), "newer program") {
		t.Errorf("inspect: got %v", err)
	}
	if got := inFile(t, path, "PRAGMA user_version"); got != "99" {
		t.Errorf("the version became %s", got)
	}
	inFile(t, path, fmt.Sprint("PRAGMA user_version = ", sqlite.LatestVersion))
	open(t, path) // the refusal freed the lock
}

func TestAFileOfAnotherProgramIsRefusedAndLeftAlone(t *testing.T) {
	for _, version := range []string{"0", "1", fmt.Sprint(sqlite.LatestVersion), "99"} {
		path := filepath.Join(t.TempDir(), "other.db")
		inFile(t, path, "CREATE TABLE log (text TEXT)")
		inFile(t, path, "PRAGMA user_version = "+version)
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for what, open := range map[string]func(context.Context, string) (*sqlite.Store, error){"open": sqlite.Open, "inspect": sqlite.Inspect} {
			if _, err := open(t.Context(), path); err == nil || !strings.Contains(err.Error(), "not a parley store") {
				t.Errorf("%s a foreign database of version %s: got %v", what, version, err)
			}
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
			t.Errorf("the foreign database of version %s was changed, %v", version, err)
		}
	}
	path := filepath.Join(t.TempDir(), "text.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), "not a database") {
		t.Errorf("a text file: got %v", err)
	}
}

func TestAPathThatCannotHoldAStoreIsNamed(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(folder, "none", "parley.db"), filepath.Join(file, "parley.db"), folder} {
		if _, err := sqlite.Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), path) && !strings.Contains(err.Error(), filepath.Dir(path)) {
			t.Errorf("open %s: got %v", path, err)
		}
	}
}

func TestAFolderThatCannotBeWrittenIsNamed(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser may write to any folder")
	}
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o500); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "parley.db")
	if _, err := sqlite.Open(t.Context(), path); !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want a permission error that names %s", err, path)
	}
}

func TestAnEndedContextOpensNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sqlite.Open(ctx, path); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want context canceled", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	s, err := sqlite.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	cancel() // bounded the opening only
	if err := s.Commit(t.Context(), store.WriteSet{Entries: []store.Entry{{Owner: "a", Conversation: "c"}}}); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
