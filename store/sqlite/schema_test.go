package sqlite

import (
	"bytes"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/store"
)

// older makes a file as a version of the schema had it and runs SQL on it.
func older(t *testing.T, version int, texts ...string) (path string, db *sql.DB) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "parley.db")
	db, err := sql.Open(driver, dsn(path, url.Values{"mode": {"rwc"}}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range files[:version] {
		up, err := migrations.ReadFile("migrations/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(up))
	}
	for _, text := range append(append(all, fmt.Sprint("PRAGMA user_version = ", version)), texts...) {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	return path, db
}

// versionOne makes a file of the first version with an entry of 100 000 bytes
// in its log.
func versionOne(t *testing.T) (path string, db *sql.DB) {
	t.Helper()
	return older(t, 1, `INSERT INTO log (owner, conversation, idx, hash, peer, kind, event, from_state, to_state, message_id, digest, reason, envelope)
		VALUES ('a', 'c', 1, zeroblob(32), 'b', 'sent', '', '', '', 'm', zeroblob(32), '', zeroblob(100000))`)
}

func answer(t *testing.T, db *sql.DB, text string) (found string) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), text).Scan(&found); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestTheLatestVersionIsTheLastMigration(t *testing.T) {
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files {
		if !strings.HasPrefix(f.Name(), fmt.Sprintf("%05d_", i+1)) {
			t.Errorf("migration %d is called %s", i+1, f.Name())
		}
	}
	if len(files) != latestVersion {
		t.Errorf("there are %d migrations and the latest version is %d", len(files), latestVersion)
	}
}

func TestAnOlderFileIsBroughtUpToDate(t *testing.T) {
	path, old := versionOne(t)
	if _, err := Inspect(t.Context(), path); err == nil || !strings.Contains(err.Error(), "schema version 1") || !strings.Contains(err.Error(), "host") {
		t.Errorf("inspect before: got %v", err)
	}
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := answer(t, old, "PRAGMA user_version"); got != fmt.Sprint(latestVersion) {
		t.Errorf("the version is %s", got)
	}
	if err := s.Commit(t.Context(), store.WriteSet{Entries: []store.Entry{{Owner: "a", Conversation: "c", Envelope: make([]byte, 200_000)}}}); err != nil {
		t.Fatal(err)
	}
	log, err := s.Log(t.Context(), "a", "c", 0)
	if err != nil || len(log) != 2 || len(log[0].Envelope) != 100_000 || len(log[1].Envelope) != 200_000 {
		t.Errorf("got %d entries, %v", len(log), err)
	}
}

func TestABlobThatIsAWholeEnvelopeIsStillRead(t *testing.T) {
	whole := largeEnvelope("old", strings.Repeat("x", 100_000))
	path, _ := older(t, 2,
		fmt.Sprintf("INSERT INTO blob (sum, body) VALUES (zeroblob(32), CAST('%s' AS BLOB))", whole),
		`INSERT INTO log (owner, conversation, idx, hash, peer, kind, event, from_state, to_state, message_id, digest, reason, blob)
			VALUES ('a', 'c', 1, zeroblob(32), 'b', 'sent', '', '', '', 'm', zeroblob(32), '', zeroblob(32))`)
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	later := largeEnvelope("new", strings.Repeat("x", 100_000))
	if err := s.Commit(t.Context(), store.WriteSet{Entries: []store.Entry{{Owner: "a", Conversation: "c", Envelope: later}}}); err != nil {
		t.Fatal(err)
	}
	log, err := s.Log(t.Context(), "a", "c", 0)
	if err != nil || len(log) != 2 || !bytes.Equal(log[0].Envelope, whole) || !bytes.Equal(log[1].Envelope, later) {
		t.Errorf("got %d entries that differ from what was written, %v", len(log), err)
	}
}

func TestWhatWaitedInAnOlderFileStillWaits(t *testing.T) {
	const row = `INSERT INTO outbox (owner, message_id, conversation, receiver, status, attempt, next_ms, expires_ms, overtakes, last_error)
		VALUES ('a', '%s', 'c', '%s', '%s', 0, 0, 0, %d, '')`
	path, _ := older(t, 4,
		fmt.Sprintf(row, "over", "b", "delivered", 0), fmt.Sprintf(row, "first", "b", "pending", 0), fmt.Sprintf(row, "second", "b", "pending", 0),
		fmt.Sprintf(row, "cancel", "b", "pending", 1), fmt.Sprintf(row, "other line", "d", "pending", 0))
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	due := func() (ids []string) {
		t.Helper()
		found, err := s.Due(t.Context(), []string{"a"}, time.UnixMilli(9), 9)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range found.Outbox {
			ids = append(ids, o.MessageID)
		}
		return ids
	}
	if got, want := due(), []string{"first", "cancel", "other line"}; !slices.Equal(got, want) {
		t.Errorf("%q are due, want %q", got, want)
	}
	if err := s.Commit(t.Context(), store.WriteSet{Deliveries: []store.Delivery{{Owner: "a", MessageID: "first", Status: store.Delivered}}}); err != nil {
		t.Fatal(err)
	}
	if got, want := due(), []string{"second", "cancel", "other line"}; !slices.Equal(got, want) {
		t.Errorf("then %q are due, want %q", got, want)
	}
}

func TestTheTimersOfAnOlderFileRunOn(t *testing.T) {
	const exchange = `INSERT INTO exchange (owner, conversation, peer, version, protocol, role, state, outcome, body, correlation,
		parent_conversation, parent_peer, final) VALUES ('a', '%s', 'b', 3, '', '', '', '%s', '{}', 'x', '', '', '')`
	const timer = "INSERT INTO timer (owner, conversation, peer, name, at_ms) VALUES ('a', '%s', 'b', '%s', %d)"
	path, _ := older(t, 10, fmt.Sprintf(exchange, "two", ""), fmt.Sprintf(timer, "two", "agree", 7), fmt.Sprintf(timer, "two", "reply_by", 9),
		fmt.Sprintf(exchange, "at once", ""), fmt.Sprintf(timer, "at once", "reply_by", 6), fmt.Sprintf(timer, "at once", "lease", 6),
		fmt.Sprintf(exchange, "other order", ""), fmt.Sprintf(timer, "other order", "agree", 95), fmt.Sprintf(timer, "other order", "reply_by", 8),
		fmt.Sprintf(exchange, "later", ""), fmt.Sprintf(timer, "later", "grace", 90),
		fmt.Sprintf(exchange, "none", ""), fmt.Sprintf(exchange, "ended", "ok"), fmt.Sprintf(timer, "ended", "reply_by", 5))
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	due, err := s.Due(t.Context(), []string{"a"}, time.UnixMilli(9), 9)
	key := func(conversation string) store.Key {
		return store.Key{Owner: "a", Conversation: conversation, Peer: "b"}
	}
	want := store.Due{Next: time.UnixMilli(90).UTC(), Timers: []store.Timer{{Key: key("at once"), Name: "lease", At: time.UnixMilli(6).UTC()},
		{Key: key("two"), Name: "agree", At: time.UnixMilli(7).UTC()}, {Key: key("other order"), Name: "reply_by", At: time.UnixMilli(8).UTC()}}}
	if err != nil || !reflect.DeepEqual(due, want) {
		t.Errorf("got %+v, %v, want %+v", due, err, want)
	}
	live, err := s.Exchanges(t.Context(), "a", "")
	if err != nil || len(live) != 5 || live[0].Conversation != "two" || live[4].Conversation != "none" {
		t.Errorf("got %+v, %v", live, err)
	}
}

func TestAMigrationThatFailsChangesNothing(t *testing.T) {
	path, old := versionOne(t)
	// The last statement of the next migration makes an index of this name.
	if _, err := old.ExecContext(t.Context(), "CREATE INDEX exchange_opened ON exchange (opened_ms)"); err != nil {
		t.Fatal(err)
	}
	const schema = "SELECT group_concat(sql) FROM sqlite_schema"
	before := answer(t, old, schema)
	if _, err := Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), fmt.Sprint("from schema version 1 to ", latestVersion)) {
		t.Fatalf("got %v", err)
	}
	if answer(t, old, schema) != before || answer(t, old, "PRAGMA user_version") != "1" {
		t.Error("the failed migration changed the file")
	}
	if _, err := old.ExecContext(t.Context(), "DROP INDEX exchange_opened"); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatalf("once the cause is gone: %v", err)
	}
	s.Close()
}

