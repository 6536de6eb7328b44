package a2a

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/store"
)

// readForeignEvent takes an event of an agent that knows no envelopes. How a
// task ended, and what it waits for, is read whole: events tell it in pieces.
func (r *reader) readForeignEvent(ctx context.Context, k *acquaintance, w *watch, e wire.StreamResponse) (took bool, err error) {
	switch {
	case e.Task != nil:
		return r.readForeign(ctx, k, w, e.Task)
	case e.StatusUpdate == nil:
		return false, nil
	case e.StatusUpdate.Status.State == wire.Working:
		return r.readForeign(ctx, k, w, &wire.Task{ID: w.task, Status: e.StatusUpdate.Status})
	}
	task, err := k.client.GetTask(ctx, wire.Call{}, &wire.GetTaskRequest{ID: w.task})
	if err != nil {
		return false, err
	}
	return r.readForeign(ctx, k, w, task)
}

// readForeign gives the host what a task of an agent that knows no envelopes says
// and the host does not have.
func (r *reader) readForeign(ctx context.Context, k *acquaintance, w *watch, task *wire.Task) (took bool, err error) {
	w.taking.Lock()
	defer w.taking.Unlock()
	r.peer.contexts.put(w.correlation, task.ContextID)
	x, err := r.host.Store().Exchange(ctx, w.key)
	if err != nil || x.State.Done() {
		return false, err
	}
	opening, err := r.openingOf(ctx, x)
	if err != nil {
		return false, err
	}
	v, at := voice{opening}, task.Status.Timestamp
	why := func(c envelope.Code, reason string) func(int64) ([]byte, error) {
		p := envelope.Failure
		if task.Status.State == wire.Rejected && x.State.Received == 0 {
			p = envelope.Refuse
		}
		return func(seq int64) ([]byte, error) { return v.cannot(seq, p, at, envelope.NewError(c, reason)) }
	}
	agreed := x.State.Received > 0
	var last func(seq int64) ([]byte, error)
	switch task.Status.State {
	case wire.Working, wire.InputRequired:
	case wire.Completed:
		last = func(seq int64) ([]byte, error) { return v.result(seq, resultOf(task), at) }
	case wire.Failed:
		last = why(envelope.CodePermanent, "failed")
	case wire.Rejected:
		agreed, last = true, why(envelope.CodePermanent, "rejected")
	case wire.AuthRequired:
		last = why(envelope.CodeAuth, "auth-required")
	case wire.Canceled:
		if agreed, last = agreed || x.State.Cancel != "", why(envelope.CodeCancelled, "cancelled"); x.State.Cancel != "" {
			last = func(seq int64) ([]byte, error) { return v.cancelled(seq, at) }
		}
	default:
		return false, nil
	}
	seq := x.State.Received
	if !agreed {
		seq++
		if err := r.giveMade(ctx, w, seq, v.agree); err != nil {
			return took, err
		}
		took = true
	}
	if last != nil {
		seq++
		if err := r.giveMade(ctx, w, seq, last); err != nil {
			return took, err
		}
		took = true
	}
	if task.Status.State == wire.InputRequired {
		asked, err := r.askedByForeign(ctx, k, w, v, task.Status, x)
		return took || asked, err
	}
	return took, r.ended(ctx, w)
}

func (r *reader) giveMade(ctx context.Context, w *watch, seq int64, made func(int64) ([]byte, error)) error {
	data, err := made(seq)
	if err != nil {
		return fmt.Errorf("speaking for %s: %w", w.key.Peer, err)
	}
	return r.give(ctx, w, data)
}

// openingOf is the act that opened an exchange.
func (r *reader) openingOf(ctx context.Context, x store.Exchange) (*envelope.Envelope, error) {
	entry, err := r.host.Store().Message(ctx, x.Key, store.Sent, x.State.Opening)
	if err != nil {
		return nil, fmt.Errorf("reading how %s was opened: %w", x.Conversation, err)
	}
	return envelope.Decode(entry.Envelope)
}

// resultOf are the parts in which a task shows its result: its artifacts, else
// what was said when it ended.
func resultOf(t *wire.Task) []wire.Part {
	var parts []wire.Part
	for i, a := range t.Artifacts {
		if i > 0 && len(parts) > 0 {
			parts = append(parts, wire.Part{Text: new("\n")})
		}
		parts = append(parts, a.Parts...)
	}
	if len(parts) == 0 && t.Status.Message != nil {
		parts = t.Status.Message.Parts
	}
	for i := len(t.History) - 1; i >= 0 && len(parts) == 0; i-- {
		if t.History[i].Role == wire.Agent {
			parts = t.History[i].Parts
		}
	}
	return parts
}

// askedByForeign puts the question that a task waits with to our agent. One that
// our agent cannot be asked is answered by cancelling the task.
func (r *reader) askedByForeign(ctx context.Context, k *acquaintance, w *watch, v voice, status wire.TaskStatus, x store.Exchange) (bool, error) {
	data, err := v.asks(status, x.State.ReplyBy)
	if err != nil {
		return false, fmt.Errorf("asking for %s: %w", w.key.Peer, err)
	}
	q, err := envelope.Decode(data)
	if err != nil {
		return false, err
	}
	switch known, err := r.host.Store().Exchange(ctx, store.Key{Owner: w.key.Owner, Conversation: q.Conversation(), Peer: w.key.Peer}); {
	case err == nil && !known.State.Misread:
		return false, nil // it was asked already
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return false, err
	}
	replies, err := r.host.Take(ctx, agent.Mail{Envelope: data, Caller: w.key.Peer, Task: w.task})
	if err != nil {
		return false, err
	}
	for _, data := range replies {
		reply, err := guard.Open(data)
		if err != nil {
			return false, err
		}
		told := reply.Header().Error
		if reply.ReceiptKind() == envelope.NotUnderstood || reply.ReceiptKind() == envelope.Nack && told != nil && !told.Retriable {
			_, err := k.client.CancelTask(ctx, wire.Call{}, &wire.CancelTaskRequest{ID: w.task})
			return true, err
		}
	}
	return true, nil
}

// contexts keeps what a foreign server calls the business exchanges that our
// agents have with it, so that what belongs together stays together there. It is
// bounded, as each of them is, and a server that is not told makes another.
type contexts struct {
	mu sync.Mutex
	by map[string]string
}

// maxContexts bounds them.
const maxContexts = 4096

func (c *contexts) get(correlation string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.by[correlation]
}

func (c *contexts) put(correlation, context string) {
	if correlation == "" || context == "" || len(context) > maxGiven {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil || len(c.by) >= maxContexts {
		c.by = map[string]string{}
	}
	c.by[correlation] = context
}
