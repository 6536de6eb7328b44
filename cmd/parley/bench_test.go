package main

import (
	"strings"
	"testing"

	"github.com/parley-agents/parley/internal/measure"
)

func TestBenchNamesItsBenchmarksAndRefusesOthers(t *testing.T) {
	help := runCommand(t, "", "bench", "--help").stdout
	offered := runCommand(t, "", "__complete", "bench", "").stdout
	got := runCommand(t, "", "bench", "nothing")
	for _, b := range (measure.Config{}).Benchmarks() {
		if !strings.Contains(help, b.Name) || !strings.Contains(got.stderr, b.Name) || !strings.Contains(offered, b.Name) {
			t.Errorf("%s is not named", b.Name)
		}
	}
	if got.code != exitUsage || got.stdout != "" {
		t.Errorf("%+v", got)
	}
}

func TestBenchFailsWhereNoStoreCanBeMade(t *testing.T) {
	name := (measure.Config{}).Benchmarks()[0].Name
	if got := runCommand(t, "", "bench", "--quick", "--dir", t.TempDir()+"/missing", name); got.code == exitOK || got.stderr == "" {
		t.Errorf("%+v", got)
	}
}
