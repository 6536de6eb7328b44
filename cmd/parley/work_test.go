package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-agents/parley/envelope"
)

// workLines are the command lines about mail, dead letters and commands that
// have a golden output.
func workLines() []struct {
	name, args string
	code       int
} {
	return []struct {
		name, args string
		code       int
	}{
		{"inbox-ls", "inbox ls", exitOK},
		{"inbox-ls.json", "inbox ls -o json", exitOK},
		{"inbox-ls.jsonl", "inbox ls -o jsonl --limit 2", exitOK},
		{"inbox-ls-open", "inbox ls --open --owner flights", exitOK},
		{"inbox-ls-none.json", "inbox ls -o json --owner agent://acme/nobody", exitOK},
		{"inbox-peek", "inbox peek " + messageOpen, exitOK},
		{"inbox-peek.json", "inbox peek -o json " + messageOpen, exitOK},
		{"inbox-peek-content", "inbox peek --content " + messageOpen, exitOK},
		{"inbox-peek-content.json", "inbox peek --content -o json " + messageOpen, exitOK},
		{"inbox-peek-private", "inbox peek --content " + messageSettled, exitOK},
		{"inbox-peek-private.json", "inbox peek --content -o json " + messageSettled, exitOK},
		{"inbox-peek-forgotten", "inbox peek --peer planner " + messageTwice, exitOK},
		{"outbox-ls", "outbox ls", exitOK},
		{"outbox-ls.json", "outbox ls -o json", exitOK},
		{"outbox-ls-status.jsonl", "outbox ls -o jsonl --status dead,delivered", exitOK},
		{"dlq-ls", "dlq ls", exitOK},
		{"dlq-ls.json", "dlq ls -o json", exitOK},
		{"dlq-ls-owner.jsonl", "dlq ls -o jsonl --owner planner", exitOK},
		{"dlq-show", "dlq show " + messageDead, exitOK},
		{"dlq-show.json", "dlq show --content -o json " + messageDead, exitOK},
		{"dlq-show-private.json", "dlq show --content -o json " + messagePoison, exitOK},
		{"dlq-show-quarantine", "dlq show --digest " + (envelope.Digest{1}).String() + " " + messageForged, exitOK},
		{"command-ls", "command ls", exitOK},
		{"command-ls.json", "command ls -o json", exitOK},
		{"command-show", "command show " + commandDone, exitOK},
		{"command-show.json", "command show -o json " + commandDone, exitOK},
		{"command-show-failed.json", "command show -o json " + commandFailed, exitFailed},
		{"outbox-retry-dry.json", "outbox retry --dry-run -o json " + messagePending, exitOK},
		{"dlq-requeue-dry", "dlq requeue --dry-run " + messageDead, exitOK},
		{"dlq-requeue-dry.json", "dlq requeue --dry-run -o json " + messageDead, exitOK},
		{"dlq-drop-dry.json", "dlq drop --dry-run -o json " + messageForged, exitOK},
		{"conversation-cancel-dry", "conversation cancel --dry-run " + conversation2, exitOK},
		{"conversation-cancel-dry.json", "conversation cancel --dry-run -o json --peer agent://acme/hotels " + conversation2, exitOK},
	}
}

func TestEveryVerbAboutMailPrintsItsGoldenOutput(t *testing.T) {
	t.Setenv("PARLEY_DB", workStore(t))
	for _, c := range workLines() {
		got := runCommand(t, "", strings.Fields(c.args)...)
		if got.code != c.code || (got.stderr != "") != (c.code != exitOK) {
			t.Errorf("%s: %+v", c.args, got)
		}
		wantGolden(t, c.name, got.stdout)
		if strings.HasSuffix(c.name, ".json") && !json.Valid([]byte(got.stdout)) {
			t.Errorf("%s is not JSON", c.name)
		}
		if text := strings.ReplaceAll(got.stdout+got.stderr, "\n", ""); printable(text) != text {
			t.Errorf("%s steers a terminal: %q", c.args, got.stdout)
		}
	}
}

