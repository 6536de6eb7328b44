package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-agents/parley/a2a"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
)

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
	}{
		{nil, 0},
		{errors.New("something else"), 1},
		{errUnwell, 1},
		{store.ErrInUse, 1},
		{&llm.Error{Kind: llm.ErrorBadRequest}, 1},
		{&usageError{fs.ErrNotExist}, 2},
		{&a2a.AddressError{Err: errors.New("no host")}, 2},
		{store.ErrNotFound, 3},
		{fs.ErrNotExist, 3},
		{&violationError{"x"}, 4},
		{&schema.Invalid{}, 4},
		{&envelope.ShapeError{}, 4},
		{context.DeadlineExceeded, 5},
		{&timeoutError{"x"}, 5},
		{&llm.Error{Kind: llm.ErrorUnavailable, Err: context.DeadlineExceeded}, 5},
		{fs.ErrPermission, 6},
		{&llm.Error{Kind: llm.ErrorUnauthorized}, 6},
		{&llm.Error{Kind: llm.ErrorUnavailable}, 7},
		{&llm.Error{Kind: llm.ErrorRateLimit}, 7},
		{&sqlite.DamagedError{Report: sqlite.Report{Findings: []sqlite.Finding{{}}}}, 8},
		{context.Canceled, 130},
	} {
		err := c.err
		if err != nil {
			err = fmt.Errorf("doing it: %w", err)
		}
		var stderr bytes.Buffer
		if got := report(&stderr, err); got != c.code {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.code)
		}
		if (stderr.Len() > 0) != (c.code != 0) {
			t.Errorf("%v: said %q", c.err, stderr.String())
		}
	}
}

func TestEachExitCodeStandsOnceInTheTable(t *testing.T) {
	seen := map[int]bool{}
	for _, row := range exits() {
		if seen[row.code] {
			t.Errorf("%d stands twice", row.code)
		}
		seen[row.code] = true
	}
	for _, code := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 130} {
		if !seen[code] {
			t.Errorf("%d is missing", code)
		}
	}
}

func TestMistakesInTheArgumentsExitWithTwoAndPrintNoData(t *testing.T) {
	weather := filepath.Join("testdata", "weather.json")
	for _, args := range [][]string{
		{"order"}, {"--colour"}, {"version", "now"}, {"version", "-o", "yaml"}, {"version", "--db", "x"},
		{"schema", "draw"}, {"schema", "show"}, {"schema", "show", "a", "b"}, {"conversation", "wave"}, {"conversation", "show"},
		{"conversation", "ls", "--limit", "few"}, {"conversation", "ls", "--limit", "0"}, {"conversation", "ls", "--owner", "Not A Name"},
		{"backup"}, {"restore"}, {"restore", "a", "b"}, {"store", "draw"}, {"store", "check", "x"}, {"store", "compact", "x"},
		{"conversation", "watch"}, {"conversation", "watch", "x", "-o", "json"}, {"conversation", "watch", "x", "--timeout", "-1s"},
		{"repair"}, {"repair", "--schema", "nowhere.json"}, {"repair", "--schema", "main.go"}, {"repair", "--schema", weather, "text"},
		{"repair", "--schema", weather, "--finish-reason", "done"}, {"repair", "--schema", t.TempDir()}, {"completion", "bash", "x"},
		{"trace", "check"}, {"trace", "validate"}, {"trace", "validate", "a", "b"}, {"trace", "validate", "nowhere.json"},
		{"trace", "validate", "main.go"}, {"trace", "validate", t.TempDir()},
	} {
		got := runCommand(t, "{}", args...)
		if got.code != exitUsage || got.stdout != "" || !strings.HasPrefix(got.stderr, "parley: ") || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

func TestWhatIsNotThereExitsWithThree(t *testing.T) {
	path := filledStore(t)
	missing := filepath.Join(t.TempDir(), "missing.db")
	for _, args := range [][]string{
		{"schema", "show", "parley.nothing/v1"},
		{"conversation", "show", "--db", path, "nowhere"},
		{"conversation", "show", "--db", path, "--owner", "hotels", conversation1},
		{"conversation", "watch", "--db", path, "nowhere"},
		{"conversation", "ls", "--db", missing},
		{"conversation", "show", "--db", missing, conversation1},
	} {
		if got := runCommand(t, "", args...); got.code != exitNotFound || got.stdout != "" || got.stderr == "" {
			t.Errorf("%v: %+v", args, got)
		}
	}
	if found, err := filepath.Glob(filepath.Join(filepath.Dir(missing), "*")); err != nil || len(found) > 0 {
		t.Errorf("looking made %v (%v)", found, err)
	}
}

func TestAnInterruptEndsAReadOfATerminal(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	p := process{stdin: never{}, stdout: &stdout, stderr: &stderr}
	if code := p.run(ctx, []string{"repair", "--schema", filepath.Join("testdata", "weather.json")}); code != exitInterrupted || stdout.Len() > 0 {
		t.Errorf("exit code %d, %q", code, stdout.String())
	}
}
