package peers

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
)

// scenario is one thing that a client does with our server.
type scenario struct {
	operation, variant string
	run                func(s *scene) error
}

// scene is a scenario that is being played.
type scene struct {
	*testing.T
	ctx  context.Context
	ours *ours
	peer peer
	ids  int
}

// say is a new message with the text.
func (s *scene) say(text string) message {
	s.ids++
	return message{ID: fmt.Sprintf("%s-%d", s.Name(), s.ids), Text: text}
}

const (
	submitted     = "TASK_STATE_SUBMITTED"
	working       = "TASK_STATE_WORKING"
	completed     = "TASK_STATE_COMPLETED"
	failed        = "TASK_STATE_FAILED"
	rejected      = "TASK_STATE_REJECTED"
	canceled      = "TASK_STATE_CANCELED"
	inputRequired = "TASK_STATE_INPUT_REQUIRED"
)

// scenarios are played by every client, each before a server of its own.
func scenarios() []scenario {
	return slices.Concat(sending(), streaming(), reading(), cancelling(), subscribing(), pushing(), describing())
}

// run sends the text and returns at once, with a task in progress.
func (s *scene) begin(text string) (task, error) {
	m := s.say(text)
	m.Immediately = true
	t, err := s.peer.Send(s.ctx, m)
	if err == nil && (t.ID == "" || t.Context == "") {
		err = fmt.Errorf("the task has no id or context: %+v", t)
	}
	return t, err
}

// ended reads the task until it is in one of the states.
func (s *scene) until(id string, states ...string) (task, error) {
	for {
		t, err := s.peer.Get(s.ctx, id)
		if err != nil || slices.Contains(states, t.State) {
			return t, err
		}
		if err := s.ctx.Err(); err != nil {
			return t, fmt.Errorf("the task is %s: %w", t.State, err)
		}
	}
}

// want is what a task must look like.
func want(t task, err error, state string, texts ...string) error {
	switch {
	case err != nil:
		return err
	case t.State != state:
		return fmt.Errorf("the task is %s, not %s: %+v", t.State, state, t)
	case !slices.Equal(t.Texts, texts):
		return fmt.Errorf("its artifacts say %q, not %q", t.Texts, texts)
	}
	return nil
}

// refusal is what a refusal must look like.
func refusal(err error, reason string) error {
	if r, ok := errors.AsType[*refused](err); !ok || r.Reason != reason {
		return fmt.Errorf("got %v, want %s", err, reason)
	}
	return nil
}

// story is what a stream told; see is shown each event as it comes.
func story(events iter.Seq2[event, error], see func(event)) ([]event, error) {
	var told []event
	for e, err := range events {
		if err != nil {
			return told, err
		}
		told = append(told, e)
		if see != nil {
			see(e)
		}
	}
	return told, nil
}

// ends is how a stream must go: it begins with the task, says the text, and ends
// when the task is in the state, which it may have come to before the stream
// began.
func ends(told []event, err error, state, text string) error {
	if err != nil {
		return fmt.Errorf("after %v: %w", told, err)
	}
	if len(told) == 0 || told[0].Kind != "task" || told[len(told)-1].State != state {
		return fmt.Errorf("the stream went %v, and not from a task to %s", told, state)
	}
	for i, e := range told {
		if i > 0 && e.Kind == "task" || i < len(told)-1 && e.State == state {
			return fmt.Errorf("the stream went %v, and on after its end", told)
		}
	}
	if !slices.ContainsFunc(told, func(e event) bool { return e.Text == text }) {
		return fmt.Errorf("the stream went %v, and nowhere said %q", told, text)
	}
	return nil
}
