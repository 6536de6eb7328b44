package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// job is one phase of the work on an exchange that the agent takes part in.
type job struct {
	host  *Host
	agent *Agent
	key   store.Key
	phase phase
	// offer is nil when the agent no longer answers the contract.
	offer   *offer
	opening *envelope.Envelope
	// header is that of the act which the work answers: the opening act, the
	// latest call or the award. Its capability is always the opening act's.
	header envelope.Header
	// input is what was asked for, bid what the agent proposed before it got
	// the award.
	input, bid []byte
	fence      int64
	// cancelled: the peer withdrew the exchange before this run began, and late:
	// its time was over too, so that the cancel is all that is left to answer.
	// untouched: no run of it has begun, so that there is nothing to tell.
	cancelled, late, untouched bool

	seat   *seat
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
		r, err := recall(ctx, j.host, j.key, j.scope())
		if err != nil {
			return nil, err
		}
		j.record = r
	}
	return j.record, nil
}

// scope sets the records of a later phase, or of a later round of bids, apart
// from those of the first one.
func (j *job) scope() string {
	if j.header.MessageID == j.opening.ID() {
		return ""
	}
	return scopeMark + string(j.phase) + ":" + j.header.MessageID + "/"
}

// jobs are the running ones, one for each exchange.
type jobs struct {
	mu      sync.Mutex
	running map[store.Key]*run
}

// run is a job that runs.
type run struct {
	cancel context.CancelCauseFunc
	// again: more became due while it ran, and urgent: a cancel is to be answered.
	again, urgent bool
	// lease is what the work is done under, known once it was prepared.
	lease *lease
	// window has a token for each thing that the job may tell before the first
	// one it told is received.
	window chan struct{}
}

func newRun(cancel context.CancelCauseFunc) *run {
	r := &run{cancel: cancel, window: make(chan struct{}, maxUntold)}
	for range maxUntold {
		r.window <- struct{}{}
	}
	return r
}

// start registers a run; if there is one, that one will look again when it is
// done, and start returns nil.
func (j *jobs) start(k store.Key, cancel context.CancelCauseFunc) *run {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.running == nil {
		j.running = map[store.Key]*run{}
	}
	if before := j.running[k]; before != nil {
		before.again = true
		return nil
	}
	r := newRun(cancel)
	j.running[k] = r
	return r
}

// stop tells the run to stop, if there is one. It looks again when it is done:
// it may have been about to find that nothing was left to do.
func (j *jobs) stop(k store.Key, cause error) (running bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.running[k]
	if r == nil {
		return false
	}
	r.cancel(cause)
	r.again, r.urgent = true, r.urgent || cause == errStop
	return true
}

func (j *jobs) of(k store.Key) *run {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.running[k]
}

// end takes a run off and reports whether more became due, and whether that
// can wait.
func (j *jobs) end(k store.Key) (again, urgent bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.running[k]
	delete(j.running, k)
	return r.again, r.urgent
}

// remind tells the run to look again when it is done, if there is one.
func (j *jobs) remind(k store.Key) (running bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.running[k]
	if r != nil {
		r.again = true
	}
	return r != nil
}

// resume starts the work that an earlier host of the store had in hand.
func (h *Host) resume(ctx context.Context) error {
	for _, owner := range h.owners {
		rows, err := h.store.TakeOver(ctx, owner, h.seam.now().Add(h.cfg.Terms.Lease))
		if err != nil {
			return fmt.Errorf("taking over the work of %s: %w", owner, err)
		}
		for _, row := range rows {
			k := store.Key{Owner: owner, Conversation: row.Conversation, Peer: row.Sender}
			x, err := h.renewLease(ctx, k)
			if err != nil {
				return err
			}
			h.resumeJob(ctx, x, row.AcceptedAt)
		}
		live, err := h.store.Exchanges(ctx, owner, "")
		if err != nil {
			return fmt.Errorf("reading the exchanges of %s: %w", owner, err)
		}
		h.resumeGathers(live)
		h.forsakeLeft(live)
	}
	return nil
}

