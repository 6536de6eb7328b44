package a2a

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/store"
)

// round begins what is due, and returns when to look again.
func (r *reader) round(ctx context.Context, k *acquaintance, now time.Time) time.Time {
	if err := r.sweep(ctx, now); err != nil {
		r.report(ctx, "looking for exchanges that have ended failed", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.watched) == 0 {
		return time.Time{}
	}
	next, streams := r.sweepAt, k.card.Capabilities.Streaming
	var rest []*watch
	for _, w := range r.watched {
		switch {
		case w.stop != nil && !w.due:
			continue
		case w.stop != nil:
		case !streams && w.large && now.Before(w.again):
			next = sooner(next, w.again)
			continue
		case streams && (w.large || r.streams < r.peer.cfg.Streams) && !now.Before(w.again):
			r.begin(ctx, k, w)
			continue
		case streams && (w.large || r.streams < r.peer.cfg.Streams):
			next = sooner(next, w.again)
		}
		rest = append(rest, w)
	}
	if len(rest) == 0 || r.polling {
		return next
	}
	if now.Before(r.pollAt) {
		return sooner(next, r.pollAt)
	}
	r.polling, r.noticed = true, false
	for _, w := range rest {
		w.due = false
	}
	r.work.Go(func() {
		err := r.poll(ctx, k, rest)
		r.mu.Lock()
		r.polling = false
		wait := r.peer.cfg.Poll
		if r.pollFailures++; err == nil {
			r.pollFailures = 0
		} else {
			wait = min(wait, r.backoff(r.pollFailures))
		}
		r.pollAt = r.host.Now().Add(wait)
		if r.noticed && err == nil {
			r.pollAt = r.host.Now()
		}
		if e, ok := errors.AsType[*wire.Error](err); ok && e.RetryAfter > r.peer.cfg.Poll {
			r.pollAt = r.host.Now().Add(e.RetryAfter)
		}
		r.mu.Unlock()
		if err != nil && ctx.Err() == nil {
			r.report(ctx, "polling an agent elsewhere failed", err)
		}
		r.poke()
	})
	return next
}

// sweep drops what has ended in the host, from time to time.
func (r *reader) sweep(ctx context.Context, now time.Time) error {
	r.mu.Lock()
	if now.Before(r.sweepAt) {
		r.mu.Unlock()
		return nil
	}
	r.sweepAt = now.Add(sweepEvery)
	all := make([]*watch, 0, len(r.watched))
	for _, w := range r.watched {
		all = append(all, w)
	}
	r.mu.Unlock()
	for _, w := range all {
		if _, err := r.over(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// over drops a watch whose exchange has ended, and reports whether it did.
func (r *reader) over(ctx context.Context, w *watch) (bool, error) {
	x, err := r.host.Store().Exchange(ctx, w.key)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return false, err
	}
	ended := err != nil || x.State.Done()
	if ended {
		r.drop(w)
	}
	return ended, nil
}

// begin reads an exchange by a stream. The reader's lock is held.
func (r *reader) begin(ctx context.Context, k *acquaintance, w *watch) {
	ctx, w.stop = context.WithCancel(ctx)
	r.streams++
	r.work.Go(func() {
		moved, err := r.follow(ctx, k, w)
		r.mu.Lock()
		w.stop()
		w.stop = nil
		r.streams--
		if moved {
			w.failures = 0
		} else {
			r.putOff(w)
		}
		if e, ok := errors.AsType[*wire.Error](err); ok {
			w.again = later(w.again, r.host.Now().Add(e.RetryAfter))
		}
		failures := w.failures
		r.mu.Unlock()
		if err != nil && failures == 3 && ctx.Err() == nil { // once, when it begins to look bad
			r.report(ctx, "following an agent elsewhere failed", err)
		}
		r.poke()
	})
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// poll reads the tasks of all watches at once, for each of the host's agents.
func (r *reader) poll(ctx context.Context, k *acquaintance, list []*watch) error {
	owners := map[string][]*watch{}
	var errs []error
	for _, w := range list {
		r.mu.Lock()
		alone := w.seen.IsZero() || r.page == 0
		r.mu.Unlock()
		if alone || k.foreign() {
			errs = append(errs, r.get(ctx, k, w))
			continue
		}
		owners[w.key.Owner] = append(owners[w.key.Owner], w)
	}
	for owner, list := range owners {
		errs = append(errs, r.list(ctx, k, owner, list))
	}
	return errors.Join(errs...)
}

// get reads one task.
func (r *reader) get(ctx context.Context, k *acquaintance, w *watch) error {
	call, err := r.reading(k, w.key.Owner)
	if err != nil {
		return err
	}
	task, err := k.client.GetTask(ctx, call, &wire.GetTaskRequest{ID: w.task})
	if errors.Is(err, errTooLarge) {
		r.enlarge(w)
		if !k.card.Capabilities.Streaming {
			r.mu.Lock()
			r.putOff(w)
			r.mu.Unlock()
		}
	}
	if err != nil {
		return err
	}
	return r.readWhole(ctx, k, w, task)
}

// enlarge has tasks read by streams that do not begin with a snapshot.
func (r *reader) enlarge(list ...*watch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range list {
		w.large = true
		preset(&w.after, fromStart)
	}
}

// putOff puts off an exchange of which nothing could be read, longer each time. It is
// called under the lock.
func (r *reader) putOff(w *watch) {
	w.failures++
	w.again = r.host.Now().Add(r.backoff(w.failures))
}

// overlap is how far a poll reaches back behind the one before it: what was
// written meanwhile may have come to light later.
const overlap = 2 * time.Second

// maxPages is how many pages a poll reads, and errNoEnd what is wrong with a list
// that has more: a poll that never ended would keep all the others from beginning.
const maxPages = 10_000

var errNoEnd = wire.Errorf(wire.InvalidAgentResponse, "the list of tasks has no end")

// list reads what has changed of an owner's tasks since all of the watches were
// read last.
func (r *reader) list(ctx context.Context, k *acquaintance, owner string, list []*watch) error {
	byTask := map[string]*watch{}
	var since time.Time
	r.mu.Lock()
	for _, w := range list {
		byTask[w.task] = w
		since = sooner(since, w.seen)
	}
	page := r.page
	r.mu.Unlock()
	req := &wire.ListTasksRequest{StatusTimestampAfter: since.Add(-overlap), IncludeArtifacts: true, PageSize: page}
	var newest time.Time
	var failed []error
	for pages := 1; ; pages++ {
		call, err := r.reading(k, owner)
		if err != nil {
			return err
		}
		resp, err := k.client.ListTasks(ctx, call, req)
		switch {
		case errors.Is(err, errTooLarge) && page > 1:
			r.mu.Lock()
			r.page = max(1, page/4)
			r.mu.Unlock()
		case errors.Is(err, errTooLarge) && k.card.Capabilities.Streaming: // which of them it is shows when they are read
			r.enlarge(list...)
		case errors.Is(err, errTooLarge): // the one that is must not hide the others
			r.mu.Lock()
			r.page = 0
			r.mu.Unlock()
		}
		if err != nil {
			return err
		}
		for i := range resp.Tasks {
			task := &resp.Tasks[i]
			newest = later(newest, task.Status.Timestamp)
			if w := byTask[task.ID]; w != nil {
				if err := r.readWhole(ctx, k, w, task); err != nil {
					failed = append(failed, err)
					list = slices.DeleteFunc(list, func(other *watch) bool { return other == w })
				}
			}
		}
		if resp.NextPageToken == "" || resp.NextPageToken == req.PageToken {
			break
		}
		if pages == maxPages {
			return errors.Join(append(failed, errNoEnd)...)
		}
		req.PageToken = resp.NextPageToken
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range list {
		w.seen = later(w.seen, newest)
	}
	return errors.Join(failed...)
}
