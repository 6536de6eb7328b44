package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/parley-agents/parley/store"
)

func TestClosingFoldsTheLogIntoTheFileEachTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	for range 3 {
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Meta(t.Context(), store.Meta{Generation: 1, Secret: []byte("s")}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for _, companion := range []string{"-wal", "-shm"} {
			if _, err := os.Stat(path + companion); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("after Close there is still %s: %v", companion, err)
			}
		}
	}
}

func TestOnlyItsOwnerMayReadAStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Meta(t.Context(), store.Meta{Generation: 1, Secret: []byte("s")}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%s has mode %o, want 600", name, mode)
		}
	}
}
