package sqlite

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store"
)

// largeEnvelope is canonical.
func largeEnvelope(id, text string) []byte {
	return fmt.Appendf(nil, `{"actor":"agent://local/a","content":{"text":"%s"},"message_id":"%s","v":"1.0"}`, text, id)
}

// counts compares numbers that are read from the file.
func counts(t *testing.T, s *Store, wants map[string]int) {
	t.Helper()
	for text, want := range wants {
		var got int
		if err := s.pool.QueryRowContext(t.Context(), text).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

func TestALargeEnvelopeWithoutContentIsStoredOnce(t *testing.T) {
	s := openTemp(t)
	ctx := t.Context()
	large, small := bytes.Repeat([]byte{'x'}, inlineEnvelope+1), bytes.Repeat([]byte{'x'}, inlineEnvelope)
	for _, owner := range []string{"a", "b"} {
		err := s.Commit(ctx, store.WriteSet{Entries: []store.Entry{
			{Owner: owner, Conversation: "c", MessageID: "1", Envelope: large}, {Owner: owner, Conversation: "c", MessageID: "2", Envelope: large},
			{Owner: owner, Conversation: "c", MessageID: "3", Envelope: small}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	counts(t, s, map[string]int{
		"SELECT count(*) FROM blob":                        1,
		"SELECT sum(length(body)) FROM blob":               inlineEnvelope + 1,
		"SELECT count(*) FROM log WHERE blob IS NOT NULL":  4,
		"SELECT ifnull(sum(length(envelope)), 0) FROM log": 2 * inlineEnvelope,
		"SELECT count(*) FROM log JOIN blob ON blob = sum": 4,
	})
}

// copyTo is one of the sealed copies of a group.
func copyTo(t *testing.T, n int, content []byte) *envelope.Envelope {
	t.Helper()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	e, err := envelope.Seal(envelope.Header{
		Performative: envelope.CFP, Protocol: "contract-net/v1", Schema: "acme.lift/v1", Capability: "urn:cap:acme.lift/v1",
		Salt: make([]byte, 16), Sender: "agent://local/planner", SenderGeneration: 1, Receiver: fmt.Sprintf("agent://local/member-%d", n),
		Group:     &envelope.Group{ID: "019caa10-5a00-7000-8000-000000000003", Size: 100, MembersDigest: strings.Repeat("ab", 32)},
		MessageID: fmt.Sprintf("019caa10-5a00-7000-8000-%012d", n), ConversationID: "019caa10-5a00-7000-8000-000000000002",
		CorrelationID: "lift", Seq: 1, Timestamp: noon, ReplyBy: noon.Add(time.Minute), IdempotencyKey: "lift",
		Labels: envelope.Labels{Integrity: envelope.User}, Trace: envelope.Trace{Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
	}, content)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestTheCopiesOfAGroupStoreTheirContentOnce(t *testing.T) {
	const members = 100
	s := openTemp(t)
	half := strings.Repeat("0123456789", 5<<10)
	content := fmt.Appendf(nil, `{"notes":["%s",{"content":"%s"}]}`, half, half)
	var sent, received []store.Entry
	for n := range members {
		e := copyTo(t, n, content)
		entry := store.Entry{Owner: e.Sender(), Conversation: e.Conversation(), Peer: e.Receiver(), Kind: store.Sent,
			MessageID: e.ID(), Digest: e.Digest(), Envelope: e.Bytes()}
		sent = append(sent, entry)
		entry.Owner, entry.Peer, entry.Kind = entry.Peer, entry.Owner, store.Received
		received = append(received, entry)
	}
	for _, entries := range [][]store.Entry{sent, received} {
		if err := s.Commit(t.Context(), store.WriteSet{Entries: entries}); err != nil {
			t.Fatal(err)
		}
	}
	counts(t, s, map[string]int{
		"SELECT count(*) FROM blob":                                    1,
		"SELECT sum(length(body)) FROM blob":                           len(content),
		"SELECT count(*) FROM log JOIN blob ON blob = sum":             2 * members,
		"SELECT count(*) FROM log WHERE length(envelope) > 2 * 1024":   0,
		"SELECT count(DISTINCT CAST(envelope AS TEXT)) FROM log":       members,
		"SELECT count(*) FROM log WHERE instr(envelope, '0123456789')": 0,
	})
	log, err := s.Log(t.Context(), sent[0].Owner, sent[0].Conversation, 0)
	if err != nil || len(log) != members {
		t.Fatalf("got %d entries, %v", len(log), err)
	}
	for n := range members {
		k := store.Key{Owner: received[n].Owner, Conversation: received[n].Conversation, Peer: received[n].Peer}
		got, err := s.Message(t.Context(), k, store.Received, received[n].MessageID)
		if err != nil {
			t.Fatal(err)
		}
		for what, read := range map[string]store.Entry{"sent": log[n], "received": got} {
			if !bytes.Equal(read.Envelope, sent[n].Envelope) {
				t.Fatalf("copy %d as it was %s is not what was written", n, what)
			}
			if e, err := envelope.Decode(read.Envelope); err != nil || e.Digest() != sent[n].Digest {
				t.Fatalf("copy %d as it was %s does not read as what was sealed: %v", n, what, err)
			}
		}
	}
}

func TestABodyThatCannotBePutBackIsAnError(t *testing.T) {
	for what, damage := range map[string]string{
		"a body that is gone":      "DELETE FROM blob",
		"a place behind its end":   "UPDATE log SET cut = 5000",
		"a place before its start": "UPDATE log SET cut = -1",
	} {
		s := openTemp(t)
		err := s.Commit(t.Context(), store.WriteSet{Entries: []store.Entry{{Owner: "a", Conversation: "c", Envelope: largeEnvelope("m", strings.Repeat("x", 100_000))}}})
		if err != nil {
			t.Fatal(err)
		}
		err = s.write(t.Context(), func(ctx context.Context, w *writer) error {
			_, err := w.conn.ExecContext(ctx, damage)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Log(t.Context(), "a", "c", 0); err == nil || !strings.Contains(err.Error(), "entry 1 of the log of a in conversation c") {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

func TestTheContentIsFoundWhereItStands(t *testing.T) {
	for _, c := range []struct{ envelope, want string }{
		{`{"content":{"a":1}}`, `{"a":1}`},
		{`{"a":1,"content":{"a":[1,{"b":"}"}],"content":2},"content_digest":"c","v":"1.0"}`, `{"a":[1,{"b":"}"}],"content":2}`},
		{`{"a":"content","b":{"content":1},"c":["content",{"content":2}],"content":{}}`, `{}`},
		{`{"a":"\",\"content\":1","content":{"quote":"\"}"}}`, `{"quote":"\"}"}`},
		{`{"a\\":"\\","content":{}}`, `{}`},
		{`{"a":"content:","content_digest":"x"}`, ""},
		{`["content",{"content":1}]`, ""},
		{`{"content":`, ""},
		{`{"content":}`, ""},
		{`{"content":"`, ""},
		{`"content":1}`, ""},
		{``, ""},
	} {
		from, to, found := contentOf([]byte(c.envelope))
		if got := c.envelope[from:to]; got != c.want || found != (c.want != "") {
			t.Errorf("%s: got %q, want %q", c.envelope, got, c.want)
		}
	}
}

// FuzzSplit proves that join gives back whatever split took apart, and that
// what it took out of a canonical object is its content.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{`{"content":{"a":1}}`, `{"a":"content","content":{"x":"\"}"},"content_digest":"c"}`, `{"content":`, `{"a":[{"content":2}],"content":3}`,
		`}{"content":,`, `"`, `\`, `{"":{},"content":"\\"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rest, cut, body := split(data)
		if len(data) > 0 {
			if whole, err := join(rest, cut, body); err != nil || !bytes.Equal(whole, data) {
				t.Fatalf("%q became %q, %v", data, whole, err)
			}
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(data, &members) != nil {
			return
		}
		object, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		want, has := members["content"]
		if want, err = json.Marshal(want); err != nil {
			t.Fatal(err)
		}
		from, to, found := contentOf(object)
		if found != has || has && !bytes.Equal(object[from:to], want) {
			t.Fatalf("the content of %s is %s, want %s", object, object[from:to], want)
		}
	})
}
