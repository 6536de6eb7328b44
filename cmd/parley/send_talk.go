package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/a2a/wire"
)

// talk is one message to an agent and what comes of it.
type talk struct {
	cmd *cobra.Command
	url string
	to  wire.Service
	out *speech
}

// ask sends the message, waits for what it comes to and prints that.
func (t *talk) ask(ctx context.Context, r *wire.SendMessageRequest) error {
	answer, err := t.to.SendMessage(ctx, wire.Call{}, r)
	if err == nil && answer.Task != nil {
		answer.Task, err = t.settled(ctx, answer.Task)
	}
	if err != nil {
		return err
	}
	return t.conclude(answer)
}

// impatience is how long a task is left alone whose agent answered before it had
// ended.
const impatience = time.Second

// settled is the task when it has ended or waits for its client. Not every agent
// waits with its answer until then.
func (t *talk) settled(ctx context.Context, task *wire.Task) (*wire.Task, error) {
	for !task.Status.State.Terminal() && !task.Status.State.Interrupted() {
		if err := pause(ctx, impatience); err != nil {
			return nil, err
		}
		fresh, err := t.to.GetTask(ctx, wire.Call{}, &wire.GetTaskRequest{ID: task.ID})
		if err != nil {
			return nil, err
		}
		task = fresh
	}
	return task, nil
}

// follow sends the message and prints what comes of it as it comes.
func (t *talk) follow(ctx context.Context, r *wire.SendMessageRequest) error {
	events, err := t.to.SendStreamingMessage(ctx, wire.Call{}, r)
	if err != nil {
		return err
	}
	last := &wire.SendMessageResponse{}
	for e, err := range events {
		if err != nil {
			return err
		}
		if err := t.event(e.Response); err != nil {
			return err
		}
		switch {
		case e.Response.Message != nil:
			last.Message = e.Response.Message
		case e.Response.Task != nil:
			last.Task = e.Response.Task
		}
	}
	if err := t.out.end(); err != nil {
		return err
	}
	switch {
	case last.Task != nil:
		whole, err := t.to.GetTask(ctx, wire.Call{}, &wire.GetTaskRequest{ID: last.Task.ID})
		if err == nil {
			last.Task, err = t.settled(ctx, whole)
		}
		if err != nil {
			return err
		}
	case last.Message == nil:
		return &violationError{"the agent's stream ended with neither a message nor a task"}
	}
	if format(t.cmd) == formatJSONL {
		return t.outcome(last.Task)
	}
	if last.Message != nil && format(t.cmd) == formatTable {
		return nil // it was printed when it came
	}
	return t.conclude(last)
}

// event prints an event of the stream in the format that was asked for; the
// indented JSON is that of the whole, at the end.
func (t *talk) event(e wire.StreamResponse) error {
	switch format(t.cmd) {
	case formatJSON:
		return nil
	case formatJSONL:
		return writeLine(t.cmd.OutOrStdout(), json.RawMessage(wire.Encode(&e)))
	}
	if e.StatusUpdate != nil {
		fmt.Fprintln(t.cmd.ErrOrStderr(), stateWord(e.StatusUpdate.Status.State))
	}
	return t.out.event(e)
}

// conclude prints the answer and gives what the verb ends with.
func (t *talk) conclude(answer *wire.SendMessageResponse) (err error) {
	switch format(t.cmd) {
	case formatJSON:
		err = writeJSON(t.cmd.OutOrStdout(), json.RawMessage(wire.Encode(answer)))
	case formatJSONL:
		err = writeLine(t.cmd.OutOrStdout(), json.RawMessage(wire.Encode(answer)))
	default:
		if answer.Message != nil {
			err = t.out.say(answer.Message.Parts)
		} else {
			err = t.out.task(answer.Task)
		}
	}
	if err != nil {
		return err
	}
	return t.outcome(answer.Task)
}

// outcome is what the verb ends with when the task stands as it does; nil for a
// message, which needs no task.
func (t *talk) outcome(task *wire.Task) error {
	if task == nil {
		return nil
	}
	switch state := task.Status.State; state {
	case wire.Completed:
		return nil
	case wire.InputRequired:
		return fmt.Errorf("the agent waits for an answer: parley send %s --task %s gives it one", t.url, task.ID)
	case wire.AuthRequired:
		return &deniedError{fmt.Sprintf("the agent wants credentials for task %s", task.ID)}
	default:
		text := fmt.Sprintf("task %s ended: %s", task.ID, stateWord(state))
		if m := task.Status.Message; m != nil {
			text += ": " + strings.Join(words(m.Parts), " ")
		}
		return errors.New(text)
	}
}

// stateWord is a state as people read it, such as input-required.
func stateWord(s wire.TaskState) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(string(s), "TASK_STATE_"), "_", "-"))
}
