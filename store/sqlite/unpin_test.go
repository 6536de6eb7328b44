package sqlite_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

func TestAPinIsForgottenBesideTheHostWhichKeepsTheNextKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	host := open(t, path)
	const flights = "agent://acme/flights"
	old := store.Pin{URI: flights, Key: []byte("old"), From: "loopback", At: time.UnixMilli(1).UTC()}
	fresh := store.Pin{URI: flights, Key: []byte("new"), From: "loopback", At: time.UnixMilli(2).UTC()}
	for _, p := range []store.Pin{old, {URI: "agent://acme/hotels", Key: []byte("other"), From: "loopback"}} {
		if _, err := host.Pin(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	if err := sqlite.Unpin(t.Context(), path, flights); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Unpin(t.Context(), path, flights); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("again: %v", err)
	}
	kept, err := host.Pin(t.Context(), fresh)
	if err != nil || string(kept.Key) != "new" {
		t.Errorf("the host keeps %q, %v", kept.Key, err)
	}
	if _, err := host.Pinned(t.Context(), "agent://acme/hotels"); err != nil {
		t.Errorf("the pin of another agent: %v", err)
	}
	missing := path + ".missing"
	if err := sqlite.Unpin(t.Context(), missing, flights); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("of a file that is not there: %v", err)
	}
	if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it made a file: %v", err)
	}
}
