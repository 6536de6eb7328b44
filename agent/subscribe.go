package agent

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// subscribeWithin is how long a subscription is for when nothing else is said.
const subscribeWithin = 24 * time.Hour

// Subscribe opens a subscription with another agent and tells its items in
// order as they come; each was checked against the stream's schema. The
// subscription is opened when the sequence is ranged over, each time anew. It
// ends without an error when the publisher ends the stream. Leaving the loop
// cancels it. Otherwise an error ends the sequence: the typed error of the
// outcome, as of Ask; a *protocol.FailedError(validation, schema) with the
// pointer into it when an item did not fit, the subscription being cancelled
// then; ctx's cause, after the subscription was cancelled; ErrStopped when the
// host stops.
//
// Within says how long the subscription is for, 24 h by default; after that it
// is cancelled, which the publisher confirms. An exchange has room for 1000
// messages: a stream that is longer ends with FailedError(capacity, budget) and
// may be opened again. Items are durable before they are told: a handler that
// runs again after a crash is told those of the first run's subscription from
// the start. For the rest see Ask.
func Subscribe[In, Item any](ctx context.Context, from *Agent, to string, s protocol.Stream[In, Item], in In, opts ...AskOption) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		var none Item
		q, err := pose(from, to, s, in, append([]AskOption{Within(subscribeWithin)}, opts...))
		if err != nil {
			yield(none, err)
			return
		}
		k, err := q.start(ctx)
		if err != nil {
			yield(none, err)
			return
		}
		told := func(item []byte) bool {
			v, err := schema.Decode[Item](q.contract.Read(q.contract.Item), item)
			return yield(v, err) && err == nil
		}
		if err := q.listen(ctx, k, told); err != nil && !errors.Is(err, errEnough) {
			yield(none, err)
		}
	}
}

// errEnough: whoever listens has left.
var errEnough = errors.New("nobody listens any more")

// listen tells the items of a subscription until it ends.
func (q *question) listen(ctx context.Context, k store.Key, told func(item []byte) bool) error {
	for event, err := range q.host.watch(ctx, k) {
		if err != nil {
			if ctx.Err() != nil {
				q.host.cancel(q.host.running, k)
			}
			return err
		}
		a, ok := event.(*Acted)
		if !ok || a.Event != "?inform~" {
			continue
		}
		if a.Kind == store.Rejected {
			if a.Reason != guard.ReasonSchema && a.Reason != guard.ReasonUnsupportedVersion {
				continue // it came too late, or is a forgery: neither is an item
			}
			q.host.cancel(q.host.running, k)
			return q.unfit(k, a.Message)
		}
		if !a.From.Done() && !told(a.Message.Content()) {
			q.host.cancel(q.host.running, k)
			return errEnough
		}
	}
	x, err := q.host.store.Exchange(context.WithoutCancel(ctx), k)
	if err != nil {
		return q.host.cause(ctx, err)
	}
	return x.State.Err()
}

// unfit is the error of an item that was refused.
func (q *question) unfit(k store.Key, e *envelope.Envelope) error {
	end := protocol.Ending{Conversation: k.Conversation, Peer: k.Peer, Code: envelope.CodeValidation, Reason: guard.ReasonSchema, Pointer: "/schema"}
	if invalid, ok := errors.AsType[*schema.Invalid](q.contract.Read(q.contract.Item).Validate(e.Content())); ok && len(invalid.Violations) > 0 {
		v := invalid.Violations[0]
		end.Pointer, end.Want, end.Got = "/content"+v.Pointer, v.Want, v.Got
	}
	return &protocol.FailedError{Ending: end}
}
