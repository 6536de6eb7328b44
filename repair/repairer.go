package repair

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/internal/mutant"
	"github.com/parley-agents/parley/llm"
)

// Repairer mends what a model wrote and, where that is not possible, asks the model again. The zero value only mends.
// It has no state of its own: it may be used from several goroutines at once if its Model, Nonce, Now and Observe may.
type Repairer struct {
	Model  llm.Model // who is asked; nil means nobody
	Budget Budget    // what one call of Fix may spend
	// Nonce is where the 16 random bytes come from that mark the untrusted part of a prompt. Nil means crypto/rand;
	// a predictable reader defeats the mark.
	Nonce io.Reader
	// Now tells the time that Budget.Deadline is compared with. Nil leaves that to the context package.
	Now func() time.Time
	// Observe, if not nil, is told of each attempt before the next begins. It must not block.
	Observe func(Event)
}

// Attempt is one text of a model and what is known about it.
type Attempt struct {
	Raw     []byte         // what the model wrote; never what a peer wrote
	Schema  *schema.Schema // what it should satisfy
	Options Options
	Usage   llm.Usage // of the completion that wrote it; sizes the default budget
}

// Result is a value that satisfies the schema, and what it took.
type Result struct {
	Value      []byte      // canonical JSON (RFC 8785)
	Fixes      []Fix       // what was changed locally; offsets are into the text that each was made in
	Tries      int         // how many times the model was asked
	Usage      llm.Usage   // of those tries, as the endpoint reports it
	Violations []Violation // what was wrong with the text first; empty if nothing was
}

// Kind says what an Event is about.
type Kind string

// The kinds of Event.
const (
	KindMend     Kind = "mend"     // the local attempt
	KindReask    Kind = "re-ask"   // the model was asked for the failing part
	KindEscalate Kind = "escalate" // the model was asked for the whole value
)

// Event tells of one attempt.
type Event struct {
	Kind       Kind
	Try        int         // 0 for the local attempt, then from 1
	Outcome    Outcome     // of the whole value after this attempt
	Violations []Violation // what is wrong with the value, or with the model's reply (rule reply)
	Fixes      []Fix
	Tokens     int // output tokens of this attempt
}

// GaveUp says that no value was obtained within the budget. It holds places and rules but none of the model's words.
type GaveUp struct {
	Violations []Violation // what was wrong at the end; Got is empty
	Tries      int
	Tokens     int // output tokens spent
}

// Error names the violations.
func (e *GaveUp) Error() string {
	list := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		list[i] = v.String()
	}
	return fmt.Sprintf("repair gave up after %d tries and %d tokens: %s", e.Tries, e.Tokens, strings.Join(list, ", "))
}

// Fix returns the value that a.Raw was meant to be.
//
// It mends locally first. If that is not enough, it asks the model for the failing part, merges the answer and checks
// the whole again, at most twice; then, or as soon as an answer brings no progress, it asks once for the whole value
// at temperature 0. Each question is a fresh context that holds nothing of the conversation: the schema of the part,
// its current value and what is wrong with it, quoted behind a random mark.
//
// The error is a *GaveUp if the budget did not suffice or if the text was withheld, declined or oversized; it is the
// model's own error, wrapped, if the model could not be reached, and the context's if ctx ended. With an error, Result
// still says what was spent. Fix returns when one of these is settled; it starts nothing that outlives it.
func (r Repairer) Fix(ctx context.Context, a Attempt) (Result, error) {
	mended, d := mend(a.Raw, a.Schema, a.Options)
	s := &session{Repairer: r, attempt: a, draft: d, result: Result{Violations: mended.Violations}}
	s.Budget = r.Budget.withDefaults(a.Usage)
	s.report(Event{Kind: KindMend, Outcome: mended.Outcome, Violations: mended.Violations, Fixes: mended.Fixes})
	switch {
	case mended.Outcome == OK || mended.Outcome == Repaired:
		s.result.Value, s.result.Fixes = mended.Value, mended.Fixes
		return s.result, nil
	case mended.Outcome == Rejected:
		s.draft.violations = mended.Violations
		return s.result, s.giveUp()
	case r.Model == nil || mutant.Repair:
		return s.result, s.giveUp()
	}
	err := s.run(ctx)
	return s.result, err
}

