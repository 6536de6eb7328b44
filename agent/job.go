package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// job is the work on one exchange that the agent takes part in.
type job struct {
	host    *Host
	agent   *Agent
	key     store.Key
	opening *envelope.Envelope
	header  envelope.Header
	fence   int64
	// cancelled: the peer withdrew the exchange before this run began.
	cancelled bool

	mu     sync.Mutex
	agreed bool
	equals map[string]int
	record *recorder
}

// records is the durable memory of the job, read when it is first needed.
func (j *job) records(ctx context.Context) (*recorder, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.record == nil {
		r, err := recall(ctx, j.host, j.key)
		if err != nil {
			return nil, err
		}
		j.record = r
	}
	return j.record, nil
}

// jobs are the running ones.
type jobs struct {
	mu      sync.Mutex
	running map[store.Key]context.CancelCauseFunc
}

func (j *jobs) start(k store.Key, cancel context.CancelCauseFunc) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.running == nil {
		j.running = map[store.Key]context.CancelCauseFunc{}
	}
	if j.running[k] != nil {
		return false
	}
	j.running[k] = cancel
	return true
}

func (j *jobs) stop(k store.Key, cause error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if cancel := j.running[k]; cancel != nil {
		cancel(cause)
	}
}

func (j *jobs) end(k store.Key) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.running, k)
}

// resume starts the work that an earlier host of the store had in hand.
func (h *Host) resume(ctx context.Context) error {
	for _, owner := range h.owners {
		rows, err := h.store.TakeOver(ctx, owner, h.seam.now().Add(leaseTTL))
		if err != nil {
			return fmt.Errorf("taking over the work of %s: %w", owner, err)
		}
		for _, row := range rows {
			k := store.Key{Owner: owner, Conversation: row.Conversation, Peer: row.Sender}
			h.group.Go(func() { h.runJob(k) })
		}
	}
	return nil
}

func (h *Host) startJob(k store.Key) { h.spawn(func() { h.runJob(k) }) }

// runJob runs the handler of an exchange and concludes it. When the host ends
// first, the work stays in the inbox for the next host.
func (h *Host) runJob(k store.Key) {
	ctx, cancel := context.WithCancelCause(h.running)
	defer cancel(nil)
	if !h.jobs.start(k, cancel) {
		return
	}
	defer h.jobs.end(k)
	// A cancel that comes now must find a handler to tell, so that it is answered.
	j, o, err := h.prepare(h.running, k)
	if err != nil {
		if h.running.Err() == nil {
			h.report(h.running, WorkFailed, k, err)
		}
		return
	}
	if j == nil {
		return
	}
	if j.cancelled {
		cancel(errStop) // before this run could be told
	}
	defer h.seam.clock.At(j.header.ReplyBy.Add(guard.Skew), func() { cancel(errLapsed) })() // the timer does it in time, if it can be written
	res, err := j.run(context.WithValue(ctx, jobKey{}, j), o)
	if h.running.Err() != nil {
		return
	}
	cause := context.Cause(ctx)
	d := j.pass(h.running, j.decide(res, err, cause), cause)
	for h.running.Err() == nil {
		if err = j.conclude(h.running, d); err == nil {
			return
		}
		h.report(h.running, WorkFailed, k, err)
		h.pause(unwrittenBackoff)
	}
}

// pause waits for d, or for the host's end.
func (h *Host) pause(d time.Duration) {
	over := make(chan struct{})
	stop := h.seam.clock.At(h.seam.now().Add(d), func() { close(over) })
	defer stop()
	select {
	case <-over:
	case <-h.running.Done():
	}
}

// prepare reads what the job needs; it returns no job when the exchange has
// ended meanwhile.
func (h *Host) prepare(ctx context.Context, k store.Key) (*job, *offer, error) {
	x, err := h.store.Exchange(ctx, k)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the exchange: %w", err)
	}
	if x.State.Done() || !h.seam.now().Before(x.State.ReplyBy) {
		return nil, nil, nil // the timer says what comes of it
	}
	opening, err := h.openingOf(ctx, x)
	if err != nil {
		return nil, nil, err
	}
	row, err := h.store.Inbox(ctx, store.InboxKey{Recipient: k.Owner, Sender: k.Peer, MessageID: x.State.Opening})
	if err != nil {
		return nil, nil, fmt.Errorf("reading the inbox row: %w", err)
	}
	a := h.agents[k.Owner]
	j := &job{host: h, agent: a, key: k, opening: opening, header: opening.Header(), fence: row.Attempt,
		cancelled: x.State.Cancel != "", equals: map[string]int{}}
	o := a.lookup(j.header.Capability)
	if o == nil {
		return j, nil, nil
	}
	return j, o, nil
}

// run calls the answer and turns a panic into an error.
func (j *job) run(ctx context.Context, o *offer) (res result, err error) {
	if o == nil {
		return result{}, Fail(envelope.CodePermanent, "unsupported-version")
	}
	defer func() {
		if p := recover(); p != nil {
			j.host.report(ctx, HandlerPanicked, j.key, panicked(p), slog.String("contract", o.Name.String()), slog.String("stack", string(debug.Stack())))
			err = Fail(envelope.CodePermanent, "handler-panic")
		}
	}()
	return o.answer.answer(ctx, j, o, j.opening.Content())
}

// conclude ends the exchange by the act that the handler's outcome calls for.
// What could not be committed must be tried again: the work is done, and only
// this tells the peer.
func (j *job) conclude(ctx context.Context, d draft) error {
	err := j.end(ctx, d)
	if _, misshapen := errors.AsType[*envelope.ShapeError](err); misshapen {
		// What was decided fits no envelope: too long, or a reason that is no word.
		err = j.end(ctx, j.incident(err))
	}
	return err
}