func TestTheHelpOfAVerbAboutMailNamesEveryMemberOfItsJSON(t *testing.T) {
	for _, c := range workLines() {
		if !strings.HasSuffix(c.name, ".json") {
			continue
		}
		data, err := os.ReadFile(filepath.Join("testdata", c.name+".golden"))
		must(t, err)
		var value any
		must(t, json.Unmarshal(data, &value))
		verb := strings.Fields(c.args)[:2]
		help := runCommand(t, "", append(verb, "--help")...).stdout
		for _, name := range memberNames(value) {
			if !strings.Contains(help, `"`+name+`"`) {
				t.Errorf("the help of %v does not name %q", verb, name)
			}
		}
	}
}

func TestWhatAMessageSaysIsShownOnlyOnRequestAndNeverAgainstItsLabels(t *testing.T) {
	t.Setenv("PARLEY_DB", workStore(t))
	for _, c := range []struct {
		args  string
		shown bool
	}{
		{"inbox peek " + messageOpen, false},
		{"inbox peek --content " + messageOpen, true},
		{"inbox peek --content " + messageSettled, false},
		{"dlq show " + messageDead, false},
		{"dlq show --content " + messageDead, true},
		{"dlq show --content " + messagePoison, false},
		{"dlq show --content --digest " + (envelope.Digest{1}).String() + " " + messageForged, true},
		{"conversation show --owner planner " + conversation1, false},
		{"inbox ls", false}, {"outbox ls", false}, {"dlq ls", false}, {"command ls", false},
	} {
		for _, format := range formats() {
			got := runCommand(t, "", strings.Fields(c.args+" -o "+format)...)
			if got.code != exitOK || strings.Contains(got.stdout, "AY121") != c.shown {
				t.Errorf("%s -o %s: %+v", c.args, format, got)
			}
			if strings.Contains(got.stdout, `salt`) {
				t.Errorf("%s -o %s gives the salt away", c.args, format)
			}
		}
	}
}

func TestAnEnvelopeOfALogHasNoContentThatItsLabelsKeepBack(t *testing.T) {
	path := workStore(t)
	var out struct{ Logs []log }
	got := runCommand(t, "", "conversation", "show", "--envelopes", "--owner", "flights", "-o", "json", "--db", path, conversation1)
	must(t, json.Unmarshal([]byte(got.stdout), &out))
	shown := map[string]bool{}
	for _, e := range out.Logs[0].Entries {
		shown[e.MessageID] = strings.Contains(string(e.Envelope), "AY121") && strings.Contains(string(e.Envelope), "salt")
		if len(e.Envelope) == 0 {
			t.Errorf("%s has no envelope", e.MessageID)
		}
	}
	if !shown[messageOpen] || shown[messageSettled] || len(shown) != 3 {
		t.Errorf("the contents shown are %v", shown)
	}
	for _, stored := range []string{"", "{", `{"labels":7}`} {
		if got := permitted([]byte(stored)); got != nil {
			t.Errorf("%q is shown as %s", stored, got)
		}
	}
}

