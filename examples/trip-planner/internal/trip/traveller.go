package trip

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/examples/trip-planner/internal/contract"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// patience is how long a trip stays open for its traveller.
const patience = 24 * time.Hour

// askBack is the planner's function for asking the traveller.
const askBack = "ask_back"

// ErrNoAnswer: the traveller does not answer.
var ErrNoAnswer = errors.New("no answer")

// travellerAgent asks for trips, and answers what the planner asks back if its
// person can be asked. The answer says what trip is wanted. It confirms nothing:
// that is read from the request alone.
func travellerAgent(o Options) *agent.Agent {
	if o.Answer == nil {
		return agent.New("traveller")
	}
	return agent.New("traveller", agent.Handle(protocol.Question, func(ctx context.Context, q protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
		if len(q.Choices) > 0 || q.Schema != "" || utf8.RuneCountInString(string(q.Text)) > maxAnswer {
			return protocol.QuestionAnswered{}, agent.Refuse(envelope.CodeValidation, "plain-words")
		}
		said, err := o.Answer(ctx, string(q.Text))
		said = strings.TrimSpace(said)
		switch {
		case errors.Is(err, ErrNoAnswer), err == nil && said == "":
			return protocol.QuestionAnswered{}, agent.Refuse(envelope.CodePermanent, "no-answer")
		case err == nil && utf8.RuneCountInString(said) > maxAnswer:
			return protocol.QuestionAnswered{}, agent.Refuse(envelope.CodeValidation, "too-long")
		}
		return protocol.QuestionAnswered{Text: protocol.Text(said)}, err
	}))
}

// maxAnswer is how long a question and its answer may be, in characters: as
// long as a request can repeat them.
const maxAnswer = 2000

// askedBack are the questions that the planner asked while it worked on the
// exchange and that were answered, oldest first.
func (w *World) askedBack(ctx context.Context, about store.Exchange) ([]contract.Answered, error) {
	xs, err := w.planner.Store().Correlated(ctx, about.Owner, about.Correlation)
	if err != nil {
		return nil, fmt.Errorf("reading what was asked: %w", err)
	}
	slices.SortStableFunc(xs, func(a, b store.Exchange) int { return a.OpenedAt.Compare(b.OpenedAt) })
	var list []contract.Answered
	for _, x := range xs {
		if x.State.Role != protocol.Participant || !x.State.Outcome().OK() || x.State.Capability != protocol.Question.Name().Capability() {
			continue
		}
		opening, err := w.message(ctx, x.Key, store.Received, x.State.Opening)
		if err != nil {
			return nil, err
		}
		if opening.Header().CausationID != about.State.Opening {
			continue
		}
		var q protocol.QuestionAsked
		var a protocol.QuestionAnswered
		if err := json.Unmarshal(opening.Content(), &q); err != nil {
			return nil, fmt.Errorf("reading question %s: %w", opening.ID(), err)
		}
		if err := w.read(ctx, x.Key, store.Sent, x.Final, &a); err != nil {
			return nil, err
		}
		list = append(list, contract.Answered{Question: agent.Text(q.Text), Answer: agent.Text(a.Text)})
	}
	return list, nil
}
