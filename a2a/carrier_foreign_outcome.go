package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/internal/strictjson"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// foreignOutcome answers what became of an exchange with an agent that cannot be
// asked that: its task says so.
func (d *delivery) foreignOutcome(ctx context.Context) ([][]byte, error) {
	v := voice{opening: d.Envelope}
	ack, err := v.receipt(d.Envelope, envelope.Ack, nil)
	if err != nil {
		return nil, err
	}
	answer, err := d.outcomeOf(ctx)
	if e, ok := errors.AsType[*wire.Error](err); ok && e.Kind == wire.TaskNotFound || errors.Is(err, store.ErrNotFound) {
		failure, err := v.cannot(1, envelope.Refuse, d.host.Now(), envelope.NewError(envelope.CodePermanent, "forgotten"))
		return [][]byte{ack, failure}, err
	}
	if err != nil {
		return nil, sendError(err)
	}
	content, err := strictjson.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("telling the outcome: %w", err)
	}
	told, err := v.says(1, "outcome", envelope.Inform, d.host.Now(), func(h *envelope.Header) {
		h.Status, h.Schema = envelope.Final, outcomeName().Result()
	}, content)
	return [][]byte{ack, told}, err
}

func outcomeName() protocol.Name {
	n, err := protocol.ParseName(protocol.OutcomeName)
	if err != nil {
		panic(err) // a constant of the module's own
	}
	return n
}

// outcomeOf reads the task of the exchange that was asked about. It is
// store.ErrNotFound where no task is known.
func (d *delivery) outcomeOf(ctx context.Context) (any, error) {
	var asked protocol.OutcomeAsked
	if err := json.Unmarshal(d.Content(), &asked); err != nil {
		return nil, err
	}
	x, err := d.host.Store().Exchange(ctx, store.Key{Owner: d.key.Owner, Conversation: asked.Conversation, Peer: d.key.Peer})
	if err != nil {
		return nil, err
	}
	if x.Task == "" {
		return nil, store.ErrNotFound
	}
	task, err := d.known.client.GetTask(ctx, d.foreignCall(), &wire.GetTaskRequest{ID: x.Task})
	if err != nil {
		return nil, err
	}
	a := protocol.OutcomeAnswered[json.RawMessage]{Status: protocol.OutcomeFailed, At: d.host.Now().UTC().Truncate(time.Millisecond)}
	fault := func(o protocol.Outcome, c envelope.Code, reason string) {
		a.Outcome, a.Error = o, protocol.Fault(envelope.NewError(c, reason))
	}
	switch task.Status.State {
	case wire.Completed:
		name, err := protocol.ParseName(strings.TrimPrefix(x.State.Capability, "urn:cap:"))
		if err != nil {
			return nil, err
		}
		content, want := contentOf(name, resultOf(task))
		if want != "" {
			fault(protocol.Failed, envelope.CodeValidation, guard.ReasonSchema)
			break
		}
		a.Status, a.Outcome, a.Result = protocol.OutcomeDone, protocol.OK, content
	case wire.Failed:
		fault(protocol.Failed, envelope.CodePermanent, "failed")
	case wire.Rejected:
		fault(protocol.Refused, envelope.CodePermanent, "rejected")
	case wire.Canceled:
		fault(protocol.Cancelled, envelope.CodeCancelled, "cancelled")
	default:
		a.Status = protocol.OutcomeInProgress
	}
	return a, nil
}
