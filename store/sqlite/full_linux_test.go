package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/parley-agents/parley/store"
)

func TestAFullFileSystemLosesNothingThatWasAcknowledged(t *testing.T) {
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=6m"); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	ballast := filepath.Join(folder, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "parley.db")
	s := open(t, path)
	key := func(n int) store.Key {
		return store.Key{Owner: "agent://local/a", Conversation: fmt.Sprint(n), Peer: "agent://local/b"}
	}
	step := func(n, ordinal int) store.WriteSet {
		return store.WriteSet{
			Exchanges: []store.Exchange{{Key: key(n), Version: int64(ordinal)}},
			Entries:   []store.Entry{{Owner: key(n).Owner, Conversation: key(n).Conversation, Kind: store.Received, Envelope: make([]byte, 1024)}},
			Turns:     []store.Turn{{Key: key(n), Ordinal: ordinal, Kind: store.Reply}},
		}
	}
	const callers = 16
	var (
		callersDone sync.WaitGroup
		acked       [callers]int
		all         atomic.Int64
	)
	for n := range callers {
		callersDone.Go(func() {
			for {
				err := s.Commit(t.Context(), step(n, acked[n]))
				if err != nil {
					if !errors.Is(err, store.ErrFull) {
						t.Errorf("caller %d: got %v, want a full disk", n, err)
					}
					return
				}
				acked[n]++
				all.Add(1)
			}
		})
	}
	callersDone.Wait()
	if all.Load() < 100 {
		t.Errorf("the disk was full after %d commits: this test proves little", all.Load())
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	for n := range callers {
		if err := s.Commit(t.Context(), step(n, acked[n])); err != nil {
			t.Errorf("caller %d once there is room: %v", n, err)
		}
		log, err := s.Log(t.Context(), key(n).Owner, key(n).Conversation, 0)
		if err != nil {
			t.Fatal(err)
		}
		turns, err := s.Turns(t.Context(), key(n))
		if err != nil {
			t.Fatal(err)
		}
		x, err := s.Exchange(t.Context(), key(n))
		if err != nil {
			t.Fatal(err)
		}
		if want := acked[n] + 1; len(log) != want || len(turns) != want || x.Version != int64(want) {
			t.Errorf("caller %d: %d acknowledged, found %d entries, %d turns, version %d", n, want, len(log), len(turns), x.Version)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := inFile(t, path, "PRAGMA integrity_check"); got != "ok" {
		t.Errorf("integrity check: %s", got)
	}
}