func TestMistakesAboutMailHaveTheirExitCodes(t *testing.T) {
	path := workStore(t)
	newer := tampered(t, path, "INSERT INTO identity (owner) VALUES ('o')")
	execute(t, newer, "PRAGMA user_version = 999")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"inbox", exitOK, ""},
		{"inbox draw", exitUsage, `there is no "draw"`},
		{"inbox ls --limit 0", exitUsage, "limit 0"},
		{"outbox ls --limit -1", exitUsage, "limit -1"},
		{"dlq ls --limit 0", exitUsage, "limit 0"},
		{"command ls --limit 0", exitUsage, "limit 0"},
		{"inbox ls --owner Not~A~Name", exitUsage, "Not~A~Name"},
		{"outbox ls --owner Not~A~Name", exitUsage, "Not~A~Name"},
		{"dlq ls --owner Not~A~Name", exitUsage, "Not~A~Name"},
		{"command ls --owner Not~A~Name", exitUsage, "Not~A~Name"},
		{"inbox ls -o yaml", exitUsage, "table, json or jsonl"},
		{"inbox peek", exitUsage, "no argument: want parley inbox peek ID"},
		{"outbox ls --status late", exitUsage, "pending, delivered, returned, dropped or dead"},
		{"dlq show --source sea " + messageDead, exitUsage, "outbox, inbox or quarantine"},
		{"inbox peek " + messageTwice, exitUsage, "stands in 2 places"},
		{"dlq show " + messageForged, exitUsage, "--digest"},
		{"outbox retry --timeout 0s " + messagePending, exitUsage, "timeout 0s"},
		{"outbox retry --no-wait --dry-run " + messagePending, exitUsage, "no-wait"},
		{"dlq drop " + messageDead, exitUsage, "use --yes"},
		{"dlq requeue " + messageDead, exitUsage, "use --yes"},

		{"inbox peek nowhere", exitNotFound, "nowhere"},
		{"inbox peek " + messageOpen[:35], exitNotFound, "not found"},
		{"inbox peek --owner flights --peer agent://acme/hotels " + messageOpen, exitNotFound, "not found"},
		{"outbox retry nowhere", exitNotFound, "nowhere"},
		{"dlq show nowhere", exitNotFound, "nowhere"},
		{"dlq show --source inbox " + messageDead, exitNotFound, messageDead},
		{"dlq requeue --yes nowhere", exitNotFound, "nowhere"},
		{"dlq drop --yes --owner hotels " + messageDead, exitNotFound, messageDead},
		{"command show nowhere", exitNotFound, "nowhere"},
		{"conversation cancel nowhere", exitNotFound, "nowhere"},
		{"conversation cancel --peer flights " + conversation2, exitNotFound, flights},
		{"conversation cancel --owner agent://acme/hotels " + conversation2, exitNotFound, conversation2},

		{"outbox retry " + messageDone, exitFailed, "it was delivered"},
		{"outbox retry " + messageDead, exitFailed, "parley dlq requeue"},
		{"conversation cancel " + conversation1, exitFailed, "has ended"},
		{"conversation cancel --owner flights " + conversation1, exitFailed, "has ended"},
	} {
		got := runCommand(t, "", append(strings.Fields(c.args), databaseFlag(c.args, path)...)...)
		if got.code != c.code || !strings.Contains(got.stderr, c.want) || c.code != exitOK && got.stdout != "" {
			t.Errorf("%s: %+v", c.args, got)
		}
	}
	for _, c := range []struct {
		path string
		code int
		want string
	}{
		{path + ".missing", exitNotFound, "no such file"},
		{filepath.Join(path+".d", "x.db"), exitNotFound, "no such file"},
		{newer, exitFailed, "use a newer program"},
	} {
		for _, verb := range []string{"inbox ls", "inbox peek x", "outbox ls", "outbox retry x", "dlq ls", "dlq show x", "dlq requeue --yes x",
			"dlq drop --yes x", "command ls", "command show x", "conversation cancel x", "conversation watch x"} {
			got := runCommand(t, "", append(strings.Fields(verb), "--db", c.path)...)
			if got.code != c.code || !strings.Contains(got.stderr, c.want) || got.stdout != "" {
				t.Errorf("%s of %s: %+v", verb, c.path, got)
			}
		}
	}
	if found, err := filepath.Glob(path + ".*"); err != nil || len(found) > 1 { // its lock
		t.Errorf("looking made %v (%v)", found, err)
	}
}

// databaseFlag names the store to verbs that have one.
func databaseFlag(args, path string) []string {
	if len(strings.Fields(args)) < 2 || strings.Contains(args, "draw") {
		return nil
	}
	return []string{"--db", path}
}

func TestAShellIsOfferedTheMailOfTheStore(t *testing.T) {
	path := workStore(t)
	for args, want := range map[string]string{
		"inbox peek --db " + path:          messageOpen + "\t",
		"outbox retry --db " + path:        messagePending + "\t",
		"dlq show --db " + path:            messagePoison + "\t",
		"dlq requeue --db " + path:         messageDead + "\t",
		"conversation cancel --db " + path: conversation2 + "\t",
		"outbox ls --status":               "delivered",
		"dlq drop --source":                "quarantine",
	} {
		got := runCommand(t, "", append([]string{"__complete"}, append(strings.Fields(args), "")...)...)
		if !strings.Contains(got.stdout, want) || strings.Contains(got.stdout, messageDone) {
			t.Errorf("%s: %+v", args, got)
		}
	}
}
