package agent

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// startJob puts the work that the exchange calls for in line: what the opening
// act asks for since then.
func (h *Host) startJob(k store.Key, opening *envelope.Envelope, since time.Time) {
	if h.jobs.remind(k) {
		return
	}
	w := waiting{key: k, before: since.Add(putOff(opening.Priority())), inner: h.inner(opening), own: h.owns(opening)}
	if w.own {
		w.held = h.holdOwn(k)
	} else {
		w.held = h.hold(k)
	}
	h.dispatch.enqueue(w)
}

// inner reports whether work of this very host waits for what the opening act
// asks for: that work sent it, or it is a question about what the work asked for.
func (h *Host) inner(opening *envelope.Envelope) bool {
	return asksBack(opening.Capability()) || opening.Hop() > 0 && h.agents[opening.Sender()] != nil
}

// rushJob answers a cancel that no run could be told of.
func (h *Host) rushJob(k store.Key) { h.dispatch.rush(k, h.hold(k)) }

// resumeJob puts work in line that an earlier host accepted.
func (h *Host) resumeJob(ctx context.Context, x store.Exchange, since time.Time) {
	opening, err := h.openingOf(ctx, x)
	if err != nil {
		h.report(ctx, WorkFailed, x.Key, err)
		return
	}
	if x.State.Cancel != "" {
		since = time.Time{}
	}
	h.startJob(x.Key, opening, since)
}

// work does what is due in an exchange. If more becomes due meanwhile, that goes
// in line again.
func (h *Host) work(k store.Key, s *seat) {
	ctx, cancel := context.WithCancelCause(h.running)
	defer cancel(nil)
	r := h.jobs.start(k, cancel)
	if r == nil {
		return
	}
	opening, err := h.runJob(ctx, cancel, k, r, s)
	again, urgent := h.jobs.end(k)
	switch {
	case h.running.Err() != nil:
	case err != nil:
		// It cannot be read now. What was accepted is not given up for that.
		h.report(h.running, WorkFailed, k, err)
		h.seam.clock.At(h.seam.now().Add(unwrittenBackoff), func() { h.retryJob(k) })
	case again && urgent:
		h.rushJob(k)
	case again && opening != nil:
		h.startJob(k, opening, h.seam.now())
	case again:
		h.retryJob(k)
	}
}

// retryJob looks again at work that could not be read.
func (h *Host) retryJob(k store.Key) {
	h.dispatch.enqueue(waiting{key: k, before: h.seam.now(), held: h.hold(k)})
}

// runJob runs the handler of an exchange's phase and concludes it. When the
// host ends first, the work stays in the inbox for the next host; a result that
// comes of it all the same is kept. It returns the opening act, and an error
// when the work could not be read.
func (h *Host) runJob(ctx context.Context, cancel context.CancelCauseFunc, k store.Key, r *run, s *seat) (*envelope.Envelope, error) {
	// A cancel that comes now must find a handler to tell, so that it is answered.
	j, err := h.prepare(h.running, k)
	if err != nil || j == nil {
		return nil, err
	}
	j.seat = s
	h.jobs.lease(r, j)
	h.keepAlive()
	if j.cancelled {
		cancel(errStop) // before this run could be told
	}
	defer h.forsakeStopped(ctx, k)
	defer h.seam.clock.At(j.act.ReplyBy().Add(guard.Skew), func() { cancel(errLapsed) })() // the timer does it in time, if it can be written
	over, err := j.timeOver(h.running)
	if err != nil {
		return nil, err
	}
	if !over.IsZero() {
		defer h.seam.clock.At(over, func() { cancel(errSpent) })()
	}
	if j.phase == publishing {
		defer h.probe(ctx, k)()
		j.makeRoom()
	}
	var res result
	if err = errStop; !j.late && !j.untouched {
		if err := j.takeLease(h.running); err != nil {
			return nil, err
		}
		res, err = j.run(context.WithValue(ctx, jobKey{}, j))
	}
	if h.running.Err() != nil && (err != nil && !errors.Is(err, errDissent) || j.phase == publishing) {
		return j.opening, nil // a publisher that is told to stop has not come to the end of its stream
	}
	cause := context.Cause(ctx)
	if errors.Is(cause, errFenced) {
		return j.opening, nil // whoever does it now says what came of it
	}
	// What has been done is written down although the host is about to end.
	last := h.lasting
	d := j.outcome(last, res, err, cause)
	for {
		if err = j.conclude(last, &d); err == nil || errors.Is(err, ErrStopped) {
			return j.opening, nil
		}
		h.report(last, WorkFailed, k, err)
		if h.running.Err() != nil {
			return j.opening, nil
		}
		h.pause(h.running, unwrittenBackoff)
	}
}

