package agenttest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/transcript"
)

// UpdateGolden is the environment variable that makes Golden write files
// instead of comparing with them, when it is set to 1.
const UpdateGolden = "PARLEY_UPDATE_GOLDEN"

// Golden compares the transcript of a conversation with the file at path and
// fails the test where they differ first. With PARLEY_UPDATE_GOLDEN=1 in the
// environment it writes the file. Call it when the conversation has ended; in
// a bubble of testing/synctest it cannot depend on how fast the machine is.
func Golden(t testing.TB, path, conversation string, hosts ...*agent.Host) {
	t.Helper()
	got, err := Transcript(context.WithoutCancel(t.Context()), conversation, hosts...)
	if err != nil {
		t.Errorf("transcript of %s: %v", conversation, err)
		return
	}
	golden(t, path, got)
}

// GoldenTrace is Golden for the trace of a conversation that an agent of the
// host opened and that has ended, as package transcript exports it: what differs
// from run to run is replaced. A conversation that has no valid trace fails the
// test. Messages stand in the order in which they were taken; a test that wants
// it fixed lets its members answer at times of their own.
func GoldenTrace(t testing.TB, path, conversation string, h *agent.Host) {
	t.Helper()
	trace, err := exported(context.WithoutCancel(t.Context()), h.Store(), conversation)
	if err != nil {
		t.Errorf("trace of %s: %v", conversation, err)
		return
	}
	data, err := json.MarshalIndent(trace, "", "  ")
	if err != nil {
		t.Error(err)
		return
	}
	golden(t, path, stable(string(data)+"\n"))
}

// exported is the trace of a conversation that one of the store's agents opened.
func exported(ctx context.Context, s store.Store, conversation string) (transcript.Trace, error) {
	owners, err := s.Owners(ctx)
	if err != nil {
		return transcript.Trace{}, err
	}
	for _, owner := range owners {
		exchanges, err := s.Exchanges(ctx, owner, conversation)
		if err != nil {
			return transcript.Trace{}, err
		}
		if len(exchanges) == 0 || exchanges[0].State.Role != protocol.Initiator {
			continue
		}
		log, err := s.Log(ctx, owner, conversation, 0)
		if err != nil {
			return transcript.Trace{}, err
		}
		return transcript.Export(log, exchanges)
	}
	return transcript.Trace{}, fmt.Errorf("no agent of the host opened it: %w", store.ErrNotFound)
}

// golden compares text with the file at path, or writes it.
func golden(t testing.TB, path, got string) {
	t.Helper()
	if os.Getenv(UpdateGolden) == "1" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Error(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%v; %s=1 writes it", err, UpdateGolden)
		return
	}
	if line, was, is, differ := firstDifference(string(want), got); differ {
		t.Errorf("%s:%d: the transcript differs; want\n%s\ngot\n%s\n%s=1 writes it anew", path, line, was, is, UpdateGolden)
	}
}

func firstDifference(want, got string) (line int, was, is string, differ bool) {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		was, is = "(nothing)", "(nothing)"
		if i < len(w) {
			was = w[i]
		}
		if i < len(g) {
			is = g[i]
		}
		if was != is {
			return i + 1, was, is, true
		}
	}
	return 0, "", "", false
}

// Transcript writes down a conversation and those that its work opened, as the
// hosts' agents logged them: each act with its envelope, and after the acts of
// a side what its model and its steps recorded. What differs from run to run
// is replaced: ids and digests by names in the order in which they appear, so
// that equal ones stay equal; times, traces, salts and generations by what
// they are. It returns when the stores have been read, or their error.
func Transcript(ctx context.Context, conversation string, hosts ...*agent.Host) (string, error) {
	var out strings.Builder
	for todo := []string{conversation}; len(todo) > 0; todo = todo[1:] {
		fmt.Fprintf(&out, "conversation %s\n", todo[0])
		for _, h := range hosts {
			more, err := sides(ctx, &out, h.Store(), todo[0])
			if err != nil {
				return "", err
			}
			for _, id := range more {
				if !slices.Contains(todo, id) {
					todo = append(todo, id)
				}
			}
		}
	}
	return stable(out.String()), nil
}

// sides writes what the store's agents know of a conversation, and returns the
// conversations that their work opened.
func sides(ctx context.Context, out *strings.Builder, s store.Store, conversation string) (children []string, err error) {
	owners, err := s.Owners(ctx)
	if err != nil {
		return nil, err
	}
	for _, owner := range owners {
		exchanges, err := s.Exchanges(ctx, owner, conversation)
		if err != nil {
			return nil, err
		}
		log, err := s.Log(ctx, owner, conversation, 0)
		if err != nil {
			return nil, err
		}
		for _, x := range exchanges {
			fmt.Fprintf(out, "\n%s with %s: %s\n", owner, x.Peer, x.State.State)
			for _, e := range log {
				if e.Peer == x.Peer {
					fmt.Fprintf(out, "%s %s, %s to %s %s\n", e.Kind, e.Event, e.From, e.To, e.Reason)
					indent(out, e.Envelope)
					indent(out, e.Note)
				}
			}
			turns, err := s.Turns(ctx, x.Key)
			if err != nil {
				return nil, err
			}
			for _, turn := range turns {
				fmt.Fprintf(out, "%s %s\n", turn.Kind, turn.Name)
				indent(out, turn.Data)
			}
			opened, err := s.Children(ctx, x.Key)
			if err != nil {
				return nil, err
			}
			for _, c := range opened {
				children = append(children, c.Conversation)
			}
		}
		for _, e := range log {
			if e.Peer == "" {
				fmt.Fprintf(out, "\n%s %s\n", owner, e.Kind)
				indent(out, e.Note)
			}
		}
	}
	return children, nil
}

// indent writes a document with each member on a line of its own.
func indent(out *strings.Builder, data []byte) {
	if len(data) == 0 {
		return
	}
	var text bytes.Buffer
	if err := json.Indent(&text, data, "  ", "  "); err != nil {
		text.Reset()
		fmt.Fprintf(&text, "%q", data)
	}
	fmt.Fprintf(out, "  %s\n", text.Bytes())
}

// stable replaces what differs from run to run.
func stable(text string) string {
	for _, same := range [][2]string{
		{`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`, "time"},
		{`00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}`, "trace"},
		{`"salt": "[^"]*"`, `"salt": "salt"`},
		{`"(sender_generation|bodyGeneration|senderBodyGeneration)": \d+`, `"$1": 0`},
		{` +\n`, "\n"},
	} {
		text = regexp.MustCompile(same[0]).ReplaceAllString(text, same[1])
	}
	for _, named := range [][2]string{
		{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "id"},
		{`\b[0-9a-f]{64}\b`, "digest"},
	} {
		names := map[string]string{}
		text = regexp.MustCompile(named[0]).ReplaceAllStringFunc(text, func(found string) string {
			if names[found] == "" {
				names[found] = fmt.Sprintf("%s-%d", named[1], len(names)+1)
			}
			return names[found]
		})
	}
	return text
}
