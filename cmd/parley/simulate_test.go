package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-agents/parley/agent/simulate"
)

func TestSimulatePrintsWhatItFound(t *testing.T) {
	got := runCommand(t, "", strings.Fields("simulate --worlds 5 --seed 3 -o json")...)
	if got.code != exitOK || got.stderr != "" {
		t.Fatalf("exit code %d: %s", got.code, got.stderr)
	}
	var r simulate.Result
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal([]byte(got.stdout), &members); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"worlds", "seconds", "terminals", "violations", "effects_over_once", "unfinished", "digest_mismatches", "result_digest", "failures"} {
		if _, ok := members[name]; !ok {
			t.Errorf("there is no %q in %s", name, got.stdout)
		}
	}
	if r.Worlds != 5 || len(r.Violations) != len(simulate.Properties()) || r.Accidents == 0 || len(r.Digest) != 64 {
		t.Errorf("%+v", r)
	}
	again := runCommand(t, "", strings.Fields("simulate --worlds 5 --seed 3")...)
	if !strings.Contains(again.stdout, r.Digest) {
		t.Errorf("the table has another digest than %s:\n%s", r.Digest, again.stdout)
	}
}

func TestSimulateWritesTheTracesOfABrokenWorldAndSaysHowToPlayItAgain(t *testing.T) {
	dir := t.TempDir()
	got := runCommand(t, "", "simulate", "--worlds", "60", "--no-ledger", "--export", dir, "-o", "json")
	var r simulate.Result
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
		t.Fatal(err)
	}
	if got.code != exitViolation || r.EffectsOverOnce == 0 || len(r.Failures) == 0 || !strings.Contains(got.stderr, "play it again with --worlds 1 --seed") {
		t.Fatalf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	for _, f := range files {
		if valid := runCommand(t, "", "trace", "validate", f); valid.code != exitOK {
			data, _ := os.ReadFile(f)
			t.Errorf("%s is not valid: %s\n%s", f, valid.stderr, data)
		}
	}
	f := r.Failures[0]
	again := runCommand(t, "", "simulate", "--worlds", "1", "--no-ledger", "--seed", jsonText(t, f.Seed), "--only", joined(f.Faults), "-o", "json")
	if again.code != exitViolation {
		t.Errorf("world %d with %v: exit code %d", f.Seed, f.Faults, again.code)
	}
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestMistakesAboutASimulationAreUsage(t *testing.T) {
	for args, want := range map[string]string{
		"--faults plague":     "plague",
		"--protocol chess/v1": "request/v1",
		"--worlds 0":          "at least 1",
		"--only plague":       "names no accident",
		"extra":               `"extra": want parley simulate`,
	} {
		got := runCommand(t, "", append([]string{"simulate"}, strings.Fields(args)...)...)
		if got.code != exitUsage || !strings.Contains(got.stderr, want) {
			t.Errorf("simulate %s: exit code %d: %s, want %q", args, got.code, got.stderr, want)
		}
	}
}