// pass takes the act that ends the exchange through the agent's layers.
func (j *job) pass(ctx context.Context, d draft, cause error) draft {
	if len(j.agent.layers) == 0 || d.act.Status == envelope.Cancelled {
		return d
	}
	before := Act{Performative: d.act.Performative, To: j.key.Peer, Content: d.content}
	if name, err := protocol.ParseName(j.header.Schema); err == nil {
		before.Contract = name.String()
	}
	if d.err != nil {
		before.Code, before.Reason = d.err.Code, d.err.Reason
	}
	act, err := j.agent.passAct(context.WithValue(ctx, jobKey{}, j), j.key, before)
	o := j.agent.lookup(j.header.Capability)
	if err == nil && o != nil && d.act.Performative == envelope.Inform {
		if err = o.Result.Validate(act.Content); err != nil {
			err = fmt.Errorf("the result of %s, after the layers: %w", o.Name, err)
		}
	}
	if d.act.Performative == envelope.Inform && err != nil {
		// The work was done: keeping its result back does not undo it.
		if refused, ok := errors.AsType[*Decision](err); ok {
			err = Fail(refused.Code, refused.Reason)
		}
	}
	if err != nil {
		return j.decide(result{}, err, cause)
	}
	if d.act.Performative == envelope.Inform {
		d.content = act.Content
	}
	if d.err != nil && (act.Code != d.err.Code || act.Reason != d.err.Reason) {
		d.err = envelope.NewError(act.Code, act.Reason)
	}
	return d
}

func (j *job) end(ctx context.Context, d draft) error {
	_, err := j.host.step(ctx, j.key, j.host.seam.now(), func(s *step) error {
		row, err := j.host.store.Inbox(ctx, store.InboxKey{Recipient: j.key.Owner, Sender: j.key.Peer, MessageID: j.header.MessageID})
		if err != nil {
			return fmt.Errorf("reading the inbox row: %w", err)
		}
		if s.x.State.Done() || row.Attempt != j.fence {
			return errNothing
		}
		s.opening = j.opening
		return s.utter(ctx, s.legal(d))
	})
	return err
}

// decide maps a handler's outcome to an act.
func (j *job) decide(res result, failed, cause error) draft {
	var decided *Decision
	switch {
	case failed == nil:
		return draft{act: protocol.Utterance{Performative: envelope.Inform, Status: envelope.Final}, content: res.content, model: res.model}
	case errors.As(failed, &decided) && decided.Act == envelope.Failure:
		return draft{act: protocol.Utterance{Performative: decided.Act}, err: decided.told(), model: res.model}
	case errors.Is(cause, errStop):
		return draft{act: protocol.Utterance{Performative: envelope.Inform, Status: envelope.Cancelled}}
	case errors.As(failed, &decided):
		return draft{act: protocol.Utterance{Performative: decided.Act}, err: decided.told(), model: res.model}
	case errors.Is(failed, context.DeadlineExceeded), errors.Is(cause, errLapsed):
		return draft{act: protocol.Utterance{Performative: envelope.Failure}, err: envelope.NewError(envelope.CodeDeadline, guard.ReasonLate)}
	}
	return j.incident(failed)
}

// incident is the failure whose cause the host's log has and nobody else.
func (j *job) incident(failed error) draft {
	told := envelope.NewError(envelope.CodePermanent, "handler")
	told.Detail = &envelope.Detail{Incident: j.host.seam.id()}
	j.host.report(j.host.running, HandlerFailed, j.key, failed, slog.String("capability", j.header.Capability),
		slog.String("incident", told.Detail.Incident))
	return draft{act: protocol.Utterance{Performative: envelope.Failure}, err: told}
}

// legal makes a refusal that comes after agree the failure that the table
// allows, and an answer to a cancel that arrived meanwhile what fits it.
func (s *step) legal(d draft) draft {
	p, err := protocol.Lookup(s.x.State.Protocol)
	if err != nil {
		return d
	}
	table := p.Table(s.x.State.Role)
	can := func(d draft) bool {
		_, ok := table.Next(s.x.State.State, d.event())
		return ok
	}
	switch {
	case d.act.Performative == envelope.Refuse && !can(d):
		d.act.Performative = envelope.Failure
	case d.act.Status == envelope.Cancelled && !can(d):
		d = draft{act: protocol.Utterance{Performative: envelope.Failure}, err: envelope.NewError(envelope.CodeCancelled, "lapsed")}
	}
	return d
}

// agree lets the peer know that work has started, once.
func (j *job) agree(ctx context.Context) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.agreed {
		return nil
	}
	_, err := j.host.step(ctx, j.key, j.host.seam.now(), func(s *step) error {
		p, err := protocol.Lookup(s.x.State.Protocol)
		if err != nil {
			return err
		}
		if _, ok := p.Table(s.x.State.Role).Next(s.x.State.State, "!agree"); !ok || !p.RuntimeAgrees() {
			return errNothing
		}
		s.opening = j.opening
		return s.utter(ctx, draft{act: protocol.Utterance{Performative: envelope.Agree}})
	})
	j.agreed = err == nil
	return err
}

// ordinal numbers equal things in the order in which they come, so that a
// second run can tell them apart in the same way.
func (j *job) ordinal(what string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.equals[what]++
	return j.equals[what]
}

// remaining is the deadline that work started now may have: the exchange's
// own, less a margin for the way back.
func (j *job) remaining(now time.Time) time.Time {
	return shrink(now, j.header.ReplyBy)
}
