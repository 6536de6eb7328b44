package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

var update = flag.Bool("update", false, "write the golden files anew")

// asCommand makes the test binary the command itself.
const asCommand = "PARLEY_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// result is what a command line came to.
type result struct {
	code           int
	stdout, stderr string
}

func runCommand(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p := process{
		stdin: strings.NewReader(stdin), stdout: &stdout, stderr: &stderr,
		now: func() time.Time { return noon }, newID: func() string { return command1 }, user: "user:ada",
		filesystem: func(string) (filesystem, error) { return filesystem{free: 1 << 40}, nil },
		versions: func(context.Context) (version, error) {
			return version{Parley: "v0.1.0", Go: "go1.26.0", SQLite: "3.50.0", Envelope: "1.0"}, nil
		},
	}
	code := p.run(t.Context(), args)
	return result{code, stdout.String(), stderr.String()}
}

// wantGolden compares text with testdata/name.golden.
func wantGolden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, text, want)
	}
}

// withoutModel clears what the environment says about models.
func withoutModel(t *testing.T) {
	t.Helper()
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_KEY", "PARLEY_MODEL"} {
		t.Setenv(name, "")
	}
}

const (
	planner       = "agent://local/planner"
	flights       = "agent://local/flights"
	hotels        = "agent://acme/hotels"
	command1      = "019535d9-3df7-79fb-b466-0000000000c1"
	conversation1 = "019535d9-3df7-79fb-b466-000000000001"
	conversation2 = "019535d9-3df7-79fb-b466-000000000002"
)

// filledStore is a store with two conversations of a planner, one of which its peer has here too. The
// file is private and was last written an hour before noon.
func filledStore(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "parley.db")
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	request := sealed(t)
	live := exchange(planner, conversation2, hotels, "requested", noon.Add(-10*time.Minute))
	for _, w := range []store.WriteSet{
		{
			Exchanges: []store.Exchange{*exchange(planner, conversation1, flights, "done:ok", noon.Add(-2*time.Hour))},
			Entries: []store.Entry{
				record(planner, flights, 1, store.Sent, "!request", "start", "requested", request),
				{Owner: planner, Conversation: conversation1, Peer: flights, Kind: store.Rejected, At: noon.Add(-3 * time.Second),
					Event: "?inform", From: "requested", To: "requested", MessageID: "m-\x1b[2J", Reason: "late\u202e"},
				{Owner: planner, Conversation: conversation1, Peer: flights, Kind: store.Fired, At: noon.Add(-2 * time.Second),
					Event: "#reply-by", From: "requested", To: "done:ok"},
			},
		},
		{
			Exchanges: []store.Exchange{*exchange(flights, conversation1, planner, "done:ok", noon.Add(-2*time.Hour))},
			Entries:   []store.Entry{record(flights, planner, 1, store.Received, "?request", "start", "received", request)},
		},
		{Exchanges: []store.Exchange{*live}, Entries: []store.Entry{}},
	} {
		if err := s.Commit(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Time{}, noon.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	return path
}

func exchange(owner, conversation, peer string, state protocol.State, opened time.Time) *store.Exchange {
	x := &store.Exchange{Key: store.Key{Owner: owner, Conversation: conversation, Peer: peer}, OpenedAt: opened}
	x.State.Protocol, x.State.State = protocol.RequestV1, state
	if state.Done() {
		x.EndedAt = opened.Add(time.Minute)
	}
	return x
}

func record(owner, peer string, seconds int, kind store.EntryKind, event protocol.Event, from, to protocol.State, e *envelope.Envelope) store.Entry {
	return store.Entry{Owner: owner, Conversation: conversation1, Peer: peer, Kind: kind, At: noon.Add(time.Duration(seconds) * time.Second),
		Event: event, From: from, To: to, MessageID: e.ID(), Digest: e.Digest(), Envelope: e.Bytes()}
}

func sealed(t *testing.T) *envelope.Envelope {
	t.Helper()
	e, err := envelope.Seal(envelope.Header{
		Performative: envelope.Request, Protocol: protocol.RequestV1, Schema: "acme.flight.book/v1", Salt: bytes.Repeat([]byte{7}, 16),
		Sender: planner, SenderGeneration: 1, Receiver: flights, Capability: "urn:cap:acme.flight.book/v1",
		MessageID: "019535d9-3df7-79fb-b466-00000000000a", ConversationID: conversation1, CorrelationID: "trip-8841", Seq: 1,
		Timestamp: noon, ReplyBy: noon.Add(time.Minute), IdempotencyKey: "trip-8841",
		Labels: envelope.Labels{Integrity: envelope.User},
		Trace:  envelope.Trace{Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
	}, []byte(`{"flight":"AY121"}`))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// stable replaces what differs from one run to the next.
func stable(text, dir string) string {
	text = strings.ReplaceAll(text, dir, "DIR")
	return regexp.MustCompile(`schema version [0-9]+`).ReplaceAllString(text, "schema version N")
}

// never is an input that does not end.
type never struct{}

func (never) Read([]byte) (int, error) { select {} }

var _ io.Reader = never{}
