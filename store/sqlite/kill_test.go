package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// victim names the store of a child process that commits until it is killed.
const victim = "PARLEY_TEST_VICTIM"

const victims = 4 // goroutines in the child

func TestMain(m *testing.M) {
	if path := os.Getenv(victim); path != "" {
		fmt.Fprintln(os.Stderr, commitForever(path))
		os.Exit(1)
	}
	if order := os.Getenv(synced); order != "" {
		if err := serveSynced(order); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if path := os.Getenv(sweeping); path != "" {
		fmt.Fprintln(os.Stderr, sweepForever(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func victimKey(n int) store.Key {
	return store.Key{Owner: "agent://local/victim", Conversation: fmt.Sprint(n), Peer: "agent://local/peer"}
}

// commitForever prints a line "goroutine ordinal" after each acknowledgement.
func commitForever(path string) error {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, path)
	if err != nil {
		return err
	}
	failed := make(chan error)
	for n := range victims {
		go func() {
			x := store.Exchange{Key: victimKey(n)}
			for ordinal := 1; ; ordinal++ {
				err := s.Commit(ctx, store.WriteSet{
					Exchanges: []store.Exchange{x},
					Entries:   []store.Entry{{Owner: x.Owner, Conversation: x.Conversation, Kind: store.Received, Envelope: make([]byte, 1024)}},
					Turns:     []store.Turn{{Key: x.Key, Ordinal: ordinal, Kind: store.Reply}},
				})
				if err == nil {
					_, err = fmt.Println(n, ordinal)
				}
				if err != nil {
					failed <- err
				}
				x.Version++
			}
		}()
	}
	return <-failed
}

func TestWhatWasAcknowledgedSurvivesAKill(t *testing.T) {
	for _, lines := range []int{1, 200, 600} {
		path := filepath.Join(t.TempDir(), "parley.db")
		acknowledged := killAfter(t, path, lines)
		s := open(t, path) // the lock is free
		for n, want := range acknowledged {
			k := victimKey(n)
			turns, err := s.Turns(t.Context(), k)
			if err != nil {
				t.Fatal(err)
			}
			log, err := s.Log(t.Context(), k.Owner, k.Conversation, 0)
			if err != nil {
				t.Fatal(err)
			}
			x, err := s.Exchange(t.Context(), k)
			if err != nil && (want > 0 || !errors.Is(err, store.ErrNotFound)) {
				t.Fatal(err)
			}
			// The commit in hand when the kill came may be there as well.
			if len(turns) < want || len(turns) > want+1 || len(log) != len(turns) || x.Version != int64(len(turns)) {
				t.Errorf("conversation %d: %d acknowledged, found %d turns, %d entries, version %d", n, want, len(turns), len(log), x.Version)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := inFile(t, path, "PRAGMA integrity_check"); got != "ok" {
			t.Errorf("integrity check: %s", got)
		}
	}
}

// killAfter lets a child commit to the store until it has acknowledged some
// lines, kills it and returns the last ordinal that each goroutine printed.
func killAfter(t *testing.T, path string, lines int) map[int]int {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), victim+"="+path)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	acknowledged := map[int]int{}
	seen := 0
	for scan := bufio.NewScanner(out); scan.Scan(); {
		var n, ordinal int
		if _, err := fmt.Sscan(scan.Text(), &n, &ordinal); err != nil {
			t.Fatalf("line %q: %v", scan.Text(), err)
		}
		acknowledged[n] = ordinal
		if seen++; seen != lines {
			continue
		}
		if _, err := sqlite.Open(t.Context(), path); !errors.Is(err, store.ErrInUse) {
			t.Errorf("open while another process holds the store: got %v, want in use", err)
		}
		if err := child.Process.Kill(); err != nil {
			t.Error(err)
		}
	}
	if seen < lines {
		t.Fatalf("the child ended after %d lines", seen)
	}
	if err := child.Wait(); err == nil {
		t.Error("the child ended by itself")
	}
	return acknowledged
}
