package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

const clerk = "agent://local/clerk"

// noted notes in a copy of the store what the clerk said to the planner after
// the request.
func noted(t *testing.T, s spoken, text string) (path string) {
	t.Helper()
	path = tampered(t, s.here, `UPDATE meta SET generation = generation`)
	db, err := sqlite.Open(t.Context(), path)
	must(t, err)
	defer db.Close()
	x, err := db.Exchange(t.Context(), store.Key{Owner: planner, Conversation: s.request, Peer: clerk})
	must(t, err)
	must(t, db.Commit(t.Context(), store.WriteSet{Entries: []store.Entry{{Owner: planner, Conversation: s.request, Peer: clerk, Kind: store.Noted,
		At: x.EndedAt, From: x.State.State, To: x.State.State, MessageID: "progress-1", Note: fmt.Appendf(nil, `{"text":"%s"}`, text)}}}))
	return path
}

func TestWhatWasNotedIsShownAndNotExported(t *testing.T) {
	s := speak(t)
	path := noted(t, s, "half of it")
	run := func(code int, args ...string) string {
		t.Helper()
		got := runCommand(t, "", append([]string{"conversation", args[0], "--db", path}, args[1:]...)...)
		if got.code != code {
			t.Fatalf("%v: %+v", args, got)
		}
		return got.stdout
	}
	for _, verb := range []string{"show", "watch"} {
		var found []string
		for line := range strings.Lines(run(exitOK, verb, "--owner", "planner", s.request)) {
			if strings.Contains(line, "progress-1") {
				found = append(found, line)
			}
		}
		if len(found) != 1 || !strings.Contains(found[0], "noted") || !strings.Contains(found[0], "done:ok→done:ok") || !strings.Contains(found[0], `{"text":"half of it"}`) {
			t.Errorf("%s: %q", verb, found)
		}
	}
	var shown struct{ Logs []log }
	must(t, json.Unmarshal([]byte(run(exitOK, "show", "-o", "json", "--envelopes", "--owner", "planner", s.request)), &shown))
	last := shown.Logs[0].Entries[len(shown.Logs[0].Entries)-1]
	var said struct{ Text string }
	if err := json.Unmarshal(last.Note, &said); err != nil || said.Text != "half of it" || last.Kind != "noted" || last.MessageID != "progress-1" || len(last.Envelope) != 0 {
		t.Errorf("got %+v", last)
	}

	run(exitOK, "replay", "--step", s.request)
	before := runCommand(t, "", "conversation", "export", "--db", s.here, s.request)
	if trace := run(exitOK, "export", s.request); trace != before.stdout {
		t.Errorf("the trace is\n%s\nwant\n%s", trace, before.stdout)
	}
	if diff := run(exitFailed, "diff", s.request, s.again); strings.Count(diff, "half of it") != 1 {
		t.Errorf("the difference is %s", diff)
	}
}

func TestWhatWasNotedCannotSteerATerminal(t *testing.T) {
	s := speak(t)
	path := noted(t, s, hostileText)
	for _, verb := range []string{"show", "show -o json", "watch", "watch -o jsonl", "replay --step", "diff", "diff -o json"} {
		args := append(strings.Fields("conversation "+verb), "--db", path, s.request)
		if strings.HasPrefix(verb, "diff") {
			args = append(args, s.again)
		}
		got := runCommand(t, "", args...)
		if text := strings.ReplaceAll(got.stdout+got.stderr, "\n", ""); text == "" || printable(text) != text {
			t.Errorf("%s: %+v", verb, got)
		}
	}
}
