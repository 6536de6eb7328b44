package a2a

import (
	"bytes"
	"context"
	"errors"
	"hash/fnv"
	"log/slog"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/store"
)

const (
	// pushRetryFirst and pushRetryMax bound the wait after a failed attempt: it
	// doubles each time, and is drawn between nothing and that. A webhook that
	// asks for a longer one gets it, up to the bound.
	pushRetryFirst = time.Second
	pushRetryMax   = 5 * time.Minute
	// pushPatience is how long after its task's end a webhook that cannot be told
	// is tried.
	pushPatience = 24 * time.Hour
)

// loop tells one webhook what happens in its task until it was told everything,
// it is gone, or ctx ends.
func (p *pusher) loop(ctx context.Context, k store.CallbackKey) {
	for attempt := 1; ctx.Err() == nil; {
		c, err := p.kept.Callback(ctx, k)
		if errors.Is(err, store.ErrNotFound) {
			return
		}
		if err != nil {
			p.report(ctx, "webhook cannot be read", err, pushAttrs(k)...)
			p.pass(ctx, p.host.Now().Add(p.backoff(attempt)))
			attempt++
			continue
		}
		attempt = 1
		if c.Done {
			return
		}
		if p.pass(ctx, c.NextAt); ctx.Err() != nil {
			return
		}
		p.round(ctx, c)
	}
}

// errCutShort: the events of a task stopped before it did.
var errCutShort = errors.New("the task's events end before the task")

// round posts what the webhook was not told yet, then what happens, until the
// task has ended or something fails; what comes next is then in the store.
func (p *pusher) round(ctx context.Context, c store.Callback) {
	x, err := p.task(ctx, c)
	if err != nil {
		p.setback(ctx, c, err)
		return
	}
	hook, err := webhookOf(c)
	if err != nil {
		p.setback(ctx, c, err)
		return
	}
	// The task may have ended before its events are read. Else they say so, but
	// not as the last thing: those that go on at a place begin with the task as it
	// is.
	ended := x.State.Done()
	for event, err := range p.events[c.Owner](ctx, x, c.Place, hook.Parley) {
		if err == nil {
			err = p.post(ctx, hook, event.Response)
		}
		if errors.Is(err, errUnwanted) {
			p.forget(ctx, c)
			return
		}
		if err != nil {
			p.setback(ctx, c, err)
			return
		}
		if event.ID != "" {
			c.Place = event.ID
		}
		c.Attempt, c.NextAt = 0, p.host.Now()
		if !p.advance(ctx, c) {
			return
		}
		ended = ended || final(event.Response)
	}
	if ctx.Err() != nil {
		return
	}
	if !ended {
		p.setback(ctx, c, errCutShort)
		return
	}
	c.Done = true
	p.advance(ctx, c)
}

// task is the exchange that the webhook's task is.
func (p *pusher) task(ctx context.Context, c store.Callback) (store.Exchange, error) {
	list, err := p.kept.Tasks(ctx, c.Owner, c.Task)
	if err != nil {
		return store.Exchange{}, err
	}
	for _, x := range list {
		if x.Peer == c.Peer && x.Parent == (store.Key{}) {
			return x, nil
		}
	}
	return store.Exchange{}, store.ErrNotFound
}

// final reports whether an event says that its task has ended.
func final(r wire.StreamResponse) bool {
	return r.StatusUpdate != nil && r.StatusUpdate.Status.State.Terminal() ||
		r.Task != nil && r.Task.Status.State.Terminal()
}

// setback records that the webhook could not be told: it is tried again later,
// unless its task ended so long ago that nobody waits any more.
func (p *pusher) setback(ctx context.Context, c store.Callback, why error) {
	if ctx.Err() != nil {
		return // the attempt was broken off
	}
	c.Attempt++
	wait := p.backoff(c.Attempt)
	if e, ok := errors.AsType[*unfitError](why); ok {
		wait = max(wait, min(e.after, pushRetryMax))
	}
	c.NextAt = p.host.Now().Add(wait)
	x, err := p.task(ctx, c)
	c.Done = errors.Is(err, store.ErrNotFound) ||
		err == nil && x.State.Done() && c.NextAt.After(x.EndedAt.Add(pushPatience))
	what := "webhook failed"
	if c.Done {
		what = "webhook given up"
	}
	p.report(ctx, what, why, append(pushAttrs(c.CallbackKey), slog.Int("attempt", c.Attempt))...)
	p.advance(ctx, c)
}

// advance records how far the webhook was told, and reports whether that holds:
// it may have been replaced or removed meanwhile. What was told is recorded
// though ctx has ended.
func (p *pusher) advance(ctx context.Context, c store.Callback) bool {
	err := p.kept.AdvanceCallback(context.WithoutCancel(ctx), c)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		p.report(ctx, "webhook's place cannot be written", err, pushAttrs(c.CallbackKey)...)
		p.pass(ctx, p.host.Now().Add(p.backoff(c.Attempt+1)))
	}
	return err == nil
}

// forget removes a webhook whose host says that it is gone for good.
func (p *pusher) forget(ctx context.Context, c store.Callback) {
	if err := p.discard(ctx, c); err != nil && !errors.Is(err, store.ErrNotFound) {
		p.setback(ctx, c, err)
		return
	}
	p.report(ctx, "webhook removed", errUnwanted, pushAttrs(c.CallbackKey)...)
}

// discard removes a webhook unless another took its place meanwhile.
func (p *pusher) discard(ctx context.Context, c store.Callback) error {
	p.changing.Lock()
	defer p.changing.Unlock()
	now, err := p.kept.Callback(ctx, c.CallbackKey)
	if err != nil || !bytes.Equal(now.Config, c.Config) {
		return err
	}
	return p.kept.DeleteCallback(ctx, c.CallbackKey)
}

// backoff is the wait after that many failed attempts, with full jitter. Its
// randomness is the host's.
func (p *pusher) backoff(attempts int) time.Duration {
	ceiling := pushRetryMax
	if shift := max(attempts-1, 0); shift < 16 {
		ceiling = min(ceiling, pushRetryFirst<<shift)
	}
	h := fnv.New64a()
	h.Write([]byte(p.host.NewID()))
	return max(time.Duration(h.Sum64()%uint64(ceiling)), time.Millisecond)
}

func pushAttrs(k store.CallbackKey) []slog.Attr {
	return []slog.Attr{slog.String("agent", k.Owner), slog.String("task", k.Task), slog.String("webhook", k.ID)}
}
