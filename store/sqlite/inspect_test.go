package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

func inspect(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Inspect(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func note(t *testing.T, s store.Store) {
	t.Helper()
	if err := s.Commit(t.Context(), store.WriteSet{Entries: []store.Entry{{Owner: "a", Conversation: "c", MessageID: "m"}}}); err != nil {
		t.Fatal(err)
	}
}

func entries(t *testing.T, s store.Store, want int) {
	t.Helper()
	if found, err := s.Log(t.Context(), "a", "c", 0); err != nil || len(found) != want {
		t.Errorf("%d entries, want %d, %v", len(found), want, err)
	}
}

func TestAStoreIsInspectedWhileAHostRunsAndAfter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	host := open(t, path)
	note(t, host)
	s := inspect(t, path)
	entries(t, s, 1)
	note(t, host) // the inspector does not keep the host from working
	entries(t, s, 2)
	if err := host.Close(); err != nil {
		t.Fatal(err)
	}
	entries(t, s, 2)
	host = open(t, path) // nor from starting
	note(t, host)
	entries(t, s, 3)
	if err := errors.Join(s.Close(), host.Close()); err != nil {
		t.Fatal(err)
	}
	entries(t, inspect(t, path), 3) // and it needs none
}

func TestWhatACrashedHostCommittedIsInspected(t *testing.T) {
	path, left := filepath.Join(t.TempDir(), "parley.db"), filepath.Join(t.TempDir(), "parley.db")
	note(t, open(t, path))
	if err := errors.Join(copyFile(path, left), copyFile(path+"-wal", left+"-wal")); err != nil {
		t.Fatal(err)
	}
	entries(t, inspect(t, left), 1)
}

func TestAnInspectorWritesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	s, ctx := inspect(t, path), t.Context()
	_, takeOver := s.TakeOver(ctx, "a")
	_, meta := s.Meta(ctx, store.Meta{})
	_, identity := s.Identity(ctx, store.Identity{})
	_, pin := s.Pin(ctx, store.Pin{URI: "a"})
	_, sweep := s.Sweep(ctx, time.UnixMilli(1), time.Time{}, 1)
	for what, err := range map[string]error{"sweep": sweep, "post": s.Post(ctx, asking(1)), "take over": takeOver, "meta": meta, "identity": identity,
		"pin": pin, "unpin": s.Unpin(ctx, "a"), "put a callback": s.PutCallback(ctx, store.Callback{}),
		"delete a callback": s.DeleteCallback(ctx, store.CallbackKey{}), "advance a callback": s.AdvanceCallback(ctx, store.Callback{}),
		"commit": s.Commit(ctx, store.WriteSet{}), "renew": s.Renew(ctx, store.InboxKey{}, 1, time.Time{})} {
		if !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("%s: got %v, want read only", what, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Owners(ctx); !errors.Is(err, store.ErrClosed) {
		t.Errorf("after close: got %v, want closed", err)
	}
	missing := filepath.Join(t.TempDir(), "none.db")
	if _, err := sqlite.Inspect(ctx, missing); err == nil {
		t.Error("a file that is not there was inspected")
	}
	if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("inspecting made a file: %v", err)
	}
}

func ExampleInspect() {
	folder, err := os.MkdirTemp("", "parley")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path, ctx := filepath.Join(folder, "parley.db"), context.Background()
	host, err := sqlite.Open(ctx, path)
	if err != nil {
		log.Fatal(err)
	}
	defer host.Close()
	if _, err := host.Identity(ctx, store.Identity{Owner: "agent://local/planner"}); err != nil {
		log.Fatal(err)
	}

	s, err := sqlite.Inspect(ctx, path)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	fmt.Println(s.Owners(ctx))
	fmt.Println(s.Commit(ctx, store.WriteSet{}))
	// Output:
	// [agent://local/planner] <nil>
	// the store is open for reading only
}