func TestALeaseOfAnOlderFileIsNoRun(t *testing.T) {
	path, _ := older(t, 7, `INSERT INTO inbox (recipient, sender, message_id, digest, conversation, seq, status, attempt, lease_ms, accepted_ms, expires_ms)
		VALUES ('a', 'b', 'm', zeroblob(32), 'c', 1, 'in-progress', 6, 1000, 500, 9000)`)
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rows, err := s.TakeOver(t.Context(), "a")
	if err != nil || len(rows) != 1 || rows[0].Attempt != 7 || rows[0].Runs != 0 {
		t.Errorf("got %+v, %v", rows, err)
	}
}

func TestAnExchangeOfAnOlderFileMovedWhenItEndedOrWasOpened(t *testing.T) {
	const row = `INSERT INTO exchange (owner, conversation, peer, version, protocol, role, state, outcome, body, correlation,
		parent_conversation, parent_peer, final, opened_ms, ended_ms) VALUES ('a', '%s', 'b', 3, '', '', '', '%s', '{}', 'x', '', '', '', %s, %s)`
	path, _ := older(t, 8, fmt.Sprintf(row, "live", "", "1000", "NULL"), fmt.Sprintf(row, "ended", "ok", "1000", "2000"), fmt.Sprintf(row, "timeless", "", "NULL", "NULL"))
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for conversation, moved := range map[string]time.Time{"live": time.UnixMilli(1000), "ended": time.UnixMilli(2000), "timeless": {}} {
		x, err := s.Exchange(t.Context(), store.Key{Owner: "a", Conversation: conversation, Peer: "b"})
		if err != nil || x.Version != 3 || x.Correlation != "x" || x.Task != "" || x.Mailbox || !x.MovedAt.Equal(moved) {
			t.Errorf("%s: got %+v, %v", conversation, x, err)
		}
	}
	if found, err := s.Mailboxes(t.Context(), store.MailboxQuery{Owner: "a", Peer: "b"}); err != nil || len(found) != 0 {
		t.Errorf("got %d mailboxes, %v", len(found), err)
	}
}

