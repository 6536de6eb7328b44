package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-agents/parley/transcript"
)

func TestTheVerdictOnATraceIsItsExitCode(t *testing.T) {
	valid, err := os.ReadFile(filepath.Join("testdata", "trace.json"))
	must(t, err)
	for name, c := range map[string]struct {
		text string
		code int
	}{
		"valid":           {string(valid), exitOK},
		"faulty":          {strings.Replace(string(valid), "COMPLETED", "DONE", 1), exitFailed},
		"null":            {"null", exitFailed},
		"list":            {"[]", exitFailed},
		"empty":           {"", exitUsage},
		"cut":             {string(valid[:len(valid)/2]), exitUsage},
		"two documents":   {string(valid) + string(valid), exitUsage},
		"byte order mark": {"\ufeff" + string(valid), exitUsage},
		"too large":       {strings.Repeat(" ", traceLimit) + string(valid), exitUsage},
	} {
		path := filepath.Join(t.TempDir(), "trace.json")
		must(t, os.WriteFile(path, []byte(c.text), 0o600))
		got := runCommand(t, "", "trace", "validate", "-o", "json", path)
		if got.code != c.code || (got.stdout == "") != (c.code == exitUsage) || (got.stderr == "") != (c.code == exitOK) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestSharedTracesComeOutOfTheCommandAsExpected(t *testing.T) {
	dir := filepath.Join(cmp.Or(os.Getenv("PARLEY_SHARED"), filepath.Join("..", "..", "..", "shared")), "cases", "trace")
	index, err := os.ReadFile(filepath.Join(dir, "index.jsonl"))
	if err != nil {
		t.Skip("no shared cases here")
	}
	for line := range bytes.Lines(index) {
		var c struct {
			File, Verdict string
			Codes         []transcript.Code
		}
		must(t, json.Unmarshal(line, &c))
		got := runCommand(t, "", "trace", "validate", "-o", "json", filepath.Join(dir, c.File))
		var out transcript.Verdict
		if got.stdout != "" {
			must(t, json.Unmarshal([]byte(got.stdout), &out))
		}
		codes := []transcript.Code{}
		for _, f := range out.Errors {
			codes = append(codes, f.Code)
		}
		codes = slices.Compact(codes) // sorted already
		switch c.Verdict {
		case "error": // not JSON, or a fault of the wrong type
			if got.code != exitUsage && !slices.Equal(codes, []transcript.Code{transcript.CodeType}) {
				t.Errorf("%s: %+v", c.File, got)
			}
		default:
			code := map[string]int{"valid": exitOK, "invalid": exitFailed}[c.Verdict]
			if got.code != code || out.Valid != (code == exitOK) || !slices.Equal(codes, c.Codes) {
				t.Errorf("%s: %+v, want %v", c.File, got, c.Codes)
			}
		}
	}
}