// renewLease gives the subscriber of a publication that was interrupted its
// time again: it was this side that went silent.
func (h *Host) renewLease(ctx context.Context, k store.Key) (store.Exchange, error) {
	x, err := h.store.Exchange(ctx, k)
	if err != nil {
		return x, fmt.Errorf("reading exchange %s with %s: %w", k.Conversation, k.Peer, err)
	}
	if x.State.Protocol != protocol.SubscribeV1 || x.State.LeaseBy.IsZero() || x.State.Done() {
		return x, nil
	}
	x.State = protocol.Renew(x.State, h.seam.now())
	if err := h.store.Commit(ctx, store.WriteSet{Exchanges: []store.Exchange{x}}); err != nil {
		return x, fmt.Errorf("renewing the lease of %s: %w", k.Conversation, err)
	}
	return x, nil
}

// resumeGathers looks at the gathers among the live exchanges of an owner: the
// last answer may have come in just before an earlier host ended.
func (h *Host) resumeGathers(live []store.Exchange) {
	var held []store.Key
	seen := map[store.Key]bool{}
	for _, x := range live {
		k := conversationKey(x.Key)
		if x.State.Role == protocol.Initiator && x.State.Protocol == protocol.GatherV1 && x.State.Fence == "" && !seen[k] {
			seen[k] = true
			held = append(held, k)
		}
	}
	for _, k := range held {
		h.group.Go(func() {
			a, err := h.assembly(h.running, k)
			if err == nil {
				err = h.reduce(h.running, a, h.seam.now())
			}
			if err != nil && h.running.Err() == nil {
				h.report(h.running, WorkFailed, k, err)
			}
		})
	}
}

// startJob puts the work that the exchange calls for in line: what the opening
// act asks for since then.
func (h *Host) startJob(k store.Key, opening *envelope.Envelope, since time.Time) {
	if h.jobs.remind(k) {
		return
	}
	head := opening.Header()
	h.dispatch.enqueue(waiting{key: k, before: since.Add(putOff(head.Priority)), inner: h.inner(head), release: h.hold(k)})
}

