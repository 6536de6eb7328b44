package a2a

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"sync"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// reader reads what one peer says to one host: everything that its mailboxes
// there hold for the host's agents. One goroutine decides what is read and how;
// streams and polls run in goroutines of their own, and end before it does.
type reader struct {
	peer *Peer
	host *agent.Host
	wake chan struct{}
	// work counts the streams and polls that run.
	work sync.WaitGroup

	mu      sync.Mutex
	watched map[store.Key]*watch
	streams int
	// polling: a poll runs. pollAt is when the next one is due, sweepAt when what
	// has ended is looked for.
	// noticed says that there is something to read since it began.
	polling, noticed bool
	pollAt, sweepAt  time.Time
	// pollFailures counts the polls in a row that failed: they do not wait for the
	// next one's time.
	pollFailures int
	// page is how many tasks a poll asks for at once; zero: it reads each by itself,
	// since a list has one that is too large and no stream tells it.
	page int
}

// watch is an exchange that is read.
type watch struct {
	key  store.Key
	task string
	// correlation is that of the exchange.
	correlation string
	// taking is held while what was read is given to the host.
	taking sync.Mutex

	// What follows is the reader's, under its lock.

	// after is the id of the last event up to which everything was taken.
	after string
	// stop ends the stream that reads it, nil if none does.
	stop context.CancelFunc
	// failures counts the streams in a row that brought nothing; again is when the
	// next one may begin.
	failures int
	again    time.Time
	// large: a snapshot of it does not fit into an answer, so that it is read by a
	// stream, however others are; where there are no streams, seldom.
	large bool
	// due: the next poll reads it too, though a stream does.
	due bool
	// seen is up to when the task was read, by its server's clock; zero if it never
	// was.
	seen time.Time
	// heard are the receipts that were taken, by message id.
	heard map[string]bool
}

const (
	// sweepEvery is how often exchanges are looked for that have ended here.
	sweepEvery = 5 * time.Second
	// firstBackoff doubles with each failure in a row up to lastBackoff.
	firstBackoff = 500 * time.Millisecond
	lastBackoff  = 30 * time.Second
	// pollPage is how many tasks a poll asks for at once.
	pollPage = 50
)

func newReader(p *Peer, h *agent.Host) *reader {
	return &reader{peer: p, host: h, wake: make(chan struct{}, 1), watched: map[store.Key]*watch{}, page: pollPage}
}

// collect is the Collect of the peer's link.
func (p *Peer) collect(ctx context.Context, h *agent.Host) {
	r := newReader(p, h)
	p.attach(r)
	// The agent's server, when it is to end, waits for connections that were
	// made and not used.
	defer p.http.CloseIdleConnections()
	defer p.detach(r)
	if hook := p.cfg.Webhook; hook != nil {
		defer hook.enter(r)()
	}
	r.run(ctx)
}

func (p *Peer) attach(r *reader) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reader == nil {
		close(p.bound)
	}
	p.reader = r
}

func (p *Peer) detach(r *reader) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reader == r {
		p.reader, p.bound = nil, make(chan struct{})
	}
}

