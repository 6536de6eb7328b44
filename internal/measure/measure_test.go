package measure

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// tiny is enough to see that everything runs, and too little to learn from.
func tiny() Scale {
	return Scale{Callers: 4, Rounds: 2, Window: 10 * time.Millisecond, Stored: []int{20, 300}, Messages: 10, Open: 40, Answered: 3}
}

func TestEveryBenchmarkRunsFromEndToEnd(t *testing.T) {
	dir := t.TempDir()
	c := Config{Scale: tiny(), Dir: dir}
	for name, gates := range map[string][]string{
		"store-vs-own-tx":    {"store-vs-own-tx"},
		"store-vs-ceiling":   {"store-vs-ceiling"},
		"readers-cost":       {"readers-cost"},
		"wal-size":           {"wal-size"},
		"growth":             {"growth-cpu-300-to-20", "growth-time-300-to-20"},
		"open-conversations": {"open-conversations-bytes-each-of-40", "open-conversations-goroutines-of-40"},
	} {
		t.Run(name, func(t *testing.T) {
			if folder, err := memoryFolder(); err == nil {
				defer os.RemoveAll(folder)
			} else if name == "store-vs-ceiling" {
				t.Skip(err)
			}
			var out strings.Builder
			ok, err := c.Measure(t.Context(), &out, []string{name})
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			held := true
			for line := range strings.Lines(out.String()) {
				if fields := strings.Fields(line); len(fields) == 5 && fields[0] == "GATE" {
					found = append(found, fields[1])
					held = held && fields[4] == "PASS"
				}
			}
			if strings.Join(found, " ") != strings.Join(gates, " ") || ok != held {
				t.Errorf("ok is %v after\n%s", ok, out.String())
			}
			if strings.Contains(out.String(), "NaN") {
				t.Errorf("something was not measured:\n%s", out.String())
			}
		})
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v was left behind (%v)", left, err)
	}
}

// fixed is a benchmark that finds the same whenever it is run.
func fixed(name string, err error, gates ...Gate) Benchmark {
	return Benchmark{Name: name, About: "nothing", Measure: func(_ context.Context, r *Run) ([]Gate, error) {
		r.Printf("%s ran", name)
		return gates, err
	}}
}

func TestOneGateThatFailsFailsTheRunAndStopsNothing(t *testing.T) {
	held, failed := Gate{Name: "held", Value: 2, Target: 1}, Gate{Name: "failed", Value: 1, Target: 2}
	c := Config{Scale: tiny(), Dir: t.TempDir(), Also: []Benchmark{fixed("a", nil, failed, held), fixed("b", nil, held)}}
	for _, run := range []struct {
		names []string
		ok    bool
		want  string
	}{
		{[]string{"a", "b"}, false, "\na: nothing\na ran\nGATE failed 1.00 2.00 FAIL\nGATE held 2.00 1.00 PASS\n\nb: nothing\nb ran\nGATE held 2.00 1.00 PASS\n"},
		{[]string{"b"}, true, "\nb: nothing\nb ran\nGATE held 2.00 1.00 PASS\n"},
	} {
		var out strings.Builder
		ok, err := c.Measure(t.Context(), &out, run.names)
		if _, after, _ := strings.Cut(out.String(), "\n"); err != nil || ok != run.ok || after != run.want {
			t.Errorf("%v: %v, %v\n%s", run.names, ok, err, out.String())
		}
	}
}

func TestWhatCannotBeMeasuredIsAnError(t *testing.T) {
	broken := errors.New("no disk")
	c := Config{Scale: tiny(), Dir: t.TempDir(), Also: []Benchmark{fixed("a", broken)}}
	if ok, err := c.Measure(t.Context(), &strings.Builder{}, []string{"a"}); ok || !errors.Is(err, broken) || !strings.Contains(err.Error(), "measure a: ") {
		t.Error(ok, err)
	}
	if ok, err := c.Measure(t.Context(), &strings.Builder{}, []string{"a", "speed"}); ok || err == nil || !strings.Contains(err.Error(), `"speed": there are a, store-vs-own-tx, `) {
		t.Error(ok, err)
	}
}

func TestTheFirstErrorOfACallerEndsTheTurn(t *testing.T) {
	r := &Run{Scale: Scale{Callers: 4, Window: time.Hour}}
	broken := errors.New("no")
	_, err := r.Rate(t.Context(), func(_ context.Context, number int64) error {
		if number == 100 {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}

func TestEveryMessageIsCountedOnce(t *testing.T) {
	r := &Run{Scale: Scale{Callers: 7}}
	seen := make(chan int64, 1000)
	l, err := r.drive(t.Context(), func(n int64) bool { return n <= 1000 }, func(_ context.Context, number int64) error {
		seen <- number
		return nil
	})
	if err != nil || l.messages != 1000 || len(seen) != 1000 || l.wall <= 0 {
		t.Error(l, len(seen), err)
	}
}

func TestTwoStagesThatWaitForEachOtherAddUpTheirTimes(t *testing.T) {
	if got := serial(100, 100); got != 50 {
		t.Error(got)
	}
	if got := serial(300, 150); got != 100 {
		t.Error(got)
	}
}
