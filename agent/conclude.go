package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// conclude ends the exchange by the act that the handler's outcome calls for.
// What could not be committed must be tried again: the work is done, and only
// this tells the peer.
func (j *job) conclude(ctx context.Context, d *draft) error {
	err := j.end(ctx, d)
	if _, misshapen := errors.AsType[*envelope.ShapeError](err); misshapen {
		// What was decided fits no envelope: too long, or a reason that is no word.
		failure := j.incident(err)
		err = j.end(ctx, &failure)
	}
	return err
}

// outcome is the act that the handler's outcome calls for.
func (j *job) outcome(ctx context.Context, res result, failed, cause error) draft {
	return j.pass(ctx, j.decide(res, failed, cause), cause)
}

// pass takes the act that ends the exchange through the agent's layers. What
// the runtime answers by itself is no act of the agent's.
func (j *job) pass(ctx context.Context, d draft, cause error) draft {
	if len(j.agent.layers) == 0 || d.act.Status == envelope.Cancelled || j.offer != nil && j.offer.own {
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

func (j *job) end(ctx context.Context, d *draft) error {
	unsaid := false
	_, err := j.host.stepFrom(ctx, j.host.jobs.inHand(j.key), j.key, j.host.seam.now(), func(s *step) error {
		unsaid = false
		if held, err := s.holds(ctx, j); err != nil {
			return err
		} else if !held || s.x.State.Done() {
			return errNothing
		}
		s.opening = j.opening
		fitting := *d
		if !s.fit(&fitting) {
			// Time, the fence or another act has settled it meanwhile.
			unsaid = true
			return errNothing
		}
		s.writeOff(j, &fitting)
		if err := s.utter(ctx, &fitting); err != nil {
			return err
		}
		if !s.ended { // what it said is not the last word: it is the peer's turn
			s.set.Leases = append(s.set.Leases, store.Lease{InboxKey: j.inbox(), Fence: j.fence})
		}
		return nil
	})
	if unsaid {
		j.host.counts.add("unsaid")
	}
	return err
}

// decide maps a handler's outcome to an act.
func (j *job) decide(res result, failed, cause error) draft {
	decided, isDecision := errors.AsType[*Decision](failed)
	switch {
	case failed == nil, errors.Is(failed, errDissent):
		d := draft{act: j.phase.act(), content: res.content, model: res.model}
		if j.phase == contributing {
			g, _ := j.act.Gather()
			d.gather = &envelope.Gather{ID: g.ID}
			if res.dissents || failed != nil {
				d.gather.Stance = envelope.StanceDissent
			}
		}
		if j.phase == bidding {
			d.key = envelope.DerivedID("proposal", j.key.Owner, j.act.ID())
			d.replyBy = j.act.ReplyBy().Add(j.offer.holds)
		}
		return d
	case isDecision && decided.Act == envelope.Failure:
		return draft{act: protocol.Utterance{Performative: decided.Act}, err: decided.told(), model: res.model}
	case errors.Is(cause, errStop), cause == nil && errors.Is(failed, errStop):
		return draft{act: protocol.Utterance{Performative: envelope.Inform, Status: envelope.Cancelled}}
	case isDecision:
		return draft{act: protocol.Utterance{Performative: decided.Act}, err: decided.told(), model: res.model}
	case errors.Is(cause, errSpent):
		return draft{act: protocol.Utterance{Performative: envelope.Failure}, err: envelope.NewError(envelope.CodeCapacity, guard.ReasonBudget)}
	case errors.Is(failed, context.DeadlineExceeded), errors.Is(cause, errLapsed), cause == nil && errors.Is(failed, errLapsed):
		return draft{act: protocol.Utterance{Performative: envelope.Failure}, err: envelope.NewError(envelope.CodeDeadline, guard.ReasonLate)}
	}
	return j.incident(failed)
}

// incident is the failure whose cause the host's log has and nobody else.
func (j *job) incident(failed error) draft {
	told := envelope.NewError(envelope.CodePermanent, "handler")
	told.Detail = &envelope.Detail{Incident: j.host.seam.id()}
	j.host.report(j.host.running, HandlerFailed, j.key, failed, slog.String("capability", j.opening.Capability()),
		slog.String("incident", told.Detail.Incident))
	return draft{act: protocol.Utterance{Performative: envelope.Failure}, err: told}
}

// fit makes of what was decided the act that the state allows by now: a refusal
// after work has started is a failure, and whatever a cancel met half done has
// stopped. It reports false when nothing is left to say.
func (s *step) fit(d *draft) bool {
	can := func(u protocol.Utterance) bool { return s.x.State.May(u) }
	inform := protocol.Utterance{Performative: envelope.Inform, Status: envelope.Final}
	cancelled := protocol.Utterance{Performative: envelope.Inform, Status: envelope.Cancelled}
	failure := protocol.Utterance{Performative: envelope.Failure}
	switch {
	case can(d.act):
	case d.act.Performative == envelope.Agree && can(inform):
		// The offer was accepted before the cancel came.
		*d = draft{act: inform, model: d.model}
	case d.act.Performative == envelope.Refuse && can(failure):
		d.act = failure
	case d.act != cancelled && can(cancelled):
		*d = draft{act: cancelled}
	case d.act == cancelled && can(failure):
		*d = draft{act: failure, err: envelope.NewError(envelope.CodeCancelled, "lapsed")}
	default:
		return false
	}
	return true
}