// makeRoom gives the worker of a publication by Go code to others for good: most
// of its life such a publication waits for something to tell.
func (j *job) makeRoom() {
	if j.offer == nil {
		return
	}
	if _, byCode := j.offer.answers[publishing].(goAnswer); byCode {
		j.seat.stepAside()
	}
}

// prepare gets what the job needs; it returns no job when nothing is owed.
func (h *Host) prepare(ctx context.Context, k store.Key) (*job, error) {
	known := h.jobs.inHand(k)
	if known == nil {
		known = h.newStep(h.seam.now())
		if err := known.readExchange(ctx, k); err != nil {
			return nil, err
		}
	}
	x := &known.x
	late, cancelled := !h.seam.now().Before(x.State.ReplyBy), x.State.Cancel != ""
	if x.State.Done() || !owes(x.State) || late && !cancelled {
		return nil, nil // another act, or a timer, says what comes of it
	}
	if len(known.set.Accept) == 0 {
		if err := known.readOpening(ctx); err != nil {
			return nil, err
		}
	}
	a, opening, row := h.agents[k.Owner], known.opening, &known.set.Accept[0]
	j := &job{host: h, agent: a, key: k, phase: phaseOf(x.State), offer: a.lookup(opening.Capability()), opening: opening,
		act: opening, input: opening.Content(), fence: row.Attempt, runs: row.Runs, leased: !row.LeaseUntil.IsZero(),
		cancelled: cancelled, late: late, untouched: cancelled && row.Attempt == 1, silent: x.State.Sent == 0}
	var err error
	if j.about, err = h.aboutWork(ctx, opening); err != nil {
		return nil, err
	}
	return j, j.negotiated(ctx, x.State)
}

// negotiated reads what came after the opening act of a contract net: the
// latest call, and the award with the proposal that it accepts.
func (j *job) negotiated(ctx context.Context, x protocol.Exchange) error {
	take := func(id string) (*envelope.Envelope, error) {
		e, err := j.host.message(ctx, j.key, store.Received, id)
		if err == nil {
			j.act = e
		}
		return e, err
	}
	if x.Call != "" {
		call, err := take(x.Call)
		if err != nil {
			return err
		}
		j.input = call.Content()
	}
	if x.Award == "" {
		return nil
	}
	award, err := take(x.Award)
	if err != nil {
		return err
	}
	bid, err := j.host.message(ctx, j.key, store.Sent, award.InReplyTo())
	if err != nil {
		return err
	}
	j.bid = bid.Content()
	return nil
}

// run calls the answer and turns a panic into an error.
func (j *job) run(ctx context.Context) (res result, err error) {
	if j.offer == nil {
		return result{}, Fail(envelope.CodePermanent, "unsupported-version")
	}
	if j.poisoned() {
		return result{}, Fail(envelope.CodePermanent, reasonPoison)
	}
	defer func() {
		if p := recover(); p != nil {
			j.host.report(ctx, HandlerPanicked, j.key, panicked(p), slog.String("contract", j.offer.Name.String()), slog.String("stack", string(debug.Stack())))
			err = Fail(envelope.CodePermanent, "handler-panic")
		}
	}()
	return j.offer.answers[j.phase].answer(ctx, j)
}
