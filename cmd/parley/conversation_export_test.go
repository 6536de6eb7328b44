package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnExportedFileIsAValidTraceAndWhatIsPrintedWithoutOne(t *testing.T) {
	s := speak(t)
	for _, id := range []string{s.request, s.hostile, s.auction, s.gather} {
		file := filepath.Join(t.TempDir(), "trace.json")
		if got := runCommand(t, "", "conversation", "export", "--db", s.here, "-f", file, id); got != (result{}) {
			t.Fatalf("export of %s: %+v", id, got)
		}
		if got := runCommand(t, "", "trace", "validate", file); got != (result{stdout: "valid\n"}) {
			t.Errorf("%s: %+v", id, got)
		}
		written, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := runCommand(t, "", "conversation", "export", "--db", s.here, id); got != (result{stdout: string(written)}) {
			t.Errorf("%s: the file has\n%s\nand printed is\n%s", id, written, got.stdout)
		}
	}
}

func TestWhatHasNoTraceIsNotExported(t *testing.T) {
	s := speak(t)
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--owner clerk --db " + s.here + " " + s.request, exitFailed, "a participant's log is a partial view"},
		{"--db " + s.there + " " + s.gather, exitFailed, "a participant's log is a partial view"},
		{"--db " + s.here + " " + s.live, exitFailed, "the conversation has not ended"},
	} {
		file := filepath.Join(t.TempDir(), "trace.json")
		got := runCommand(t, "", strings.Fields("conversation export -f "+file+" "+c.args)...)
		if got.code != c.code || !strings.Contains(got.stderr, c.want) || !strings.HasPrefix(got.stderr, "parley: export: conversation ") || got.stdout != "" {
			t.Errorf("%s: %+v", c.args, got)
		}
		if _, err := os.Stat(file); !os.IsNotExist(err) {
			t.Errorf("%s: the file is there (%v)", c.args, err)
		}
	}
}

func TestAFileThatCannotBeWrittenIsAnError(t *testing.T) {
	s := speak(t)
	file := filepath.Join(t.TempDir(), "no", "such", "folder", "trace.json")
	got := runCommand(t, "", "conversation", "export", "--db", s.here, "-f", file, s.request)
	if got.code == exitOK || !strings.Contains(got.stderr, file) || got.stdout != "" {
		t.Errorf("%+v", got)
	}
}
