package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// ErrQuestionOpen: the exchange has a question that waits for its answer.
// There is one at a time.
var ErrQuestionOpen = errors.New("a question of this exchange is open already")

// AskBack asks the agent that opened the exchange which ctx works for, and
// waits for its answer. That agent answers with Handle(protocol.Question, …);
// one that does not gives *protocol.NotUnderstoodError, and the handler decides
// without. Other outcomes are those of Ask.
//
// The question is an exchange of its own below the one worked on: it is taken
// only while that is live, it ends with it, and it leaves a margin for the way
// back. Default for Within: all the time that is left, since a person may have
// to answer. A run of the handler after a crash that asks the same meets the
// question, or its answer, of the run before.
//
// An exchange has one open question. Another one is ErrQuestionOpen, also when
// it is asked by a run after a crash that no longer asks what the run before
// did. The answer is held to the question: one that is none of the choices, or
// does not fit the schema, is *protocol.FailedError(validation). A question that
// cannot be answered is *protocol.QuestionError, and outside a handler it is
// ErrOutside. When ctx ends first, the question is withdrawn, and the next one
// waits until that has come there.
func AskBack(ctx context.Context, q protocol.QuestionAsked, opts ...AskOption) (protocol.QuestionAnswered, error) {
	var none protocol.QuestionAnswered
	j := jobOf(ctx)
	if j == nil {
		return none, ErrOutside
	}
	if err := sound(q); err != nil {
		return none, err
	}
	back, err := pose(j.agent, j.key.Peer, protocol.Question, q, append([]AskOption{Within(j.left())}, opts...))
	if err != nil {
		return none, err
	}
	answer, conversation, err := j.askBack(ctx, back)
	if err != nil {
		return none, err
	}
	a, err := schema.Decode[protocol.QuestionAnswered](back.contract.Read(back.contract.Result), answer)
	if err != nil {
		return none, fmt.Errorf("reading the answer of %s: %w", j.key.Peer, err)
	}
	if bad := fitting(q, a); bad != nil {
		return none, &protocol.FailedError{Ending: protocol.Ending{Conversation: conversation, Peer: j.key.Peer,
			Code: envelope.CodeValidation, Reason: guard.ReasonSchema, Pointer: "/content" + bad.Pointer, Want: bad.Want, Got: bad.Got}}
	}
	return a, nil
}

// askBack puts the question to the peer of the job, unless one is open.
func (j *job) askBack(ctx context.Context, q *question) (answer []byte, conversation string, err error) {
	if err := q.ready(ctx); err != nil {
		return nil, "", err
	}
	q.correlation = "" // it is part of what it asks about
	about, err := j.host.store.Exchange(context.WithoutCancel(ctx), j.key)
	if err != nil {
		return nil, "", fmt.Errorf("reading what the question is about: %w", err)
	}
	if about.Mailbox {
		q.task = about.Task
		q.opened = j.host.posing(ctx, about.Key, q.opened)
	}
	j.mu.Lock()
	busy := j.asking
	j.asking = true
	j.mu.Unlock()
	if busy {
		return nil, "", ErrQuestionOpen
	}
	defer func() {
		j.mu.Lock()
		j.asking = false
		j.mu.Unlock()
	}()
	conversation = q.conversation()
	children, err := j.host.store.Children(context.WithoutCancel(ctx), j.key)
	if err != nil {
		return nil, "", fmt.Errorf("reading what was asked: %w", err)
	}
	// A run after a crash goes through what was asked before: that is no other
	// question, whatever is open now.
	if slices.ContainsFunc(children, func(x store.Exchange) bool { return x.Conversation == conversation }) {
		children = nil
	}
	for _, x := range children {
		if !asksBack(x.State.Capability) || x.State.Done() {
			continue
		}
		if x.State.Cancel == "" {
			return nil, "", ErrQuestionOpen
		}
		// It was withdrawn, and is out of the way as soon as that is known there.
		if _, err := j.host.wait(ctx, x.Key); err != nil && ctx.Err() != nil {
			return nil, "", context.Cause(ctx)
		} else if errors.Is(err, ErrStopped) {
			return nil, "", err
		}
	}
	final, err := q.ask(ctx)
	if err != nil {
		return nil, "", err
	}
	return final.Content(), conversation, nil
}

// left is the time that the exchange has left.
func (j *job) left() time.Duration { return j.act.ReplyBy().Sub(j.host.seam.now()) }

// asksBack reports whether the capability is that of a question.
func asksBack(capability string) bool { return capability == questionCapability() }

var questionCapability = sync.OnceValue(func() string { return protocol.Question.Name().Capability() })

// sound is what is wrong with a question.
func sound(q protocol.QuestionAsked) error {
	if err := q.Check(); err != nil || q.Schema == "" {
		return err
	}
	if _, err := schema.Parse([]byte(q.Schema)); err != nil {
		return &protocol.QuestionError{Pointer: "/schema", Want: "a JSON Schema", Got: shown(err.Error())}
	}
	return nil
}

// fitting is what is wrong with an answer, nil if it is one of the question's.
func fitting(q protocol.QuestionAsked, a protocol.QuestionAnswered) *protocol.QuestionError {
	if bad, ok := errors.AsType[*protocol.QuestionError](q.Admits(a)); ok {
		return bad
	}
	if q.Schema == "" {
		return nil
	}
	s, err := schema.Parse([]byte(q.Schema))
	if err == nil {
		err = s.Validate([]byte(a.Value))
	}
	if err == nil {
		return nil
	}
	bad := &protocol.QuestionError{Pointer: "/value", Want: "a value that fits the schema", Got: "another one"}
	if invalid, ok := errors.AsType[*schema.Invalid](err); ok && len(invalid.Violations) > 0 {
		first := invalid.Violations[0]
		bad.Pointer, bad.Want, bad.Got = bad.Pointer+first.Pointer, first.Want, first.Got
	}
	return bad
}
