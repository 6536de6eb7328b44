package sqlite_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

func asking(n int) store.Command {
	return store.Command{ID: fmt.Sprintf("019caa10-5a00-7000-8000-%012d", n), Verb: store.VerbRetry, Owner: "agent://local/a",
		MessageID: "m", By: "ops", At: time.UnixMilli(int64(n)).UTC()}
}

func TestACommandIsPostedBesideABusyHost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	host := open(t, path)
	const posters, each = 4, 10
	var busy sync.WaitGroup
	for n := range posters {
		busy.Go(func() {
			for i := range each {
				if err := sqlite.Post(t.Context(), path, asking(n*each+i)); err != nil {
					t.Error(err)
				}
				if err := host.Commit(t.Context(), store.WriteSet{Entries: []store.Entry{{Owner: "a", Conversation: "c"}}}); err != nil {
					t.Errorf("commit beside a post: %v", err)
				}
			}
		})
	}
	busy.Wait()
	waiting, err := host.Commands(t.Context(), []string{"agent://local/a"}, 100)
	if err != nil || len(waiting) != posters*each || waiting[0] != asking(0) {
		t.Fatalf("the host finds %d commands, %v", len(waiting), err)
	}
	if err := sqlite.Post(t.Context(), path, asking(3)); !errors.Is(err, store.ErrDuplicate) {
		t.Errorf("posted again: got %v, want duplicate", err)
	}
	if err := host.Close(); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Post(t.Context(), path, asking(99)); err != nil {
		t.Errorf("while no host runs: %v", err)
	}
	entries(t, open(t, path), posters*each)
}

func TestACommandIsNotPostedWhereNoHostWouldFindIt(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "parley.db")
	if err := sqlite.Post(t.Context(), path, asking(1)); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("no file: got %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("posting made a file: %v", err)
	}
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	bad := asking(1)
	bad.Verb = "delete"
	if wrong, ok := errors.AsType[*store.CommandError](sqlite.Post(t.Context(), path, bad)); !ok || wrong.Field != "Verb" {
		t.Errorf("an unknown verb: got %v", wrong)
	}
	inFile(t, path, "PRAGMA user_version = 99")
	if err := sqlite.Post(t.Context(), path, asking(1)); err == nil || !strings.Contains(err.Error(), "newer program") {
		t.Errorf("a newer file: got %v", err)
	}
}
