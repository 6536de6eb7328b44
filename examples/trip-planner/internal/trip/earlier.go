package trip

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/examples/trip-planner/internal/contract"
	"github.com/parley-agents/parley/examples/trip-planner/internal/sentence"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// maxAnswers is how many questions of one trip may be answered.
const maxAnswers = 20

// ErrTooMany: the trip has been asked about too often.
var ErrTooMany = errors.New("too many questions were answered already: describe the trip anew")

// ErrNoQuestion: the conversation did not end with a question.
var ErrNoQuestion = errors.New("it did not end with a question")

// Continue makes the request that answers the question of an earlier
// conversation, and the correlation id that ties the two together. Nothing is
// resumed: the planner starts again with all that was said.
func (w *World) Continue(ctx context.Context, conversation, answer string) (r contract.PlanRequest, q Question, err error) {
	x, err := w.planner.Store().Exchange(ctx, w.key(conversation))
	if errors.Is(err, store.ErrNotFound) {
		return r, q, fmt.Errorf("conversation %s: %w", conversation, store.ErrNotFound)
	}
	if err != nil {
		return r, q, err
	}
	if err := w.read(ctx, x.Key, store.Sent, x.State.Opening, &r); err != nil {
		return r, q, err
	}
	var p contract.Plan
	if x.Final != "" {
		if err := w.read(ctx, x.Key, store.Received, x.Final, &p); err != nil {
			return r, q, err
		}
	}
	if p.Question == "" {
		return r, q, fmt.Errorf("conversation %s: %w", conversation, ErrNoQuestion)
	}
	open, err := w.askedBack(ctx, x)
	if err != nil {
		return r, q, err
	}
	r.Earlier = append(r.Earlier, open...)
	r.Earlier = append(r.Earlier, contract.Answered{Question: p.Question, Answer: agent.Text(answer)})
	if len(r.Earlier) > maxAnswers {
		return r, q, fmt.Errorf("conversation %s: %w", conversation, ErrTooMany)
	}
	// Whether the traveller said yes is decided here, not by the model. An
	// earlier yes does not count for what is asked now.
	r.Accepted = nil
	if p.Offer != nil && sentence.Decide(answer) == sentence.Yes {
		r.Accepted = p.Offer
	}
	r.Confirmed = r.Accepted != nil
	return r, Question{Conversation: conversation, Correlation: x.Correlation}, nil
}

// Interrupted is a request that an earlier process did not live to see
// answered.
type Interrupted struct {
	Request      contract.PlanRequest
	Conversation string
}

// Interrupted lists them. The planner goes on with them by itself.
func (w *World) Interrupted(ctx context.Context) ([]Interrupted, error) {
	xs, err := w.planner.Store().Exchanges(ctx, w.traveller.URI(), "")
	if err != nil {
		return nil, fmt.Errorf("reading what was interrupted: %w", err)
	}
	var list []Interrupted
	for _, x := range xs {
		if x.State.Role != protocol.Initiator {
			continue // a question of the planner's
		}
		i := Interrupted{Conversation: x.Conversation}
		if err := w.read(ctx, x.Key, store.Sent, x.State.Opening, &i.Request); err != nil {
			return nil, err
		}
		list = append(list, i)
	}
	return list, nil
}

// Await waits for how an interrupted request ends.
func (w *World) Await(ctx context.Context, conversation string) (contract.Plan, error) {
	x, err := agent.Resume(ctx, w.traveller, "planner", conversation, contract.PlanTrip)
	if err != nil {
		return contract.Plan{}, err
	}
	return x.Wait(ctx)
}

// read decodes the content of a message in the traveller's log.
func (w *World) read(ctx context.Context, k store.Key, kind store.EntryKind, id string, v any) error {
	e, err := w.message(ctx, k, kind, id)
	if err != nil {
		return err
	}
	return json.Unmarshal(e.Content(), v)
}

func (w *World) message(ctx context.Context, k store.Key, kind store.EntryKind, id string) (*envelope.Envelope, error) {
	entry, err := w.planner.Store().Message(ctx, k, kind, id)
	if err != nil {
		return nil, fmt.Errorf("reading message %s: %w", id, err)
	}
	return envelope.Decode(entry.Envelope)
}