// serving is the reader of the host that the peer is connected to; it waits for
// that to start.
func (p *Peer) serving(ctx context.Context) (*reader, error) {
	for {
		p.mu.Lock()
		r, bound := p.reader, p.bound
		p.mu.Unlock()
		if r != nil {
			return r, nil
		}
		select {
		case <-bound:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// run reads until ctx ends.
func (r *reader) run(ctx context.Context) {
	defer r.work.Wait()
	adopted := false
	var refreshAt time.Time
	for failures := 0; ctx.Err() == nil; {
		now := r.host.Now()
		due := !now.Before(refreshAt)
		k := r.peer.now() // a send may have found it
		var err error
		if due || failures == 0 && (k == nil || k.pinned != r.host) {
			if k, err = r.peer.find(ctx, r.host, due && !refreshAt.IsZero()); err != nil {
				k = r.peer.now() // the old card will do, unless it was found wrong
			}
		}
		if err == nil && k != nil && !adopted {
			err = r.adopt(ctx, k)
			adopted = err == nil
		}
		switch {
		case err != nil && ctx.Err() == nil:
			failures++
			refreshAt = now.Add(r.backoff(failures))
			r.report(ctx, "reading an agent elsewhere failed", err)
		case due:
			failures, refreshAt = 0, now.Add(r.peer.cfg.Refresh)
		}
		next := refreshAt
		if adopted && k != nil && k.pinned == r.host {
			next = sooner(next, r.round(ctx, k, now))
		}
		r.pause(ctx, next)
	}
}

// pause waits for the time or for something to do.
func (r *reader) pause(ctx context.Context, until time.Time) {
	over := make(chan struct{})
	stop := r.host.At(until, sync.OnceFunc(func() { close(over) }))
	defer stop()
	select {
	case <-over:
	case <-r.wake:
	case <-ctx.Done():
	}
}

// poke has the reader look again.
func (r *reader) poke() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// backoff is the wait after that many failures in a row: exponential, and
// somewhere in its upper half, so that many do not come back at once. It is in the
// whole milliseconds of the host's time.
func (r *reader) backoff(failures int) time.Duration {
	wait := firstBackoff
	for range min(failures-1, 10) {
		wait = min(2*wait, lastBackoff)
	}
	random := fnv.New32a()
	random.Write([]byte(r.host.NewID()))
	return (wait/2 + time.Duration(uint64(random.Sum32())*uint64(wait/2)>>32)).Truncate(time.Millisecond)
}

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func (r *reader) report(ctx context.Context, what string, err error) {
	level := slog.LevelWarn
	if _, changed := errors.AsType[*KeyChangedError](err); changed {
		level = slog.LevelError
	}
	r.peer.cfg.Log.Log(ctx, level, what, slog.String("agent", r.peer.URI()), slog.String("url", r.peer.url), slog.Any("error", err))
}

// adopt takes up the live exchanges that an earlier host has opened with the
// peer. One whose opening act is still to be sent, also for the second time, is
// taken up when it is: before, there may be nothing to read. So is one whose name
// a foreign server has still to say.
func (r *reader) adopt(ctx context.Context, k *acquaintance) error {
	for _, owner := range r.host.Agents() {
		live, err := r.host.Store().Exchanges(ctx, owner, "")
		if err != nil {
			return fmt.Errorf("reading what is open with %s: %w", r.peer.URI(), err)
		}
		for _, x := range live {
			if x.Peer != r.peer.URI() || x.State.Role != protocol.Initiator || k.foreign() && x.Task == "" {
				continue
			}
			row, err := r.host.Store().OutboxRow(ctx, owner, x.State.Opening)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return fmt.Errorf("reading what was sent to %s: %w", x.Peer, err)
			}
			if err != nil || row.Attempt > 0 && row.Status != store.Pending {
				r.watch(x.Key, x.Correlation, taskOfExchange(x))
			}
		}
	}
	return nil
}

// taskOfExchange is what the server calls an exchange that our agent opened
// there.
func taskOfExchange(x store.Exchange) string {
	if x.Task != "" {
		return x.Task
	}
	return taskID(x.Conversation, x.Peer)
}

// watch has an exchange read under the name of its task, from now on if it is not.
func (r *reader) watch(k store.Key, correlation, task string) {
	r.mu.Lock()
	w := r.watched[k]
	if w != nil && w.task != task && w.stop != nil {
		w.stop() // the server has another name for it
	}
	if w == nil || w.task != task {
		w = &watch{key: k, correlation: correlation, task: task, heard: map[string]bool{}}
		r.watched[k] = w
	}
	w.failures, w.again = 0, time.Time{}
	r.mu.Unlock()
	r.poke()
}

// stir has the exchange of a task read anew, as when it was answered; whole says
// that the task itself is to be looked at, whatever a stream tells.
func (r *reader) stir(task string, whole bool) {
	r.mu.Lock()
	for _, w := range r.watched {
		if w.task == task {
			w.failures, w.again, w.due = 0, time.Time{}, whole
		}
	}
	r.pollAt, r.noticed = time.Time{}, true
	r.mu.Unlock()
	r.poke()
}

// drop ends the reading of an exchange.
func (r *reader) drop(w *watch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.watched[w.key] == w {
		delete(r.watched, w.key)
	}
	if w.stop != nil {
		w.stop()
	}
}

// reading is what a read for one of the host's agents carries: a foreign agent is
// shown no token.
func (r *reader) reading(k *acquaintance, owner string) (wire.Call, error) {
	if k.foreign() {
		return wire.Call{}, nil
	}
	token, err := r.host.Token(owner, r.peer.URI())
	return wire.Call{Token: token, Extensions: []string{ExtensionURI}}, err
}
