package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/store"
)

// old fills a store with conversations that may be swept, of 64 KiB each.
func old(t *testing.T, s *Store, talks int) {
	t.Helper()
	for n := range talks {
		x := store.Exchange{Key: store.Key{Owner: "a", Conversation: fmt.Sprint(n), Peer: "b"}, EndedAt: time.UnixMilli(5)}
		x.State.State = "done:ok"
		err := s.Commit(t.Context(), store.WriteSet{Exchanges: []store.Exchange{x},
			Entries: []store.Entry{{Owner: "a", Conversation: x.Conversation, Envelope: make([]byte, 60_000)}}})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// free is how many pages of the file are free.
func free(t *testing.T, s *Store) (pages int) {
	t.Helper()
	if err := s.pool.QueryRowContext(t.Context(), "PRAGMA freelist_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	return pages
}

func TestASweepGivesSpaceBackInSteps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	old(t, s, 200)
	before := pageCount(t, s)
	if swept, err := s.Sweep(t.Context(), time.UnixMilli(9), time.UnixMilli(9), 1000); err != nil || swept.Conversations != 200 {
		t.Fatalf("swept %+v, %v", swept, err)
	}
	if left := free(t, s); left > keptFree || left < keptFree/2 {
		t.Errorf("%d free pages are left, want at most %d", left, keptFree)
	}
	if after := pageCount(t, s); before-after < 1000 {
		t.Errorf("the file had %d pages and has %d", before, after)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if report, err := Check(t.Context(), path); err != nil || len(report.Findings) != 0 {
		t.Errorf("afterwards: %+v, %v", report, err)
	}
}

func pageCount(t *testing.T, s *Store) (pages int) {
	t.Helper()
	if err := s.pool.QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	return pages
}

func TestAFileFromBeforeKeepsItsSpaceUntilItIsCompacted(t *testing.T) {
	path, before := older(t, 5)
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	old(t, s, 200)
	if swept, err := s.Sweep(t.Context(), time.UnixMilli(9), time.UnixMilli(9), 1000); err != nil || swept.Conversations != 200 {
		t.Fatalf("swept %+v, %v", swept, err)
	}
	if free(t, s) <= keptFree {
		t.Error("a file of an older version gave space back")
	}
	fill(t, s)
	if _, err := Compact(t.Context(), path); !errors.Is(err, store.ErrInUse) {
		t.Errorf("beside a host: got %v, want in use", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	freed, err := Compact(t.Context(), path)
	if err != nil || freed < 8<<20 {
		t.Fatalf("compacting freed %d bytes, %v", freed, err)
	}
	if report, err := Check(t.Context(), path); err != nil || len(report.Findings) != 0 || report.Entries != 2 {
		t.Errorf("afterwards: %+v, %v", report, err)
	}
	if s, err = Open(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	old(t, s, 200)
	if _, err := s.Sweep(t.Context(), time.UnixMilli(9), time.UnixMilli(9), 1000); err != nil {
		t.Fatal(err)
	}
	if left := free(t, s); left > keptFree {
		t.Errorf("a compacted file still keeps %d free pages", left)
	}
}

func TestWhatIsNoStoreIsNotCompacted(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.db")
	if _, err := Compact(t.Context(), missing); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: got %v, want not exist", err)
	}
	path, _ := versionOne(t)
	if _, err := Compact(t.Context(), path); err == nil || !strings.Contains(err.Error(), "let a host open it once") {
		t.Errorf("an older file: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	whole := sound(t)
	if _, err := Compact(ctx, whole); err == nil {
		t.Error("a store was compacted although the context had ended")
	}
	if s, err := Open(t.Context(), whole); err != nil {
		t.Errorf("after a compaction that ended early: %v", err)
	} else {
		s.Close()
	}
}

func TestASweepWhoseContextHasEndedWaitsForNobody(t *testing.T) {
	s := openTemp(t)
	at := <-s.sweeps // as if another one ran
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Sweep(ctx, time.UnixMilli(1), time.Time{}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context canceled", err)
	}
	s.sweeps <- at
	if _, err := s.Sweep(t.Context(), time.UnixMilli(1), time.Time{}, 1); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

func TestSweepsDropBodiesThatNobodyRefersTo(t *testing.T) {
	s := openTemp(t)
	fill(t, s)
	counts(t, s, map[string]int{"SELECT count(*) FROM blob": 2})
	letter := store.DeadKey{Owner: "a", Source: store.DeadInbox, MessageID: "m"}
	if err := s.Commit(t.Context(), store.WriteSet{Unbury: []store.DeadKey{letter}}); err != nil {
		t.Fatal(err)
	}
	counts(t, s, map[string]int{"SELECT count(*) FROM blob": 1})
	x, err := s.Exchanges(t.Context(), "agent://local/planner", "")
	if err != nil {
		t.Fatal(err)
	}
	x[0].State.State, x[0].EndedAt = "done:ok", time.UnixMilli(5)
	rows, err := s.Outboxes(t.Context(), "", 9)
	if err != nil {
		t.Fatal(err)
	}
	var over []store.Delivery
	for _, o := range rows {
		over = append(over, store.Delivery{Owner: o.Owner, MessageID: o.MessageID, Status: store.Delivered})
	}
	if err := s.Commit(t.Context(), store.WriteSet{Exchanges: x, Deliveries: over}); err != nil {
		t.Fatal(err)
	}
	if swept, err := s.Sweep(t.Context(), time.UnixMilli(9), time.UnixMilli(9), 9); err != nil || swept.Conversations != 1 {
		t.Fatalf("swept %+v, %v", swept, err)
	}
	counts(t, s, map[string]int{"SELECT count(*) FROM blob": 0, "SELECT count(*) FROM log": 0, "SELECT count(*) FROM outbox": 0})
}

func TestAConversationThatCameBackToLifeIsNotForgotten(t *testing.T) {
	s := openTemp(t)
	old(t, s, 2)
	// Both were found to be over; then one of them got another exchange.
	found := []ending{{owner: "a", conversation: "0"}, {owner: "a", conversation: "1"}}
	live := store.Exchange{Key: store.Key{Owner: "a", Conversation: "1", Peer: "d"}}
	live.State.State = "agreed"
	if err := s.Commit(t.Context(), store.WriteSet{Exchanges: []store.Exchange{live}}); err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := s.forget(t.Context(), found, 9, &n); err != nil || n != 1 {
		t.Fatalf("forgot %d conversations, %v", n, err)
	}
	for conversation, want := range map[string]int{"0": 0, "1": 1} {
		if log, err := s.Log(t.Context(), "a", conversation, 0); err != nil || len(log) != want {
			t.Errorf("conversation %s has %d entries, want %d, %v", conversation, len(log), want, err)
		}
	}
}

func TestALogThatWasForgottenBeginsAnew(t *testing.T) {
	s := openTemp(t)
	old(t, s, 1)
	if swept, err := s.Sweep(t.Context(), time.UnixMilli(9), time.UnixMilli(9), 9); err != nil || swept.Conversations != 1 {
		t.Fatalf("swept %+v, %v", swept, err)
	}
	old(t, s, 1) // the writer must not remember where the log ended
	log, err := s.Log(t.Context(), "a", "0", 0)
	if err != nil || len(log) != 1 || log[0].Index != 1 || log[0].Hash != store.Link([32]byte{}, log[0]) {
		t.Errorf("got %d entries, %v", len(log), err)
	}
}
