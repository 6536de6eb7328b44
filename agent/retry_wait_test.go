package agent

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-agents/parley/store"
)

func TestAWaitIsNeverLongerThanItsAuthorSaidNorNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row := store.Outbox{
			MaxAttempts: rapid.IntRange(0, 8).Draw(t, "max"),
			Backoff:     time.Duration(rapid.Int64Range(0, 200_000).Draw(t, "backoff")) * time.Millisecond,
			Jitter:      rapid.SampledFrom([]string{"", "full", "none"}).Draw(t, "jitter"),
		}
		attempts := rapid.IntRange(1, 2000).Draw(t, "attempts")
		first := row.Backoff
		if first == 0 {
			first = 500 * time.Millisecond
		}
		n := attempts - 1 // doublings
		if row.MaxAttempts > 0 {
			n %= row.MaxAttempts
		}
		longest := first
		for i := 0; i < n && longest < time.Minute; i++ {
			longest *= 2
		}
		if first < time.Minute {
			longest = min(longest, time.Minute)
		} else {
			longest = first
		}
		h := &Host{seam: newSeam(nil, nil, nil), cfg: Config{Terms: Terms{}.withDefaults()}}
		got := h.backoff(row, attempts)
		if got < time.Millisecond || got > longest {
			t.Fatalf("the wait after %d attempts is %v, want at most %v", attempts, got, longest)
		}
		if row.Jitter == "none" && got != longest {
			t.Fatalf("the wait after %d attempts is %v, want %v", attempts, got, longest)
		}
	})
}

func TestFullJitterUsesTheWholeWait(t *testing.T) {
	h, row := &Host{seam: newSeam(nil, nil, nil)}, store.Outbox{Backoff: time.Second, Jitter: "full"}
	var low, high int
	for range 1000 {
		switch wait := h.backoff(row, 1); {
		case wait < 250*time.Millisecond:
			low++
		case wait > 750*time.Millisecond:
			high++
		}
	}
	if low < 100 || high < 100 { // a quarter each, give or take
		t.Errorf("of 1000 waits %d are short and %d long", low, high)
	}
}

func TestAMessageIsNeverSentAgainAfterTheMomentAtWhichItNoLongerHelps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.UnixMilli(1_800_000_000_000)
		row := store.Outbox{ExpiresAt: now.Add(time.Duration(rapid.Int64Range(0, 100_000).Draw(t, "left")) * time.Millisecond),
			MaxAttempts: rapid.IntRange(0, 3).Draw(t, "max")}
		attempts, wait := rapid.IntRange(1, 9).Draw(t, "attempts"), time.Duration(rapid.Int64Range(1, 100_000).Draw(t, "wait"))*time.Millisecond
		got, last := again(row, attempts, now, wait), row.ExpiresAt.Add(time.Millisecond)
		if got.After(last) {
			t.Fatalf("it is sent again %v after that", got.Sub(last))
		}
		if spent(row, attempts) && !got.Equal(last) {
			t.Fatalf("its attempts are used up, and yet it is sent %v before its end", last.Sub(got))
		}
	})
}
