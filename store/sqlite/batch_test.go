package sqlite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/storetest"
)

// unrun is a writer whose goroutine is the test's.
func unrun(t *testing.T) *writer {
	t.Helper()
	w, err := openWriter(t.Context(), filepath.Join(t.TempDir(), "parley.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.close() })
	// Two mistakes that no check foresees: one undoes its statement, the other
	// the whole transaction.
	for _, how := range []string{"ABORT", "ROLLBACK"} {
		run(t, w, fmt.Sprintf("CREATE TRIGGER poison_%[1]s BEFORE INSERT ON turn WHEN NEW.name = '%[1]s' BEGIN SELECT RAISE(%[1]s, 'poison'); END", how))
	}
	return w
}

func run(t *testing.T, w *writer, text string) {
	t.Helper()
	if _, err := w.conn.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

// served is what the writer answers to sets that it finds waiting together.
func served(r *rapid.T, w *writer, sets []store.WriteSet) (answers []string) {
	var batch []job
	for _, set := range sets {
		p, err := prepare(set)
		if err != nil {
			r.Fatal(err)
		}
		batch = append(batch, commitJob(p))
	}
	w.serve(context.Background(), batch)
	for _, j := range batch {
		answers = append(answers, fmt.Sprint(<-j.done))
	}
	return answers
}

// dump is every row of every table.
func dump(t *testing.T, w *writer) (rows []string) {
	t.Helper()
	for _, table := range tables(t, w) {
		rows = append(rows, rowsOf(t, w, table)...)
	}
	return rows
}

func rowsOf(t *testing.T, w *writer, table string) (rows []string) {
	t.Helper()
	found, err := w.conn.QueryContext(t.Context(), "SELECT * FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for found.Next() {
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := found.Scan(into...); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, fmt.Sprint(table, values))
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

func tables(t *testing.T, w *writer) (names []string) {
	t.Helper()
	rows, err := w.conn.QueryContext(t.Context(), "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		name, err := scanText(rows)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}

// empty takes everything out of a store again.
func empty(t *testing.T, w *writer) {
	t.Helper()
	for _, table := range tables(t, w) {
		run(t, w, "DELETE FROM "+table)
	}
	w.heads.forget()
	w.recent = recent{}
}

func TestABatchIsAnsweredAndStoredAsOneByOne(t *testing.T) {
	together, alone := unrun(t), unrun(t)
	q := reading(t, together)
	seen := map[string]int{}
	rapid.Check(t, func(r *rapid.T) {
		empty(t, together)
		empty(t, alone)
		var got, want []string
		sets := storetest.WriteSets(r, 24)
		for n := range sets {
			if rapid.IntRange(0, 19).Draw(r, "poisoned") == 0 {
				how := rapid.SampledFrom([]string{"ABORT", "ROLLBACK"}).Draw(r, "how")
				sets[n].Turns = append(sets[n].Turns, store.Turn{Ordinal: n, Name: how})
			}
			want = append(want, served(r, alone, sets[n:n+1])...)
		}
		for batch := range slices.Chunk(sets, rapid.IntRange(2, 24).Draw(r, "batch")) {
			got = append(got, served(r, together, batch)...)
			agrees(t, together, q)
		}
		if !reflect.DeepEqual(got, want) {
			r.Fatalf("answers:\n got %q\nwant %q", got, want)
		}
		if got, want := dump(t, together), dump(t, alone); !reflect.DeepEqual(got, want) {
			r.Fatalf("stored:\n got %q\nwant %q", got, want)
		}
		for _, answer := range want {
			seen[answer[strings.LastIndex(answer, ":")+1:]]++
		}
	})
	for _, kind := range []error{nil, store.ErrConflict, store.ErrDuplicate, store.ErrFenced, errors.New("poison")} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(seen)), func(s string) bool { return strings.Contains(s, fmt.Sprint(kind)) }) {
			t.Errorf("no set was answered %v: %v", kind, seen)
		}
	}
}

func TestWhatThereIsNoRoomForSpoilsNothingElse(t *testing.T) {
	w := unrun(t)
	var pages, bound int
	if err := w.conn.QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if err := w.conn.QueryRowContext(t.Context(), fmt.Sprint("PRAGMA max_page_count = ", pages+10)).Scan(&bound); err != nil {
		t.Fatal(err)
	}
	var batch []job
	for n, size := range []int{100, 1 << 20, 100} {
		p, err := prepare(store.WriteSet{
			Entries: []store.Entry{{Owner: "a", Conversation: "c", MessageID: fmt.Sprint(n)}},
			Turns:   []store.Turn{{Ordinal: n, Data: make([]byte, size)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		batch = append(batch, commitJob(p))
	}
	w.serve(t.Context(), batch)
	for n, want := range []error{nil, store.ErrFull, nil} {
		if err := <-batch[n].done; !errors.Is(err, want) {
			t.Errorf("set %d: got %v, want %v", n, err, want)
		}
	}
	for _, table := range []string{"log", "turn"} {
		if got := len(rowsOf(t, w, table)); got != 2 {
			t.Errorf("%s has %d rows, want those of the two small sets", table, got)
		}
	}
}

func TestWhoeverWaitsIsTakenUpTogetherWithinBounds(t *testing.T) {
	for _, c := range []struct{ waiting, size, want int }{
		{1, 0, 1},
		{64, 1024, 64},
		{batchJobs, 1024, batchJobs},
		{batchJobs + 44, 1024, batchJobs},
		{9, batchBytes, 1},
		{9, batchBytes / 2, 2},
		{9, batchBytes/4 + 1, 4},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &writer{jobs: make(chan job)}
			for range c.waiting {
				go func() { w.jobs <- newJob(c.size, nil) }()
			}
			synctest.Wait()
			for left := c.waiting; left > 0; {
				batch := w.gather(<-w.jobs)
				if want := min(c.want, left); len(batch) != want {
					t.Errorf("of %d jobs of %d bytes, %d left, %d were taken up, want %d", c.waiting, c.size, left, len(batch), want)
				}
				left -= len(batch)
			}
		})
	}
}

func TestAMessageThatWouldOpenAnotherExchangeSpoilsNoBatch(t *testing.T) {
	w := unrun(t)
	opening := func(conversation, peer, message string) store.WriteSet {
		return store.WriteSet{
			Exchanges: []store.Exchange{{Key: store.Key{Owner: "a", Conversation: conversation, Peer: peer}}},
			Entries:   []store.Entry{{Owner: "a", Conversation: conversation, Peer: peer, MessageID: message}},
			Accept:    []store.Inbox{{InboxKey: store.InboxKey{Recipient: "a", Sender: peer, MessageID: message}, Conversation: conversation, Status: store.Settled}},
		}
	}
	for _, tt := range []struct {
		set  store.WriteSet
		want error
	}{
		{opening("c", "b", "m"), nil},
		{opening("d", "b", "m"), store.ErrDuplicate}, // in another conversation
		{opening("c", "b", "m"), store.ErrConflict},
		{opening("c", "b", "n"), errSpoilt}, // another message, of which nothing is known before the exchange is
		{opening("d", "e", "m"), nil},
	} {
		p, err := prepare(tt.set)
		if err != nil {
			t.Fatal(err)
		}
		answers, err := w.together(t.Context(), []job{commitJob(p)}, w.plainly)
		if err == nil {
			err = answers[0]
		}
		if !errors.Is(err, tt.want) {
			t.Errorf("%+v: got %v, want %v", tt.set.Accept[0], err, tt.want)
		}
	}
}
