package trip

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/examples/trip-planner/internal/contract"
	"github.com/parley-agents/parley/store"
)

// ErrNoQuestion: the conversation did not end with a question.
var ErrNoQuestion = errors.New("it did not end with a question")

// Continue makes the request that answers the question of an earlier
// conversation, and the correlation id that ties the two together. Nothing is
// resumed: the planner starts again with all that was said.
func (w *World) Continue(ctx context.Context, conversation, answer string) (r contract.PlanRequest, correlation string, err error) {
	x, err := w.planner.Store().Exchange(ctx, w.key(conversation))
	if errors.Is(err, store.ErrNotFound) {
		return r, "", fmt.Errorf("conversation %s: %w", conversation, store.ErrNotFound)
	}
	if err != nil {
		return r, "", err
	}
	if err := w.read(ctx, x.Key, store.Sent, x.State.Opening, &r); err != nil {
		return r, "", err
	}
	var p contract.Plan
	if x.Final != "" {
		if err := w.read(ctx, x.Key, store.Received, x.Final, &p); err != nil {
			return r, "", err
		}
	}
	if p.Question == "" {
		return r, "", fmt.Errorf("conversation %s: %w", conversation, ErrNoQuestion)
	}
	r.Earlier = append(r.Earlier, contract.Answered{Question: p.Question, Answer: agent.Text(answer)})
	return r, x.Correlation, nil
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
