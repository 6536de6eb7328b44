package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-agents/parley/store"
)

func openTemp(t testing.TB) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "parley.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func pragmas(t *testing.T, conn *sql.Conn, want map[string]string) {
	t.Helper()
	for name, value := range want {
		var got string
		if err := conn.QueryRowContext(t.Context(), "PRAGMA "+name).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != value {
			t.Errorf("%s is %s, want %s", name, got, value)
		}
	}
}

func TestTheWriterIsDurable(t *testing.T) {
	s := openTemp(t)
	pragmas(t, s.writer.conn, map[string]string{"synchronous": "2", "journal_mode": "wal", "busy_timeout": "5000",
		"journal_size_limit": "67108864", "user_version": fmt.Sprint(latestVersion), "query_only": "0"})
}

func TestEveryReaderOnlyReads(t *testing.T) {
	s := openTemp(t)
	for range readers {
		conn, err := s.pool.Conn(t.Context()) // held until the end, so each is another one
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		pragmas(t, conn, map[string]string{"query_only": "1", "journal_mode": "wal", "busy_timeout": "5000"})
		if _, err := conn.ExecContext(t.Context(), "INSERT INTO identity (owner) VALUES ('x')"); err == nil {
			t.Error("a reader wrote")
		}
		if _, err := conn.ExecContext(t.Context(), "PRAGMA query_only = 0"); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.ExecContext(t.Context(), "INSERT INTO identity (owner) VALUES ('x')"); err == nil {
			t.Error("a reader wrote once query_only was off: its connection is not read-only")
		}
	}
}

func TestEveryStatementIsDrivenByAnIndex(t *testing.T) {
	s := openTemp(t)
	var (
		w statements
		q queries
	)
	// One row an agent that was ever here or met, the rows a query itself made, the
	// owners that a call names, as many dead letters as it asks for, and the
	// commands that wait.
	small := []string{"SCAN identity", "SCAN pin", "SCAN found", "SCAN json_each VIRTUAL TABLE INDEX 1:",
		"SCAN CONSTANT ROW", "SCAN 2-ROW VALUES CLAUSE", "SCAN dead_letter USING INDEX dead_letter_recent", "SCAN command USING INDEX command_waiting"}
	texts := append(w.texts(), q.texts()...)
	for _, t := range w.directTexts() {
		texts = append(texts, text{sql: t.sql})
	}
	for _, text := range texts {
		args := make([]any, strings.Count(text.sql, "?"))
		rows, err := s.writer.conn.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text.sql, args...)
		if err != nil {
			t.Fatalf("%s: %v", text.sql, err)
		}
		var plan []string
		for rows.Next() {
			var (
				id, parent, unused int
				step               string
			)
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				t.Fatal(err)
			}
			plan = append(plan, step)
			if slices.Contains(small, step) || text.to == &q.live && step == "USE TEMP B-TREE FOR ORDER BY" { // all live ones are read
				continue
			}
			if strings.HasPrefix(step, "SCAN") || strings.Contains(step, "TEMP B-TREE") {
				t.Errorf("%s\n%s", text.sql, step)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		if text.to == &q.live && !slices.Contains(plan, "SEARCH exchange USING INDEX exchange_live (owner=?)") {
			t.Errorf("%s\nlooks at those that have ended: %q", text.sql, plan)
		}
	}
}

func TestAFullDiskWritesNothingAndTheWriterGoesOn(t *testing.T) {
	s := openTemp(t)
	ctx := t.Context()
	limit := func(pages string) {
		t.Helper()
		err := s.write(ctx, func(ctx context.Context, w *writer) error {
			var got string
			return w.conn.QueryRowContext(ctx, "PRAGMA max_page_count = "+pages).Scan(&got)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	k := store.Key{Owner: "agent://local/a", Conversation: "c", Peer: "agent://local/b"}
	turn := func(n, size int) store.WriteSet {
		return store.WriteSet{
			Entries: []store.Entry{{Owner: k.Owner, Conversation: k.Conversation, Kind: store.Fired}},
			Turns:   []store.Turn{{Key: k, Ordinal: n, Kind: store.Reply, Data: make([]byte, size)}}}
	}
	limit("1") // SQLite takes the present size instead
	err := s.Commit(ctx, turn(1, 1<<20))
	if !errors.Is(err, store.ErrFull) {
		t.Fatalf("got %v, want a full disk", err)
	}
	if log, err := s.Log(ctx, k.Owner, k.Conversation, 0); err != nil || len(log) != 0 {
		t.Fatalf("after a full disk: %d entries, %v", len(log), err)
	}
	limit("1000000")
	if err := s.Commit(ctx, turn(1, 1<<20)); err != nil {
		t.Fatalf("once there is room: %v", err)
	}
	if log, err := s.Log(ctx, k.Owner, k.Conversation, 0); err != nil || len(log) != 1 {
		t.Fatalf("once there is room: %d entries, %v", len(log), err)
	}
}

func TestAStateThatCannotBeReadIsAnError(t *testing.T) {
	s := openTemp(t)
	ctx := t.Context()
	x := store.Exchange{Key: store.Key{Owner: "a", Conversation: "c", Peer: "b"}}
	if err := s.Commit(ctx, store.WriteSet{Exchanges: []store.Exchange{x}}); err != nil {
		t.Fatal(err)
	}
	err := s.write(ctx, func(ctx context.Context, w *writer) error {
		_, err := w.conn.ExecContext(ctx, "UPDATE exchange SET body = '{'")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Exchange(ctx, x.Key); err == nil || !strings.Contains(err.Error(), "state of the exchange with b in conversation c") {
		t.Errorf("got %v", err)
	}
	if _, err := s.Exchanges(ctx, "a", ""); err == nil {
		t.Error("the list hides the exchange that cannot be read")
	}
}
