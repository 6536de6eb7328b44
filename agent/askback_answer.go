package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// answersFit is the runtime's own check of what an agent answers to a question.
func answersFit(a *Agent) {
	Check(protocol.Question, func(ctx context.Context, out protocol.QuestionAnswered) error {
		j := jobOf(ctx)
		if j == nil {
			return ErrOutside
		}
		q, err := read[protocol.QuestionAsked](j)
		if err != nil {
			return err
		}
		if bad := fitting(q, out); bad != nil {
			return bad
		}
		return nil
	}).apply(a)
}

// reasonQuestionOpen is why a second question is refused.
const reasonQuestionOpen = "question-open"

// question judges a question before it is accepted: only who works for this
// agent may ask back, about that work, and one thing at a time.
func (s *step) question(ctx context.Context, e *envelope.Envelope) (verdict, err error) {
	if s.x.Version > 0 || e.Act() != envelope.Request || !asksBack(e.Capability()) {
		return nil, nil
	}
	var q protocol.QuestionAsked
	if err := json.Unmarshal(e.Content(), &q); err != nil {
		return nil, fmt.Errorf("reading the question %s: %w", e.ID(), err)
	}
	if bad, ok := errors.AsType[*protocol.QuestionError](sound(q)); ok {
		return &guard.Violation{Rule: "question", Answer: guard.Misread, Code: envelope.CodeValidation, Reason: guard.ReasonSchema,
			Pointer: "/content" + bad.Pointer, Want: bad.Want, Got: bad.Got}, nil
	}
	about, err := s.host.askedFor(ctx, e)
	if err != nil {
		return nil, err
	}
	if about == nil {
		return &guard.Violation{Rule: "question", Answer: guard.Decline, Code: envelope.CodeAuth, Reason: guard.ReasonPolicy,
			Err: errors.New("it is about no live exchange that this agent opened with its sender")}, nil
	}
	open, err := s.host.questioned(ctx, *about)
	if err != nil || !open {
		return nil, err
	}
	return &guard.Violation{Rule: "question", Answer: guard.Decline, Code: envelope.CodeCapacity, Reason: reasonQuestionOpen, Pointer: "/causation_id"}, nil
}

// askedFor is the live exchange that the question is about. Nil if there is none.
func (h *Host) askedFor(ctx context.Context, e *envelope.Envelope) (*store.Exchange, error) {
	x, err := h.causeOf(ctx, e)
	if err != nil || x == nil || x.State.Done() {
		return nil, err
	}
	return x, nil
}

// causeOf is the exchange in which the question's receiver asked its sender for
// the work that it belongs to, live or not. Nil if there is none.
func (h *Host) causeOf(ctx context.Context, question *envelope.Envelope) (*store.Exchange, error) {
	list, err := h.store.Correlated(ctx, question.Receiver(), question.Correlation())
	if err != nil {
		return nil, fmt.Errorf("reading what the question %s is about: %w", question.ID(), err)
	}
	for _, x := range list {
		if x.Peer == question.Sender() && x.State.Role == protocol.Initiator && causes(x.State, question.Header().CausationID) {
			return &x, nil
		}
	}
	return nil, nil
}

// causes reports whether the act of an exchange is one that asks for work.
func causes(x protocol.Exchange, id string) bool {
	return id != "" && (id == x.Opening || id == x.Call || id == x.Award)
}

// questioned reports whether a question about the exchange is open.
func (h *Host) questioned(ctx context.Context, about store.Exchange) (bool, error) {
	list, err := h.store.Correlated(ctx, about.Owner, about.Correlation)
	if err != nil {
		return false, fmt.Errorf("reading the open questions: %w", err)
	}
	for _, x := range list {
		if x.Peer != about.Peer || x.State.Role != protocol.Participant || x.State.Done() || !asksBack(x.State.Capability) {
			continue
		}
		opening, err := h.openingOf(ctx, x)
		if err != nil {
			return false, err
		}
		if causes(about.State, opening.Header().CausationID) {
			return true, nil
		}
	}
	return false, nil
}

// aboutWork is the conversation that a question in hand is about, "" if it is
// not known any more or the work is no question.
func (h *Host) aboutWork(ctx context.Context, opening *envelope.Envelope) (string, error) {
	if !asksBack(opening.Capability()) {
		return "", nil
	}
	x, err := h.causeOf(ctx, opening)
	if err != nil || x == nil {
		return "", err
	}
	return x.Conversation, nil
}
