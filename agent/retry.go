package agent

import (
	"math/big"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store"
)

// noJitter is the word of a retry policy whose waits are not spread.
const noJitter = "none"

// hinted writes what the act's author said about its way into its outbox row.
func hinted(row store.Outbox, h envelope.Header) store.Outbox {
	row.Priority = h.Priority
	if p := h.RetryPolicy; p != nil {
		row.MaxAttempts, row.Backoff, row.Jitter = p.MaxAttempts, p.Backoff, p.Jitter
	}
	return row
}

// spent reports whether the row's attempts are used up after that many. Whoever
// has it sent once more gives it as many again.
func spent(row store.Outbox, attempts int) bool {
	return row.MaxAttempts > 0 && attempts > 0 && attempts%row.MaxAttempts == 0
}

// backoff is the wait before a message is sent again after that many attempts:
// exponential, and by default with full jitter.
func (h *Host) backoff(row store.Outbox, attempts int) time.Duration {
	ceiling := h.ceiling(row, attempts)
	if row.Jitter == noJitter {
		return ceiling
	}
	n := new(big.Int).SetBytes(h.seam.bytes(8)).Uint64()
	return max(time.Duration(n%uint64(ceiling)), time.Millisecond)
}

// ceiling is the longest wait after that many attempts.
func (h *Host) ceiling(row store.Outbox, attempts int) time.Duration {
	wait := row.Backoff
	if wait <= 0 {
		wait = h.cfg.Terms.RetryFirst
	}
	if row.MaxAttempts > 0 {
		attempts = (attempts-1)%row.MaxAttempts + 1
	}
	longest := max(h.cfg.Terms.RetryMax, wait)
	for range min(attempts-1, 63) {
		if wait = 2 * wait; wait >= longest {
			return longest
		}
	}
	return wait
}

// again is when a message is sent again after a wait: no later than the moment
// when it no longer helps, since what stands behind it waits for that. One whose
// attempts are used up waits for that moment, unless an operator has it sent
// before.
func again(row store.Outbox, attempts int, now time.Time, wait time.Duration) time.Time {
	last := row.ExpiresAt.Add(time.Millisecond)
	if next := now.Add(wait); last.Before(now) || next.Before(last) && !spent(row, attempts) {
		return next
	}
	return last
}