// session is one call of Fix that needs the model.
type session struct {
	Repairer
	attempt   Attempt
	draft     draft
	result    Result
	spent     int // output tokens
	reasks    int
	escalated bool
}

func (s *session) run(parent context.Context) error {
	ctx, cancel := s.Budget.within(parent, s.Now)
	defer cancel()
	stuck := false
	for {
		kind, ok := s.next(stuck)
		if err := parent.Err(); err != nil {
			return fmt.Errorf("repair: %w", err)
		}
		if !ok || ctx.Err() != nil {
			return s.giveUp()
		}
		before := signature(s.draft.violations)
		done, err := s.try(ctx, kind)
		switch {
		case err != nil && parent.Err() == nil && ctx.Err() != nil:
			return s.giveUp() // our own deadline ended it
		case err != nil:
			return fmt.Errorf("repair: %s: %w", kind, err)
		case done:
			return nil
		}
		stuck = signature(s.draft.violations) == before
	}
}

// next chooses what to try; false if the budget is spent.
func (s *session) next(stuck bool) (Kind, bool) {
	switch {
	case s.result.Tries >= s.Budget.Tries || s.spent >= s.Budget.Tokens || s.escalated:
		return "", false
	case !stuck && s.reasks < maxReasks:
		s.reasks++
		return KindReask, true
	}
	s.escalated = true
	return KindEscalate, true
}

// try asks once. It reports whether the value is whole now; an error means that the model could not be asked.
func (s *session) try(ctx context.Context, kind Kind) (bool, error) {
	q, err := s.question(kind)
	if err != nil {
		return false, err
	}
	left := s.Budget.Tokens - s.spent
	if q.oversized(left) {
		// The answer would not fit in the budget, and half of the value is no ground for the other half.
		s.escalated = true
		return false, nil
	}
	request := q.request(left)
	if kind == KindEscalate {
		request.Temperature = new(float64)
	}
	s.result.Tries++
	response, err := s.Model.Complete(ctx, request)
	if err != nil {
		if response, err = unusable(err); err != nil {
			return false, err
		}
	}
	tokens := cost(response)
	s.spent += tokens
	s.result.Usage = s.result.Usage.Add(response.Usage)
	mended, d := s.merge(q, response)
	s.report(Event{
		Kind: kind, Try: s.result.Tries, Outcome: mended.Outcome, Violations: mended.Violations, Fixes: mended.Fixes, Tokens: tokens,
	})
	if mended.Outcome == OK || mended.Outcome == Repaired {
		s.result.Value, s.result.Fixes = mended.Value, mended.Fixes
		return true, nil
	}
	s.draft = d
	return false, nil
}

// unusable turns the error of a model that did answer, but not usably, into that answer.
func unusable(err error) (*llm.Response, error) {
	failure, ok := errors.AsType[*llm.Error](err)
	switch {
	case ok && failure.Kind == llm.ErrorOutputInvalid:
		return &llm.Response{Text: failure.Text}, nil
	case ok && failure.Kind == llm.ErrorCut:
		return &llm.Response{Finish: llm.FinishLength}, nil
	}
	return nil, err
}

func (s *session) report(e Event) {
	if s.Observe != nil {
		s.Observe(e)
	}
}

// giveUp leaves out what the model wrote, and cuts pointers short: a pointer has the names of members in it.
func (s *session) giveUp() *GaveUp {
	list := slices.Clone(s.draft.violations)
	for i := range list {
		v := &list[i]
		v.Got = ""
		for len(v.Pointer) > maxPointer {
			v.Pointer = parent(v.Pointer)
		}
	}
	return &GaveUp{Violations: list, Tries: s.result.Tries, Tokens: s.spent}
}

// maxPointer is the longest pointer that an error carries, in bytes.
const maxPointer = 256

// signature tells two sets of violations apart.
func signature(list []Violation) string {
	lines := make([]string, len(list))
	for i, v := range list {
		lines[i] = v.String()
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
