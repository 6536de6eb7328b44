package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// tamper runs SQL on the file of a store, beside whoever has it open.
func tamper(t *testing.T, path string, texts ...string) {
	t.Helper()
	err := onFile(t.Context(), path, url.Values{"mode": {"rw"}}, func(db *sql.DB) error {
		for _, text := range texts {
			if _, err := db.ExecContext(t.Context(), text); err != nil {
				return fmt.Errorf("%s: %w", text, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sound makes a store with one of each kind of record. It is closed.
func sound(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "parley.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	fill(t, s)
	return path
}

func fill(t *testing.T, s *Store) {
	t.Helper()
	small, large := copyTo(t, 1, []byte(`{"a":1}`)), copyTo(t, 2, fmt.Appendf(nil, `{"a":"%[1]s","b":"%[1]s"}`, strings.Repeat("x", 50_000)))
	k := store.Key{Owner: small.Sender(), Conversation: small.Conversation(), Peer: small.Receiver()}
	x := store.Exchange{Key: k, State: protocol.Open(protocol.RequestV1, k.Conversation, k.Owner, k.Peer, protocol.Participant), OpenedAt: time.UnixMilli(1)}
	x.State.State, x.State.ReplyBy = "agreed", time.UnixMilli(5)
	var set store.WriteSet
	set.Exchanges = []store.Exchange{x}
	for _, e := range []interface {
		ID() string
		Bytes() []byte
	}{small, large} {
		entry := store.Entry{Owner: k.Owner, Conversation: k.Conversation, Peer: k.Peer, Kind: store.Sent, MessageID: e.ID(), Digest: small.Digest(), Envelope: e.Bytes()}
		if e.ID() == large.ID() {
			entry.Digest = large.Digest()
		}
		set.Entries = append(set.Entries, entry)
		set.Outbox = append(set.Outbox, store.Outbox{Owner: k.Owner, MessageID: e.ID(), Conversation: k.Conversation, Receiver: k.Peer})
	}
	set.Bury = []store.DeadLetter{{DeadKey: store.DeadKey{Owner: "a", Source: store.DeadInbox, MessageID: "m"}, Envelope: bytes.Repeat([]byte("dead "), 20_000)}}
	if err := s.Commit(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Meta(t.Context(), store.Meta{Generation: 1000, Secret: []byte("secret")}); err != nil {
		t.Fatal(err)
	}
}

func TestASoundStoreHasNoFindings(t *testing.T) {
	path := sound(t)
	for what, beside := range map[string]bool{"alone": false, "beside a host": true} {
		if beside {
			s, err := Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			more := store.WriteSet{Entries: []store.Entry{{Owner: "a", Conversation: "d", Kind: store.Fired}}}
			if err := s.Commit(t.Context(), more); err != nil {
				t.Fatal(err)
			}
		}
		report, err := Check(t.Context(), path)
		if err != nil || len(report.Findings) != 0 || report.Logs < 1 || report.Entries < 2 {
			t.Errorf("%s: got %+v, %v", what, report, err)
		}
	}
}

func TestEveryBrokenRuleIsFound(t *testing.T) {
	for what, c := range map[string]struct {
		damage string
		want   []Code
	}{
		"a changed entry":                {"UPDATE log SET to_state = 'done:ok' WHERE idx = 1", []Code{CodeChain}},
		"a changed hash":                 {"UPDATE log SET hash = zeroblob(32) WHERE idx = 2", []Code{CodeChain}},
		"a hash that is none":            {"UPDATE log SET hash = zeroblob(3) WHERE idx = 2", []Code{CodeChain}},
		"an entry that is gone":          {"DELETE FROM log WHERE idx = 1", []Code{CodeNoEntry, CodeChain}},
		"entries that changed places":    {"UPDATE log SET idx = 6 - idx", []Code{CodeChain}},
		"a changed envelope":             {"UPDATE log SET envelope = CAST(replace(CAST(envelope AS TEXT), 'member-1', 'member-9') AS BLOB) WHERE idx = 1", []Code{CodeBody}},
		"an envelope that is none":       {"UPDATE log SET envelope = CAST('{' AS BLOB) WHERE idx = 1", []Code{CodeBody}},
		"a body that belongs nowhere":    {"UPDATE log SET cut = 100000 WHERE idx = 2", []Code{CodeBody}},
		"a changed body":                 {"UPDATE blob SET body = CAST(replace(CAST(body AS TEXT), 'x', 'y') AS BLOB) WHERE sum = (SELECT blob FROM log WHERE idx = 2)", []Code{CodeBody}},
		"a body that is gone":            {"DELETE FROM blob WHERE sum = (SELECT blob FROM log WHERE idx = 2)", []Code{CodeReference, CodeBody}},
		"a dead letter's body is gone":   {"DELETE FROM blob WHERE sum = (SELECT blob FROM dead_letter)", []Code{CodeReference}},
		"a body that nobody refers to":   {"DELETE FROM dead_letter", []Code{CodeStray}},
		"an exchange without a log":      {"UPDATE log SET conversation = 'other'", []Code{CodeNoLog, CodeNoEntry, CodeChain}},
		"a message that was not logged":  {"UPDATE log SET kind = 'received' WHERE idx = 1", []Code{CodeNoEntry, CodeChain}},
		"a timer of an ended exchange":   {"UPDATE exchange SET outcome = 'ok'", []Code{CodeTimer}},
		"a row that waits for nothing":   {"UPDATE outbox SET waits = 1", []Code{CodeLine}},
		"a row that waits for nobody":    {"UPDATE outbox SET waits = 0", []Code{CodeLine}},
		"an index that lacks its row":    {"UPDATE sqlite_schema SET sql = replace(sql, '''''', '''x''') WHERE name = 'exchange_ended'", []Code{CodePages}},
		"nothing, beside a changed file": {"PRAGMA application_id = 7", nil},
	} {
		path := sound(t)
		tamper(t, path, "PRAGMA writable_schema = 1", c.damage)
		report, err := Check(t.Context(), path)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		var got []Code
		for _, f := range report.Findings {
			if f.Where == "" || f.What == "" {
				t.Errorf("%s: the finding %+v does not say where or what", what, f)
			}
			if !slices.Contains(got, f.Code) {
				got = append(got, f.Code)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", what, report.Findings, c.want)
		}
	}
}

func TestAReportIsBounded(t *testing.T) {
	path := sound(t)
	tamper(t, path, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
		INSERT INTO exchange (owner, conversation, peer, version, protocol, role, state, outcome, body, correlation, parent_conversation, parent_peer, final)
		SELECT 'a', 'unlogged ' || i, 'b', 1, '', '', '', '', '{}', '', '', '', '' FROM n`)
	report, err := Check(t.Context(), path)
	if err != nil || len(report.Findings) != maxFindings {
		t.Errorf("%d findings, %v", len(report.Findings), err)
	}
}

func TestAStoreThatWasCutOffIsDamaged(t *testing.T) {
	for _, part := range []int64{2, 50} {
		path, to := sound(t), filepath.Join(t.TempDir(), "parley.db")
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, info.Size()/part); err != nil {
			t.Fatal(err)
		}
		report, err := Check(t.Context(), path)
		if err != nil || len(report.Findings) == 0 || report.Findings[0].Code != CodePages {
			t.Errorf("a store of which 1/%d is left: got %+v, %v, want damaged pages", part, report, err)
		}
		_, err = Restore(t.Context(), path, to, time.UnixMilli(5000))
		if damaged, ok := errors.AsType[*DamagedError](err); !ok || damaged.Path != path {
			t.Errorf("a backup of which 1/%d is left: got %v, want damaged", part, err)
		}
		if _, err := os.Lstat(to); !os.IsNotExist(err) {
			t.Errorf("a damaged backup was restored (%v)", err)
		}
	}
}

func TestWhatIsNoStoreIsNotChecked(t *testing.T) {
	older, _ := versionOne(t)
	for what, path := range map[string]string{"no file": filepath.Join(t.TempDir(), "none.db"), "an older file": older} {
		if report, err := Check(t.Context(), path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %+v, %v", what, report, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Check(ctx, sound(t)); err == nil {
		t.Error("a check whose context has ended found nothing")
	}
}

func TestAMessageIsSoughtWhereverItStandsInItsLog(t *testing.T) {
	path := sound(t)
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	k := store.Key{Owner: "a", Conversation: "long", Peer: "b"}
	var set store.WriteSet
	for range 40 {
		set.Entries = append(set.Entries, store.Entry{Owner: k.Owner, Conversation: k.Conversation, Peer: k.Peer, Kind: store.Fired})
	}
	late := copyTo(t, 9, []byte(`{"a":1}`))
	set.Entries = append(set.Entries, store.Entry{Owner: k.Owner, Conversation: k.Conversation, Peer: k.Peer, Kind: store.Sent,
		MessageID: late.ID(), Digest: late.Digest(), Envelope: late.Bytes()})
	set.Outbox = []store.Outbox{{Owner: k.Owner, MessageID: late.ID(), Conversation: k.Conversation, Receiver: k.Peer}}
	if err := errors.Join(s.Commit(t.Context(), set), s.Close()); err != nil {
		t.Fatal(err)
	}
	if report, err := Check(t.Context(), path); err != nil || len(report.Findings) != 0 {
		t.Errorf("got %+v, %v", report, err)
	}
}
