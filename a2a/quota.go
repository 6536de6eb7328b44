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
	// streams and calls are how many one caller may have open; less than zero: no
	// limit.
	streams, calls int

	mu       sync.Mutex
	accounts map[string]*list.Element
	recent   *list.List // of *account, the most recent first
	open     map[string]int
}

type account struct {
	caller  string
	limiter *rate.Limiter
}

func newQuota(c Config) *quota {
	q := &quota{limit: rate.Limit(c.Rate), burst: c.Burst, streams: c.MaxStreams, calls: c.MaxCalls,
		accounts: map[string]*list.Element{}, recent: list.New(), open: map[string]int{}}
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
	r := q.account(caller).ReserveN(now, 1)
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
	return q.hold("stream "+caller, q.streams)
}

// call begins one call of the caller that is no stream, unless it has as many in
// progress as it may; release ends it.
func (q *quota) call(caller string) (release func(), ok bool) {
	return q.hold("call "+caller, q.calls)
}

func (q *quota) hold(name string, limit int) (release func(), ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if limit >= 0 && q.open[name] >= limit {
		return nil, false
	}
	q.open[name]++
	return sync.OnceFunc(func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.open[name]--; q.open[name] == 0 {
			delete(q.open, name)
		}
	}), true
}
