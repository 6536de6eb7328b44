package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store"
)

// followUp takes a foreign message on a task: it answers the open question. While
// nothing is asked it is kept with the task, and moves nothing until a question
// comes that it answers.
func (s *service) followUp(ctx context.Context, c wire.Call, caller, id string, m *wire.Message, kept original) (store.Exchange, error) {
	var none store.Exchange
	x, err := s.find(ctx, c, m.TaskID)
	if err != nil {
		return none, err
	}
	if m.ContextID != "" && m.ContextID != x.Correlation {
		return none, invalid("message.contextId", "is not the context of the task")
	}
	if x.State.Done() {
		return none, errEnded
	}
	question, err := s.questionOf(ctx, x)
	if err != nil {
		return none, err
	}
	if question != nil {
		return x, s.answer(ctx, c, *question, id, m, kept)
	}
	if slices.ContainsFunc(m.Parts, func(p wire.Part) bool { return p.Text == nil && p.Data == nil }) {
		return none, errFile
	}
	if kept.Outside { // a note has no content beside it
		return none, invalid("message.parts", fmt.Sprintf("must be shorter than %d bytes while nothing is asked", maxOriginal))
	}
	note, err := json.Marshal(kept)
	if err != nil {
		return none, err
	}
	switch err := s.host.Note(ctx, x.Key, id, note); {
	case errors.Is(err, agent.ErrEnded):
		return none, errEnded
	case errors.Is(err, store.ErrNotFound):
		return none, noTask(m.TaskID)
	case isSpent(err):
		return none, wire.Errorf(wire.Overloaded, "the task takes no more messages while nothing is asked")
	case err != nil && !errors.Is(err, store.ErrDuplicate):
		return none, refused(err)
	}
	return x, nil
}

var errEnded = wire.Errorf(wire.UnsupportedOperation, "the task has ended and takes no more messages")

// isSpent reports whether an exchange has no room for a note.
func isSpent(err error) bool {
	d, ok := errors.AsType[*agent.Decision](err)
	return ok && d.Code == envelope.CodeCapacity
}

// questionOf is the open question about the exchange, nil if there is none.
func (s *service) questionOf(ctx context.Context, x store.Exchange) (*store.Exchange, error) {
	_, asked, err := s.again(ctx, x)
	if err != nil {
		return nil, err
	}
	for _, q := range asked {
		if waits(q.State.State) {
			return &q, nil
		}
	}
	return nil, nil
}
