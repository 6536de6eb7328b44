package agent

import (
	"context"
	"errors"
	"fmt"
)

// hostState is how far the life of a host has come.
type hostState int

const (
	fresh    hostState = iota
	starting           // it takes over what an earlier host left; nobody can reach it
	started
	leaving  // it takes on nothing new and lets what it has begun finish
	stopping // handlers are told to stop; what they have done is written down
	ended
)

// resumeError ends a host that could not take over the work of an earlier one:
// it may have taken some of it.
type resumeError struct{ error }

func (e *resumeError) Unwrap() error { return e.error }

// begin takes a fresh host into its start. The returned function ends the start,
// well or not, and says what came of it.
func (h *Host) begin(ctx context.Context) (context.Context, func(error) error, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.state != fresh {
		return ctx, nil, errors.New("it was started before")
	}
	h.lasting = context.WithoutCancel(ctx)
	h.running, h.halt = context.WithCancelCause(h.lasting)
	ctx, h.abort = context.WithCancelCause(ctx)
	h.state, h.settled = starting, make(chan struct{})
	return ctx, h.begun, nil
}

// begun ends a start. A host that could not be started can be started again,
// unless it had begun to take over work, or was stopped meanwhile.
func (h *Host) begun(err error) error {
	defer close(h.settled)
	defer h.abort(nil)
	_, half := errors.AsType[*resumeError](err)
	h.mu.Lock()
	unwanted := h.unwanted
	switch {
	case unwanted || half:
		h.state = ended
	case err != nil:
		h.state = fresh
	default:
		h.state = started
	}
	if h.state != started {
		h.halt(ErrStopped)
	}
	h.mu.Unlock()
	switch {
	case unwanted:
		errs := []error{ErrStopped, err}
		if err == nil {
			errs = append(errs, h.stopModels(context.WithoutCancel(h.running)))
		}
		return errors.Join(append(errs, h.closeStore())...)
	case half:
		return errors.Join(err, h.closeStore())
	case err != nil:
		return err
	}
	h.dispatch.set(flowing)
	h.spawn(h.pump)
	h.spawn(h.obey)
	h.spawn(h.sweep)
	h.runBeside()
	return nil
}

// Stop ends the host in order. First it takes on nothing new: an opening act is
// answered with nack(capacity, overloaded), so that its sender tries again, while
// receipts and acts of what is under way come in as before. Running handlers
// have Config.Drain to finish, and what they came to is sent; those that are left
// are then told to stop, with ErrStopped as the cause of their context, and
// waited for until ctx ends. A result that one of them returns all the same is
// written down; the work of the others stays in the inbox, with its lease given
// back, so that the stop is no run of Config.MaxRuns. Then the store is closed.
//
// What was committed goes on when a host is started on the store again. A
// deadline of ctx shortens the time that handlers have, so that some is left to
// stop them. Stopping twice is harmless: the second call returns when the first
// has ended, or with ctx. A start that is under way is cut short.
func (h *Host) Stop(ctx context.Context) error {
	if err := h.abandonStart(ctx); err != nil {
		return fmt.Errorf("stopping host: %w", err)
	}
	h.mu.Lock()
	was := h.state
	switch was {
	case fresh:
		h.state = ended
	case started:
		h.state = leaving
	}
	h.mu.Unlock()
	switch was {
	case fresh:
		if h.store == nil {
			return nil
		}
		return h.closeStore()
	case started:
		return h.goDown(ctx)
	case leaving, stopping:
		if h.seam.wait(h.down, ctx.Done()) != 0 {
			return fmt.Errorf("stopping host: %w", context.Cause(ctx))
		}
	}
	return nil
}

// abandonStart cuts a start short that is under way, and waits for its end.
func (h *Host) abandonStart(ctx context.Context) error {
	h.mu.Lock()
	if h.state != starting {
		h.mu.Unlock()
		return nil
	}
	h.unwanted = true
	h.abort(ErrStopped)
	settled := h.settled
	h.mu.Unlock()
	if h.seam.wait(settled, ctx.Done()) != 0 {
		return context.Cause(ctx)
	}
	return nil
}

func (h *Host) goDown(ctx context.Context) error {
	defer close(h.down)
	if h.cfg.Drain > 0 {
		h.drain(ctx)
	}
	h.become(stopping)
	h.dispatch.set(halted)
	var errs []error
	if !h.quiet(ctx, &h.dispatch.work) || !h.quiet(ctx, &h.group) {
		errs = append(errs, fmt.Errorf("stopping host: %w", context.Cause(ctx)))
	}
	h.become(ended)
	h.giveUpLeases(context.WithoutCancel(ctx))
	return errors.Join(append(errs, h.stopModels(ctx), h.closeStore())...)
}

// become takes the host to a later state, in which nothing of it runs on by
// itself.
func (h *Host) become(s hostState) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state = max(h.state, s)
	h.halt(ErrStopped)
}

// drain lets what runs finish, and sends what came of it.
func (h *Host) drain(ctx context.Context) {
	h.dispatch.set(draining)
	now := h.seam.now()
	by := now.Add(h.cfg.Drain)
	if last, ok := ctx.Deadline(); ok && shrink(now, last).Before(by) {
		by = shrink(now, last)
	}
	ctx, cancel := until(ctx, h.seam.clock, by)
	defer cancel()
	if h.seam.wait(h.dispatch.work.Idle(), ctx.Done()) != 0 {
		return
	}
	for h.unsent(ctx) && h.seam.wait(h.out.settled, ctx.Done()) == 0 {
	}
}

// quiet waits until no goroutine of the group runs, or for ctx's end, and
// reports which.
func (h *Host) quiet(ctx context.Context, g *group) bool {
	idle := g.Idle()
	h.seam.wait(idle, ctx.Done())
	select {
	case <-idle:
		return true
	default:
		return false
	}
}

func (h *Host) stopModels(ctx context.Context) error {
	var errs []error
	for _, m := range h.services() {
		errs = append(errs, m.Stop(ctx))
	}
	return errors.Join(errs...)
}

// Kill drops the host as a crash would: nothing more is committed, nothing is
// waited for, and the store's handle is closed. It is for tests and rehearsals
// of accidents.
func (h *Host) Kill() error {
	h.mu.Lock()
	if h.state == starting {
		h.unwanted = true
		h.abort(ErrStopped)
	}
	h.state = ended
	if h.halt != nil {
		h.halt(ErrStopped)
	}
	h.mu.Unlock()
	h.dispatch.set(halted)
	return h.closeStore()
}

// live returns the context that ends with the host, or ErrStopped.
func (h *Host) live() (context.Context, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.state != started && h.state != leaving {
		return nil, ErrStopped
	}
	return h.running, nil
}

// opening returns ErrStopped unless something new may begin for ctx: a host
// that is about to end lets only the work that it has begun ask others.
func (h *Host) opening(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.state == started || h.state == leaving && jobOf(ctx) != nil {
		return nil
	}
	return ErrStopped
}

// moving returns ErrStopped unless a step may be taken: a host that is told to
// stop takes those that write down what was done.
func (h *Host) moving(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch h.state {
	case starting, started, leaving:
		return nil
	case stopping:
		if ctx.Err() == nil {
			return nil
		}
	}
	return ErrStopped
}

// spawn runs f in a goroutine that Stop waits for.
func (h *Host) spawn(f func()) { h.spawnIn(&h.group, f) }

// spawnIn runs f in a goroutine of the group, unless the host has ended.
func (h *Host) spawnIn(g *group, f func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.state != started && h.state != leaving {
		return false
	}
	g.Go(f)
	return true
}
