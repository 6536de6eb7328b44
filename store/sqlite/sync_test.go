package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/parley-agents/parley/store/sqlite"
)

// synced tells a child process which batches to serve: path, batches, sets of
// each, and whether it syncs less than a store does.
const synced = "PARLEY_TEST_SYNCED"

// serveSynced is what the child does. It writes a line after each batch.
func serveSynced(order string) error {
	var (
		path          string
		batches, sets int
		loose         bool
	)
	if _, err := fmt.Sscanf(order, "%q %d %d %t", &path, &batches, &sets, &loose); err != nil {
		return err
	}
	return sqlite.ServeBatches(context.Background(), path, batches, sets, loose, func(n int) { fmt.Println("served", n) })
}

// untraced ends a test that could not look at what a process asks of the
// system. Where every change is checked, that must not pass for a success.
func untraced(t *testing.T, why string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(why, args...)
	}
	t.Skipf(why, args...)
}

// syncs has a child serve batches and returns how many syncs of the
// write-ahead log it had asked for whenever a batch had been answered.
func syncs(t *testing.T, batches, sets int, loose bool) (after []int) {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		untraced(t, "syncs cannot be counted without strace: %v", err)
	}
	folder := t.TempDir()
	trace := filepath.Join(folder, "trace")
	child := exec.CommandContext(t.Context(), strace, "-f", "-y", "-o", trace, "-e", "trace=fsync,fdatasync,write", os.Args[0])
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%q %d %d %t", synced, filepath.Join(folder, "parley.db"), batches, sets, loose))
	if out, err := child.CombinedOutput(); err != nil {
		untraced(t, "syncs cannot be counted, strace ended with %v: %s", err, out)
	}
	file, err := os.Open(trace)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	sync, served := regexp.MustCompile(`(fsync|fdatasync)\(\d+<.*-wal>`), regexp.MustCompile(`write\(1<.*"served `)
	count := 0
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		switch {
		case sync.MatchString(lines.Text()):
			count++
		case served.MatchString(lines.Text()):
			after = append(after, count)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(after) != batches {
		t.Fatalf("the trace shows %d of %d batches", len(after), batches)
	}
	return after
}

// A kill leaves what the system holds in memory, so only a look at the syncs
// themselves tells whether an acknowledgement outlives a loss of power.
func TestCrashEveryBatchIsSyncedBeforeItIsAnswered(t *testing.T) {
	for _, sets := range []int{1, 16} {
		after := syncs(t, 100, sets, false)
		for n, count := range after {
			if count < n+1 {
				t.Fatalf("when batch %d of %d sets was answered, the log had been synced %d times", n+1, sets, count)
			}
		}
		// A little more, for the log is synced too when it starts anew.
		if last := after[99]; last > 120 {
			t.Errorf("100 batches of %d sets took %d syncs", sets, last)
		}
	}
}

func TestCrashTheCountShowsAWriterThatSyncsLess(t *testing.T) {
	if after := syncs(t, 100, 1, true); after[99] >= 100 {
		t.Errorf("a writer with synchronous=NORMAL made %d syncs for 100 batches", after[99])
	}
}
