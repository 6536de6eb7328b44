package a2a

import (
	"container/list"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxAccounts is how many callers a quota remembers. One that is forgotten
// begins with a full burst.
const maxAccounts = 4096

// quota says how much each caller may do. Its memory is bounded by maxAccounts
// and by the number of open streams and calls.
type quota struct {
	limit rate.Limit
	burst int

	mu       sync.Mutex
	accounts map[string]*list.Element
	recent   *list.List // of *account, the most recent first
	// streams and calls are those that are open.
	streams, calls seats
}

// seats are taken by callers, each of whom may have so many at most; less than
// zero: no limit.
type seats struct {
	most  int
	taken map[string]int
}

type account struct {
	caller  string
	limiter *rate.Limiter
}

func newQuota(c Config) *quota {
	q := &quota{limit: rate.Limit(c.Rate), burst: c.Burst, streams: seats{c.MaxStreams, map[string]int{}}, calls: seats{c.MaxCalls, map[string]int{}},
		accounts: map[string]*list.Element{}, recent: list.New()}
	if c.Rate < 0 {
		q.limit = rate.Inf
	}
	return q
}

// take counts one request of the caller. If it is one too many, wait is when
// the next may come.
func (q *quota) take(caller string, now time.Time) (wait time.Duration, ok bool) {
	if q.limit == rate.Inf {
		return 0, true
	}
	has := q.account(caller)
	if has.AllowN(now, 1) {
		return 0, true
	}
	r := has.ReserveN(now, 1)
	if !r.OK() {
		return time.Second, false
	}
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
		return wait, false
	}
	return 0, true
}

func (q *quota) account(caller string) *rate.Limiter {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e := q.accounts[caller]; e != nil {
		q.recent.MoveToFront(e)
		return e.Value.(*account).limiter
	}
	if len(q.accounts) >= maxAccounts {
		oldest := q.recent.Remove(q.recent.Back()).(*account)
		delete(q.accounts, oldest.caller)
	}
	a := &account{caller, rate.NewLimiter(q.limit, q.burst)}
	q.accounts[caller] = q.recent.PushFront(a)
	return a.limiter
}

// stream opens one stream of the caller, unless it has as many as it may;
// release closes it.
func (q *quota) stream(caller string) (release func(), ok bool) {
	return q.hold(&q.streams, caller)
}

// call begins one call of the caller that is no stream, unless it has as many in
// progress as it may; release ends it.
func (q *quota) call(caller string) (release func(), ok bool) {
	return q.hold(&q.calls, caller)
}

// hold takes a seat until release is called; calling that twice is harmless.
func (q *quota) hold(of *seats, caller string) (release func(), ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if of.most >= 0 && of.taken[caller] >= of.most {
		return nil, false
	}
	of.taken[caller]++
	left := false
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if left {
			return
		}
		left = true
		if of.taken[caller]--; of.taken[caller] == 0 {
			delete(of.taken, caller)
		}
	}, true
}
