package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed verdicts.py
var verdicts string

// marks are those of the kit's own configuration, which asks for a newer pytest
// than its tests need.
const marks = `[pytest]
markers =
    core
    must
    should
    may
    grpc
    jsonrpc
    http_json
    streaming
    integration
`

// runKit runs the kit in the folder against one agent after the other.
func runKit(ctx context.Context, out io.Writer, folder, python string) (*report, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	commit, err := output(ctx, folder, "git", "log", "-1", "--format=%H %cs")
	if err != nil {
		return nil, fmt.Errorf("the kit in %s is no git work tree: %w", folder, err)
	}
	hash, date, _ := strings.Cut(strings.TrimSpace(commit), " ")
	r := &report{Kit: kit{Repository: "https://github.com/a2aproject/a2a-tck", Commit: hash, Date: date}}
	dir, err := os.MkdirTemp("", "parley-tck")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "sut")
	if _, err := output(ctx, "", "go", "build", "-o", program, "./a2a/internal/sut"); err != nil {
		return nil, err
	}
	try := func(name, what string, args ...string) ([]result, error) {
		fmt.Fprintf(out, "== %s\n", what)
		s, err := startSUT(ctx, program, filepath.Join(dir, name+".db"), args...)
		if err != nil {
			return nil, err
		}
		results, err := pytest(ctx, out, folder, python, dir, s.url)
		return results, errors.Join(err, s.stop())
	}
	all, err := try("all", "an agent that offers all there is", "-offers", "all")
	if err != nil {
		return nil, err
	}
	least, err := try("least", "an agent that offers the least", "-offers", "least")
	if err != nil {
		return nil, err
	}
	strict, err := try("strict", "an agent that requires an extension", "-offers", "strict")
	if err != nil {
		return nil, err
	}
	kept, err := try("kept", "all there is, and the kit's own message ids", "-offers", "all", "-ids", "kept")
	if err != nil {
		return nil, err
	}
	r.Runs = []kitRun{{Offers: "all", Results: all}, {Offers: "least", Results: only(least, all)}, {Offers: "strict"}}
	r.Runs[2].Results = only(strict, r.final())
	t := tally(kept)
	r.Kept = &t
	return r, nil
}

// only is what of a run counts after others: what it tried and they skipped.
func only(run, others []result) []result {
	open := map[string]bool{}
	for _, r := range others {
		open[r.Test] = r.Verdict == skipped
	}
	var kept []result
	for _, r := range run {
		if r.Verdict != skipped && open[r.Test] {
			kept = append(kept, r)
		}
	}
	return kept
}

// pytest runs the kit's tests against the agent at url. That some fail is no
// error here.
func pytest(ctx context.Context, out io.Writer, folder, python, dir, url string) ([]result, error) {
	for name, text := range map[string]string{"verdicts.py": verdicts, "kit.ini": marks} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	lines := filepath.Join(dir, "verdicts.jsonl")
	if err := os.Remove(lines); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, python, "-m", "pytest", "-c", filepath.Join(dir, "kit.ini"), "--rootdir", folder,
		"-p", "verdicts", "-p", "no:cacheprovider", "-q", "--tb=no", "tests/compatibility", "--sut-host", url)
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, out, out
	cmd.Env = append(os.Environ(), "PYTHONPATH="+dir, "PYTHONDONTWRITEBYTECODE=1", "VERDICTS="+lines)
	if err := cmd.Run(); err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	} else if failing, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || failing.ExitCode() != 1) {
		return nil, fmt.Errorf("running the kit with %s: %w", python, err)
	}
	b, err := os.ReadFile(lines)
	if err != nil {
		return nil, err
	}
	return parse(b)
}

// output runs a program in dir and returns what it printed.
func output(ctx context.Context, dir, program string, args ...string) (string, error) {
	var complaints strings.Builder
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Stderr = dir, &complaints
	b, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", program, err, complaints.String())
	}
	return string(b), nil
}
