package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

// counted is a number that differs from one run, or one version, to the next.
var counted = regexp.MustCompile(`((?:"bytes"|"freed_bytes"|"generation"): |whole\.db(?:\.\d)? +)-?\d+`)

// hostStore is a store that a host has written and no longer has open.
func hostStore(t *testing.T) (path, conversation string) {
	t.Helper()
	s := speak(t)
	whole := filepath.Join(t.TempDir(), "whole.db")
	must(t, sqlite.Backup(t.Context(), s.here, whole))
	return whole, s.request
}

func TestTheVerbsAboutWholeStoresPrintTheirGoldenOutput(t *testing.T) {
	path, conversation := hostStore(t)
	broken := tampered(t, path, "UPDATE log SET reason = ? WHERE conversation = ? AND idx = 2", hostileWords, conversation)
	home, err := os.Getwd()
	must(t, err)
	must(t, os.Rename(broken, filepath.Join(filepath.Dir(path), "broken.db")))
	t.Chdir(filepath.Dir(path)) // so that no column is as wide as the name of a folder
	path, broken = filepath.Base(path), "broken.db"
	printedBy := map[string]string{}
	for _, c := range []struct {
		name, args string
		code       int
	}{
		{"store-check", "store check --db " + path, exitOK},
		{"store-check.json", "store check -o json --db " + path, exitOK},
		{"store-check-broken", "store check --db " + broken, exitDiverged},
		{"store-check-broken.json", "store check -o json --db " + broken, exitDiverged},
		{"store-compact", "store compact --db " + path, exitOK},
		{"store-compact.json", "store compact -o json --db " + path, exitOK},
		{"backup", "backup --db " + path + " " + path + ".1", exitOK},
		{"backup.json", "backup -o json --db " + path + " " + path + ".2", exitOK},
		{"restore", "restore --db " + path + ".3 " + path + ".1", exitOK},
		{"restore.json", "restore -o json --db " + path + ".4 " + path + ".1", exitOK},
		{"restore-broken", "restore --db " + path + ".5 " + broken, exitDiverged},
	} {
		got := runCommand(t, "", strings.Fields(c.args)...)
		if got.code != c.code || (got.stderr != "") != (c.code != exitOK) {
			t.Errorf("%s: %+v", c.args, got)
		}
		printedBy[c.name] = renamed(counted.ReplaceAllString(got.stdout, "${1}N"))
		if strings.HasSuffix(c.name, ".json") {
			var value any
			must(t, json.Unmarshal([]byte(got.stdout), &value))
			words := strings.Fields(c.args)
			verb := words[:1]
			if words[0] == "store" {
				verb = words[:2]
			}
			help := runCommand(t, "", append(verb, "--help")...).stdout
			for _, name := range memberNames(value) {
				if !strings.Contains(help, `"`+name+`"`) {
					t.Errorf("the help of %v does not name %q", verb, name)
				}
			}
		}
		if text := strings.ReplaceAll(got.stdout+got.stderr, "\n", ""); printable(text) != text {
			t.Errorf("%s steers a terminal", c.args)
		}
	}
	if _, err := os.Stat(path + ".5"); !os.IsNotExist(err) {
		t.Errorf("a damaged backup was restored (%v)", err)
	}
	t.Chdir(home)
	for name, text := range printedBy {
		wantGolden(t, name, text)
	}
}

func TestAStoreThatWasCutOffIsDamagedToEveryVerbThatChecksOne(t *testing.T) {
	withoutModel(t)
	path, _ := hostStore(t)
	must(t, os.Truncate(path, 20_000))
	for args, code := range map[string]int{
		"store check --db " + path:                   exitDiverged,
		"restore --db " + path + ".restored " + path: exitDiverged,
		"doctor --deep --db " + path:                 exitFailed,
	} {
		if got := runCommand(t, "", strings.Fields(args)...); got.code != code || strings.Count(got.stdout+got.stderr, "malformed") == 0 {
			t.Errorf("%s: %+v, want exit code %d", args, got, code)
		}
	}
	_, got := diagnosed(t, "--db", path)
	if strings.Count(got.stdout, "malformed") != 1 {
		t.Errorf("doctor does not say once what is wrong: %s", got.stdout)
	}
}

