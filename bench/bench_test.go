package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/internal/measure"
)

// A server that is measured is this program again, also in a test.
func TestMain(m *testing.M) {
	if kind := os.Getenv(serveKind); kind != "" {
		if err := serve(context.Background(), kind, os.Getenv(serveFolder), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestServersAreMeasuredFromEndToEnd(t *testing.T) {
	for name, want := range map[string]string{
		"a2a-send":   `(?s)64 callers  bare .*\nGATE a2a-send-cpu-16 \d+\.\d\d 0\.33 (PASS|FAIL)\nGATE a2a-send-cpu-64 \d+\.\d\d 0\.33 (PASS|FAIL)\n$`,
		"a2a-stream": `(?s)   32 chunks .*a2a-go .*\nGATE a2a-stream-32-to-2 \d+\.\d\d 20\.00 (PASS|FAIL)\n$`,
		"a2a-cards":  `not modified .* requests/s`,
	} {
		t.Run(name, func(t *testing.T) {
			p, err := read(&strings.Builder{}, []string{"-dir", t.TempDir(), name})
			if err != nil {
				t.Fatal(err)
			}
			p.config.Scale = measure.Scale{Callers: 4, Rounds: 2, Window: 10 * time.Millisecond, Chunks: []int{2, 32}}
			var out strings.Builder
			if _, err := p.run(t.Context(), &out); err != nil {
				t.Fatal(err)
			}
			if !regexp.MustCompile(want).MatchString(out.String()) || strings.Contains(out.String(), "NaN") {
				t.Errorf("found\n%s", out.String())
			}
		})
	}
}

func TestAServerThatCannotStartIsAFailure(t *testing.T) {
	if _, err := start(t.Context(), "nothing", t.TempDir()); err == nil || !strings.Contains(err.Error(), "start the nothing server") {
		t.Error(err)
	}
}

func TestTheComparisonWithGoqiteRunsFromEndToEnd(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "cpu")
	p, err := read(&strings.Builder{}, []string{"-dir", t.TempDir(), "-cpuprofile", profile, "store-vs-goqite"})
	if err != nil {
		t.Fatal(err)
	}
	p.config.Scale = measure.Scale{Callers: 4, Rounds: 2, Window: 10 * time.Millisecond}
	var out strings.Builder
	ok, err := p.run(t.Context(), &out)
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`\nparley  \[[1-9]\d* [1-9]\d*\] messages/s\ngoqite  \[[1-9]\d* [1-9]\d*\] messages/s\nGATE store-vs-goqite \d+\.\d\d 4\.00 (PASS|FAIL)\n$`)
	found := want.FindStringSubmatch(out.String())
	if found == nil || ok != (found[1] == "PASS") {
		t.Errorf("ok is %v after\n%s", ok, out.String())
	}
	if info, err := os.Stat(profile); err != nil || info.Size() == 0 {
		t.Errorf("the profile: %v, %v", info, err)
	}
}

func TestGoqiteIsAsDurableAsTheStore(t *testing.T) {
	db, err := openQueue(t.Context(), filepath.Join(t.TempDir(), "goqite.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var mode, synchronous string
	if err := db.QueryRow("PRAGMA journal_mode").Scan(&mode); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRow("PRAGMA synchronous").Scan(&synchronous); err != nil {
		t.Fatal(err)
	}
	if mode != "wal" || synchronous != "2" || db.Stats().MaxOpenConnections != 1 {
		t.Errorf("journal mode %s, synchronous %s, %d connections", mode, synchronous, db.Stats().MaxOpenConnections)
	}
}

func TestTheArgumentsSayWhatIsMeasuredAndHowMuch(t *testing.T) {
	p, err := read(&strings.Builder{}, []string{"growth", "wal-size"})
	if err != nil || p.config.Scale.Stored[2] != measure.Full().Stored[2] || strings.Join(p.names, " ") != "growth wal-size" {
		t.Errorf("%+v, %v", p, err)
	}
	p, err = read(&strings.Builder{}, []string{"-quick", "-dir", "here"})
	if err != nil || len(p.config.Scale.Stored) != 2 || len(p.names) != 0 || p.config.Dir != "here" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestTheHelpNamesEveryBenchmarkAndIsNoFailure(t *testing.T) {
	var out strings.Builder
	ok, err := run(t.Context(), &out, []string{"-h"})
	if !ok || !errors.Is(err, flag.ErrHelp) {
		t.Error(ok, err)
	}
	for _, b := range (measure.Config{Also: []measure.Benchmark{versusGoqite, sends, streams, cards}}).Benchmarks() {
		if !strings.Contains(out.String(), "  "+b.Name+" ") {
			t.Errorf("the help does not name %s:\n%s", b.Name, out.String())
		}
	}
}

func TestAWrongArgumentIsAFailure(t *testing.T) {
	for _, args := range [][]string{{"-slow"}, {"speed"}, {"-cpuprofile", filepath.Join("no", "such", "folder"), "growth"}, {"-dir", "no/such/folder", "growth"}} {
		if ok, err := run(t.Context(), &strings.Builder{}, args); ok || err == nil {
			t.Errorf("%v: %v, %v", args, ok, err)
		}
	}
}
