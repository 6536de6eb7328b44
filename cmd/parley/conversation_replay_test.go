package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestReplayExportAndDiffPrintTheirGoldenOutput(t *testing.T) {
	s := speak(t)
	t.Setenv("PARLEY_DB", s.here)
	for _, c := range []struct {
		name, args string
		code       int
	}{
		{"conversation-replay", "conversation replay " + s.request, exitOK},
		{"conversation-replay.json", "conversation replay -o json " + s.request, exitOK},
		{"conversation-replay-step", "conversation replay --step --owner planner " + s.request, exitOK},
		{"conversation-replay-step.json", "conversation replay --step --owner clerk -o json " + s.request, exitOK},
		{"conversation-replay-auction", "conversation replay --step " + s.auction, exitOK},
		{"conversation-replay-gather", "conversation replay --step " + s.gather, exitOK},
		{"conversation-replay-members", "conversation replay --db " + s.there + " " + s.gather, exitOK},
		{"conversation-export.json", "conversation export " + s.request, exitOK},
		{"conversation-export-auction.json", "conversation export " + s.auction, exitOK},
		{"conversation-export-gather.json", "conversation export --owner planner " + s.gather, exitOK},
		{"conversation-diff", "conversation diff " + s.request + " " + s.other, exitFailed},
		{"conversation-diff.json", "conversation diff -o json " + s.request + " " + s.other, exitFailed},
		{"conversation-diff-same", "conversation diff " + s.request + " " + s.again, exitOK},
		{"conversation-diff-same.json", "conversation diff -o json " + s.request + " " + s.again, exitOK},
		{"conversation-diff-hostile", "conversation diff " + s.request + " " + s.hostile, exitFailed},
		{"conversation-diff-hostile.json", "conversation diff -o json " + s.request + " " + s.hostile, exitFailed},
	} {
		got := runCommand(t, "", strings.Fields(c.args)...)
		if got.code != c.code || (got.stderr != "") != (c.code != exitOK) {
			t.Errorf("%s: exit code %d with %q on standard error, want %d", c.name, got.code, got.stderr, c.code)
		}
		wantGolden(t, c.name, renamed(got.stdout))
		if json.Valid([]byte(got.stdout)) != strings.HasSuffix(c.name, ".json") {
			t.Errorf("%s: printed %s", c.name, got.stdout)
		}
		if printable(strings.ReplaceAll(got.stdout, "\n", "")) != strings.ReplaceAll(got.stdout, "\n", "") {
			t.Errorf("%s: what it prints can steer a terminal: %q", c.name, got.stdout)
		}
	}
}

func TestTheHelpOfReplayAndDiffNamesEveryMemberOfTheirJSON(t *testing.T) {
	s := speak(t)
	t.Setenv("PARLEY_DB", s.here)
	broken := tampered(t, s.here, `UPDATE log SET reason = 'x' WHERE conversation = ?`, s.request)
	for verb, args := range map[string]string{
		"conversation replay": "--step -o json --db " + broken + " " + s.request,
		"conversation diff":   "-o json " + s.request + " " + s.other,
	} {
		var value any
		if err := json.Unmarshal([]byte(runCommand(t, "", strings.Fields(verb+" "+args)...).stdout), &value); err != nil {
			t.Fatal(err)
		}
		names := memberNames(value)
		if len(names) < 5 {
			t.Errorf("%s printed only %v", verb, names)
		}
		help := runCommand(t, "", append(strings.Fields(verb), "--help")...).stdout
		for _, name := range names {
			if !strings.Contains(help, `"`+name+`"`) {
				t.Errorf("the help of %s does not name %q", verb, name)
			}
		}
	}
}

func TestALiveConversationReplaysWithoutATerminal(t *testing.T) {
	s := speak(t)
	got := runCommand(t, "", "conversation", "replay", "-o", "json", "--db", s.here, s.live)
	var out struct{ Replays []replay }
	if err := json.Unmarshal([]byte(got.stdout), &out); err != nil || got.code != exitOK || len(out.Replays) != 2 {
		t.Fatalf("%+v: %v", got, err)
	}
	for _, r := range out.Replays {
		if r.Terminal != "" || r.Divergence != nil || len(r.Digest) != 64 || r.Entries == 0 {
			t.Errorf("%+v", r)
		}
	}
}

func TestTheVerbsOfALogSayWhatIsWrongWithTheirArguments(t *testing.T) {
	s := speak(t)
	missing := filepath.Join(filepath.Dir(s.here), "missing.db")
	for _, verb := range [][]string{{"replay"}, {"export"}, {"diff", s.request}} {
		for _, c := range []struct {
			args []string
			code int
			want string
		}{
			{nil, exitUsage, "arg"},
			{[]string{s.request, s.request}, exitUsage, "arg"},
			{[]string{"--owner", "Not A Name", s.request}, exitUsage, "Not A Name"},
			{[]string{"--nothing", s.request}, exitUsage, "nothing"},
			{[]string{"-o", "xml", s.request}, exitUsage, "xml"},
			{[]string{"nowhere"}, exitNotFound, "conversation nowhere"},
			{[]string{"--owner", "stranger", s.request}, exitNotFound, s.request},
			{[]string{"--db", missing, s.request}, exitNotFound, "missing.db"},
		} {
			args := slices.Concat([]string{"conversation", verb[0], "--db", s.here}, verb[1:], c.args)
			got := runCommand(t, "", args...)
			if got.code != c.code || !strings.Contains(got.stderr, c.want) || got.stdout != "" {
				t.Errorf("%v: %+v, want exit code %d", args, got, c.code)
			}
		}
	}
}