// inner reports whether the opening act was sent by work of this very host,
// which waits for the answer.
func (h *Host) inner(opening envelope.Header) bool {
	return opening.Hop > 0 && h.agents[opening.Sender] != nil
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
	h.dispatch.enqueue(waiting{key: k, before: h.seam.now(), release: h.hold(k)})
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
	defer h.seam.clock.At(j.header.ReplyBy.Add(guard.Skew), func() { cancel(errLapsed) })() // the timer does it in time, if it can be written
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
	last := context.WithoutCancel(h.running)
	d := j.pass(last, j.decide(res, err, cause), cause)
	for {
		if err = j.conclude(last, d); err == nil || errors.Is(err, ErrStopped) {
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

// prepare reads what the job needs; it returns no job when nothing is owed.
func (h *Host) prepare(ctx context.Context, k store.Key) (*job, error) {
	x, err := h.store.Exchange(ctx, k)
	if err != nil {
		return nil, fmt.Errorf("reading the exchange: %w", err)
	}
	late, cancelled := !h.seam.now().Before(x.State.ReplyBy), x.State.Cancel != ""
	if x.State.Done() || !owes(x.State) || late && !cancelled {
		return nil, nil // another act, or a timer, says what comes of it
	}
	opening, err := h.openingOf(ctx, x)
	if err != nil {
		return nil, err
	}
	row, err := h.store.Inbox(ctx, store.InboxKey{Recipient: k.Owner, Sender: k.Peer, MessageID: x.State.Opening})
	if err != nil {
		return nil, fmt.Errorf("reading the inbox row: %w", err)
	}
	a := h.agents[k.Owner]
	j := &job{host: h, agent: a, key: k, phase: phaseOf(x.State), offer: a.lookup(opening.Header().Capability), opening: opening,
		header: opening.Header(), input: opening.Content(), fence: row.Attempt, cancelled: cancelled, late: late,
		untouched: cancelled && row.Attempt == 1, equals: map[string]int{}}
	return j, j.negotiated(ctx, x.State)
}

// negotiated reads what came after the opening act of a contract net: the
// latest call, and the award with the proposal that it accepts.
func (j *job) negotiated(ctx context.Context, x protocol.Exchange) error {
	take := func(id string) (*envelope.Envelope, error) {
		e, err := j.host.message(ctx, j.key, store.Received, id)
		if err == nil {
			j.header = e.Header()
			j.header.Capability = x.Capability
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
	if j.offer != nil {
		before.Contract = j.offer.Name.String()
	}
	if d.err != nil {
		before.Code, before.Reason = d.err.Code, d.err.Reason
	}
	act, err := j.agent.passAct(context.WithValue(ctx, jobKey{}, j), j.key, before)
	if err == nil && d.content != nil {
		_, s := j.offer.Carries(d.act)
		if err = s.Validate(act.Content); err != nil {
			err = fmt.Errorf("the %s of %s, after the layers: %w", j.phase, j.offer.Name, err)
		}
	}
	if (d.act.Status == envelope.Final || d.act.Performative == envelope.Agree) && err != nil {
		// The work was done: keeping its result back does not undo it.
		if refused, ok := errors.AsType[*Decision](err); ok {
			err = Fail(refused.Code, refused.Reason)
		}
	}
	if err != nil {
		return j.decide(result{}, err, cause)
	}
	if d.content != nil {
		d.content = act.Content
	}
	if d.err != nil && (act.Code != d.err.Code || act.Reason != d.err.Reason) {
		d.err = envelope.NewError(act.Code, act.Reason)
	}
	return d
}

func (j *job) end(ctx context.Context, d draft) error {
	_, err := j.host.step(ctx, j.key, j.host.seam.now(), func(s *step) error {
		row, err := j.host.store.Inbox(ctx, store.InboxKey{Recipient: j.key.Owner, Sender: j.key.Peer, MessageID: j.opening.ID()})
		if err != nil {
			return fmt.Errorf("reading the inbox row: %w", err)
		}
		if s.x.State.Done() || row.Attempt != j.fence {
			return errNothing
		}
		s.opening = j.opening
		fitting, ok := s.legal(d)
		if !ok {
			// Time, the fence or another act has settled it meanwhile.
			j.host.counts.add("unsaid")
			return errNothing
		}
		if j.poisoned() && fitting.err != nil && fitting.err.Reason == reasonPoison {
			s.bury(j.letter(s.now))
		}
		return s.utter(ctx, fitting)
	})
	return err
}

// decide maps a handler's outcome to an act.
func (j *job) decide(res result, failed, cause error) draft {
	var decided *Decision
	switch {
	case failed == nil, errors.Is(failed, errDissent):
		d := draft{act: j.phase.act(), content: res.content, model: res.model}
		if j.phase == contributing {
			d.gather = &envelope.Gather{ID: j.header.Gather.ID}
			if res.dissents || failed != nil {
				d.gather.Stance = envelope.StanceDissent
			}
		}
		if j.phase == bidding {
			d.key = derivedID("proposal", j.key.Owner, j.header.MessageID)
			d.replyBy = j.header.ReplyBy.Add(j.offer.holds)
		}
		return d
	case errors.As(failed, &decided) && decided.Act == envelope.Failure:
		return draft{act: protocol.Utterance{Performative: decided.Act}, err: decided.told(), model: res.model}
	case errors.Is(cause, errStop):
		return draft{act: protocol.Utterance{Performative: envelope.Inform, Status: envelope.Cancelled}}
	case errors.As(failed, &decided):
		return draft{act: protocol.Utterance{Performative: decided.Act}, err: decided.told(), model: res.model}
	case errors.Is(cause, errSpent):
		return draft{act: protocol.Utterance{Performative: envelope.Failure}, err: envelope.NewError(envelope.CodeCapacity, guard.ReasonBudget)}
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

// legal makes of what was decided the act that the state allows by now: a
// refusal after work has started is a failure, and whatever a cancel met half
// done has stopped. It reports false when nothing is left to say.
func (s *step) legal(d draft) (draft, bool) {
	moves := s.x.State.Moves()
	can := func(u protocol.Utterance) bool { return slices.Contains(moves, u) }
	inform := protocol.Utterance{Performative: envelope.Inform, Status: envelope.Final}
	cancelled := protocol.Utterance{Performative: envelope.Inform, Status: envelope.Cancelled}
	failure := protocol.Utterance{Performative: envelope.Failure}
	if can(d.act) {
		return d, true
	}
	switch {
	case d.act.Performative == envelope.Agree && can(inform):
		// The offer was accepted before the cancel came.
		return draft{act: inform, model: d.model}, true
	case d.act.Performative == envelope.Refuse && can(failure):
		d.act = failure
		return d, true
	case d.act != cancelled && can(cancelled):
		return draft{act: cancelled}, true
	case d.act == cancelled && can(failure):
		return draft{act: failure, err: envelope.NewError(envelope.CodeCancelled, "lapsed")}, true
	}
	return d, false
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
