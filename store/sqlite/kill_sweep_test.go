package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// sweeping names the store of a child process that sweeps what it commits
// until it is killed.
const sweeping = "PARLEY_TEST_SWEEPER"

// sweepForever prints a line after each sweep that forgot conversations.
func sweepForever(path string) error {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, path)
	if err != nil {
		return err
	}
	failed := make(chan error)
	go func() {
		for n := 0; ; n++ {
			x := store.Exchange{Key: store.Key{Owner: "agent://local/victim", Conversation: fmt.Sprint(n), Peer: "agent://local/peer"}, EndedAt: time.UnixMilli(1)}
			x.State.State = "done:ok"
			id := fmt.Sprint("m", n)
			err := s.Commit(ctx, store.WriteSet{Exchanges: []store.Exchange{x}, Turns: []store.Turn{{Key: x.Key, Ordinal: 1}},
				Entries:    []store.Entry{{Owner: x.Owner, Conversation: x.Conversation, Peer: x.Peer, Kind: store.Sent, MessageID: id}},
				Outbox:     []store.Outbox{{Owner: x.Owner, Conversation: x.Conversation, Receiver: x.Peer, MessageID: id}},
				Deliveries: []store.Delivery{{Owner: x.Owner, MessageID: id, Status: store.Delivered}}})
			if err != nil {
				failed <- err
			}
		}
	}()
	go func() {
		for {
			swept, err := s.Sweep(ctx, time.UnixMilli(9), time.UnixMilli(9), 40)
			if err == nil && swept.Conversations > 0 {
				_, err = fmt.Println(swept.Conversations)
			}
			if err != nil {
				failed <- err
			}
		}
	}()
	return <-failed
}

func TestAKillDuringASweepLeavesEachConversationWholeOrGone(t *testing.T) {
	for _, lines := range []int{1, 7, 25} {
		path := filepath.Join(t.TempDir(), "parley.db")
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Env = append(os.Environ(), sweeping+"="+path)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		seen := 0
		for scan := bufio.NewScanner(out); scan.Scan(); {
			if seen++; seen == lines {
				if err := child.Process.Kill(); err != nil {
					t.Error(err)
				}
			}
		}
		if err := child.Wait(); err == nil || seen < lines {
			t.Fatalf("the child ended by itself after %d lines, %v", seen, err)
		}
		report, err := sqlite.Check(t.Context(), path)
		if err != nil || len(report.Findings) != 0 {
			t.Errorf("after a kill: %+v, %v", report, err)
		}
		s := open(t, path)
		left, err := s.Conversations(t.Context(), "", 1_000_000)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := s.Outboxes(t.Context(), "", 1_000_000)
		if err != nil || len(rows) != len(left) || report.Logs != len(left) {
			t.Errorf("%d conversations, %d logs and %d rows are left, %v", len(left), report.Logs, len(rows), err)
		}
	}
}
