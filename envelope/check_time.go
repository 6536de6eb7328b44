package envelope

import (
	"math"
	"time"
)

func (h *Header) checkTime(f *faults) {
	f.need("/timestamp", !h.Timestamp.IsZero(), "every message")
	f.moment("/timestamp", h.Timestamp)
	if h.is(Request, CFP, Propose) || h.isAward() {
		f.need("/reply_by", !h.ReplyBy.IsZero(), "request, cfp, propose and an award")
	}
	f.moment("/reply_by", h.ReplyBy)
	if h.Attempt == 0 {
		f.need("/attempt", false, "every message")
	}
	f.between("/attempt", int64(h.Attempt), 1, math.MaxInt32)
}

// moment keeps a time within the four digits that RFC 3339 has for a year.
func (f *faults) moment(pointer string, t time.Time) {
	if t.IsZero() {
		return
	}
	f.between(pointer, int64(t.UTC().Year()), 0, 9999)
}

func (h *Header) checkEffect(f *faults) {
	if h.is(Propose) || h.isAward() || h.is(Request) && h.under("request") {
		f.need("/idempotency_key", h.IdempotencyKey != "", "request under request/v1, propose and an award")
	}
	f.form("/idempotency_key", h.IdempotencyKey, isWord, wordForm)
	oneOf(f, "/priority", h.Priority, priorities[:])
	if p := h.RetryPolicy; p != nil {
		f.between("/retry_policy/max_attempts", int64(p.MaxAttempts), 1, math.MaxInt32)
		f.between("/retry_policy/backoff", p.Backoff.Milliseconds(), 0, maxDuration.Milliseconds())
		f.need("/retry_policy/jitter", p.Jitter != "", "every retry policy")
		oneOf(f, "/retry_policy/jitter", p.Jitter, jitters[:])
	}
}

func (h *Header) checkMulti(f *faults) {
	if g := h.Gather; g != nil {
		f.need("/gather/id", g.ID != "", "every gather")
		f.form("/gather/id", g.ID, isWord, wordForm)
		f.form("/gather/stance", g.Stance, reasonForm.MatchString, "a word in lower case")
	}
	if x := h.Fence; x != nil {
		f.only("/fence", true, h.is(Inform), "inform")
		f.need("/fence/id", x.ID != "", "every fence")
		f.form("/fence/id", x.ID, isWord, wordForm)
		f.need("/fence/proposed", x.Proposed != "", "every fence")
		oneOf(f, "/fence/proposed", x.Proposed, terminals[:])
	}
}