func TestTheInboxOfAnOlderFileIsKept(t *testing.T) {
	const row = `INSERT INTO inbox (recipient, sender, message_id, digest, conversation, seq, status, attempt, lease_ms, accepted_ms, expires_ms, runs, first_ms)
		VALUES ('a', 'b', '%s', zeroblob(32), '%s', 3, '%s', 2, %s, %d, 90, 4, %s)`
	const exchange = `INSERT INTO exchange (owner, conversation, peer, version, protocol, role, state, outcome, body, correlation, parent_conversation, parent_peer, final, task, mailbox)
		VALUES ('a', '%s', 'b', 1, '', '', '', 'ok', '{}', '', '', '', '', 't', %d)`
	path, _ := older(t, 9, fmt.Sprintf(exchange, "read", 1), fmt.Sprintf(exchange, "sent", 0),
		fmt.Sprintf(row, "later", "sent", "in-progress", "70", 9, "60"), fmt.Sprintf(row, "first", "sent", "settled", "NULL", 5, "NULL"),
		fmt.Sprintf(row, "opener", "read", "settled", "NULL", 7, "NULL"))
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	settled := store.Inbox{InboxKey: store.InboxKey{Recipient: "a", Sender: "b", MessageID: "first"}, Conversation: "sent", Seq: 3,
		Status: store.Settled, Attempt: 2, Runs: 4, AcceptedAt: time.UnixMilli(5).UTC(), ExpiresAt: time.UnixMilli(90).UTC()}
	opener, later := settled, settled
	opener.MessageID, opener.Conversation, opener.AcceptedAt, opener.ExpiresAt = "opener", "read", time.UnixMilli(7).UTC(), time.Time{}
	later.MessageID, later.Status, later.AcceptedAt = "later", store.InProgress, time.UnixMilli(9).UTC()
	later.LeaseUntil, later.FirstUntil = time.UnixMilli(70).UTC(), time.UnixMilli(60).UTC()
	if got, err := s.Inboxes(t.Context(), "a", false, 9); err != nil || !slices.Equal(got, []store.Inbox{later, opener, settled}) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := s.Sweep(t.Context(), time.UnixMilli(90), time.Time{}, 9); err != nil || got.Inbox != 1 {
		t.Errorf("swept %+v, want the row that is settled and not the opener's; %v", got, err)
	}
}

func TestWhatOpenedATaskOfAnOlderFileIsKnownThoughItsInboxRowWasSwept(t *testing.T) {
	const exchange = `INSERT INTO exchange (owner, conversation, peer, version, protocol, role, state, outcome, body, correlation, parent_conversation, parent_peer, final, task, mailbox)
		VALUES ('a', '%s', 'b', 1, '', '', '', 'ok', '{}', '', '', '', '', 't', %d)`
	const entry = `INSERT INTO log (owner, conversation, idx, hash, peer, kind, at_ms, event, from_state, to_state, message_id, digest, reason)
		VALUES ('a', '%s', %d, zeroblob(32), 'b', '%s', 5, '', '', '', '%s', zeroblob(32), '')`
	path, _ := older(t, 9, fmt.Sprintf(exchange, "read", 1), fmt.Sprintf(entry, "read", 1, "received", "opener"), fmt.Sprintf(entry, "read", 2, "noted", "later"),
		fmt.Sprintf(exchange, "sent", 0), fmt.Sprintf(entry, "sent", 1, "received", "other"))
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := []store.Inbox{{InboxKey: store.InboxKey{Recipient: "a", Sender: "b", MessageID: "opener"}, Conversation: "read", Seq: 1,
		Status: store.Settled, Attempt: 1, AcceptedAt: time.UnixMilli(5).UTC()}}
	if got, err := s.Inboxes(t.Context(), "a", false, 9); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}