func TestARestoredStoreHasWhatTheBackupHadAndAGenerationOfItsOwn(t *testing.T) {
	path, _ := hostStore(t)
	must(t, sqlite.Post(t.Context(), path, store.Command{ID: command1, Verb: store.VerbRetry, Owner: planner, MessageID: messageOpen, At: noon}))
	backup, restoredTo := path+".backup", path+".restored"
	for _, line := range []string{"backup --db " + path + " " + backup, "restore -o json --db " + restoredTo + " " + backup} {
		got := runCommand(t, "", strings.Fields(line)...)
		if got.code != exitOK {
			t.Fatalf("%s: %+v", line, got)
		}
		if strings.HasPrefix(line, "restore") && !strings.Contains(got.stdout, strconv.FormatInt(noon.UnixMilli(), 10)) {
			t.Errorf("%+v", got)
		}
	}
	for _, verb := range []string{"dlq ls", "inbox ls", "outbox ls", "command ls", "conversation ls"} {
		was := runCommand(t, "", append(strings.Fields(verb), "-o", "json", "--db", path)...)
		if is := runCommand(t, "", append(strings.Fields(verb), "-o", "json", "--db", restoredTo)...); is != was || is.code != exitOK {
			t.Errorf("%s was %+v and is %+v", verb, was, is)
		}
	}
	info, err := os.Stat(backup)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others can read the backup: %v (%v)", info.Mode(), err)
	}
}

func TestMistakesAboutWholeStoresHaveTheirExitCodes(t *testing.T) {
	path := workStore(t)
	other := filepath.Join(t.TempDir(), "other.txt")
	must(t, os.WriteFile(other, make([]byte, 4096), 0o600))
	newer := tampered(t, path, "DELETE FROM command")
	execute(t, newer, "PRAGMA user_version = 999")
	missing := path + ".missing"
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"backup --db " + missing + " " + path + ".b", exitNotFound, "no such file"},
		{"backup --db " + path + " " + other, exitFailed, "exists"},
		{"backup --db " + path + " " + filepath.Join(missing, "b"), exitNotFound, "no such file"},
		{"backup --db " + other + " " + path + ".b", exitFailed, other},
		{"restore --db " + missing + " " + missing + ".b", exitNotFound, "no such file"},
		{"restore --db " + path + " " + path, exitFailed, "exists"},
		{"restore --db " + missing + " " + other, exitFailed, other},
		{"restore --db " + missing + " " + newer, exitFailed, "use a newer program"},
		{"store check --db " + missing, exitNotFound, "no such file"},
		{"store check --db " + other, exitFailed, other},
		{"store check --db " + newer, exitFailed, "use a newer program"},
		{"store compact --db " + missing, exitNotFound, "no such file"},
		{"store compact --db " + newer, exitFailed, "use a newer program"},
	} {
		got := runCommand(t, "", strings.Fields(c.args)...)
		if got.code != c.code || !strings.Contains(got.stderr, c.want) || got.stdout != "" {
			t.Errorf("%s: %+v", c.args, got)
		}
	}
	for _, made := range []string{missing, path + ".b"} {
		if _, err := os.Stat(made); !os.IsNotExist(err) {
			t.Errorf("%s is there (%v)", made, err)
		}
	}
}

func TestAStoreInUseIsBackedUpAndCheckedButNotCompacted(t *testing.T) {
	path := workStore(t)
	s, err := sqlite.Open(t.Context(), path)
	must(t, err)
	if got := runCommand(t, "", "store", "compact", "--db", path); got.code != exitFailed || !strings.Contains(got.stderr, "in use by another host") || got.stdout != "" {
		t.Errorf("%+v", got)
	}
	if got := runCommand(t, "", "backup", "--db", path, path+".backup"); got.code != exitOK {
		t.Errorf("%+v", got)
	}
	if got := runCommand(t, "", "store", "check", "-o", "json", "--db", path); got.code == exitFailed || !strings.Contains(got.stdout, `"entries"`) {
		t.Errorf("%+v", got)
	}
	must(t, s.Close())
	if got := runCommand(t, "", "store", "compact", "--db", path); got.code != exitOK {
		t.Errorf("%+v", got)
	}
}

func TestDoctorReadsTheWholeStoreWhenAsked(t *testing.T) {
	withoutModel(t)
	path, conversation := hostStore(t)
	must(t, os.Chtimes(path, noon, noon))
	broken := tampered(t, path, "DELETE FROM log WHERE conversation = ? AND idx = 2", conversation)
	must(t, os.Chtimes(broken, noon, noon))
	for _, c := range []struct {
		args         []string
		status, code any
	}{
		{[]string{"--db", path}, "", exitOK},
		{[]string{"--db", path, "--deep"}, statusOK, exitOK},
		{[]string{"--db", broken, "--deep"}, statusFail, exitFailed},
		{[]string{"--db", broken}, "", exitOK},
		{[]string{"--db", path + ".missing", "--deep"}, statusFail, exitFailed},
	} {
		status, got := diagnosed(t, c.args...)
		if status["store.integrity"] != c.status || got.code != c.code {
			t.Errorf("%v: %+v", c.args, got)
		}
	}
}
