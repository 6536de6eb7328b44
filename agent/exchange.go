package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// Exchange is an exchange that one of this host's agents opened. It is a
// handle, not the exchange itself: that lives in the store, goes on without
// the handle and can be met again with Resume. It is safe for concurrent use.
type Exchange[Out any] struct {
	host     *Host
	key      store.Key
	contract *guard.Contract
}

// Start opens an exchange with another agent and returns when the question is
// durable, before it is answered. Whatever happens to ctx afterwards, the
// exchange goes on until it is answered, cancelled or its deadline passes. When
// ctx has ended before that, nothing is opened and ctx's cause is returned.
//
// Inside a handler the exchange belongs to the work as one of Ask does. What
// the handler has not waited for goes on when the work ends well; it is cancelled
// as soon as the work is cancelled, fails, is refused or runs out of time, also
// when that happened while no host ran. The same holds for whatever else the
// work opened. To clean up after a cancel, a handler asks with a context that
// does not end, such as context.WithoutCancel's, and waits for the answer.
func Start[In, Out any](ctx context.Context, from *Agent, to string, c protocol.Contract[In, Out], in In, opts ...AskOption) (*Exchange[Out], error) {
	q, err := pose(from, to, c, in, opts)
	if err != nil {
		return nil, err
	}
	k, err := q.start(ctx)
	if err != nil {
		return nil, err
	}
	return &Exchange[Out]{host: from.host, key: k, contract: q.contract}, nil
}

// Resume is the handle of an exchange that the agent opened earlier, perhaps
// before a restart. It must be given the contract that the exchange is about;
// an answer that came meanwhile is taken as soon as its sender tries again. An
// exchange that the store does not have, or that the agent did not open, gives
// store.ErrNotFound. It returns when the store has been read, or with ctx's
// cause when ctx ends.
func Resume[In, Out any](ctx context.Context, from *Agent, to, conversation string, c protocol.Contract[In, Out]) (*Exchange[Out], error) {
	bound, err := bindAsked(from, c)
	if err != nil {
		return nil, err
	}
	peer, err := from.host.resolve(to)
	if err != nil {
		return nil, err
	}
	if _, err := from.host.live(); err != nil {
		return nil, err
	}
	k := store.Key{Owner: from.URI(), Conversation: conversation, Peer: peer}
	if err := from.host.opened(ctx, k, bound); err != nil {
		return nil, fmt.Errorf("resuming the exchange with %s: %w", peer, from.host.cause(ctx, err))
	}
	from.host.asked.put(k.Owner, bound)
	return &Exchange[Out]{host: from.host, key: k, contract: bound}, nil
}

// opened checks that k is an exchange that its owner opened for the contract.
func (h *Host) opened(ctx context.Context, k store.Key, c *guard.Contract) error {
	x, err := h.store.Exchange(ctx, k)
	if err != nil {
		return err
	}
	return asks(x, c)
}

// asks checks that the exchange was opened by its owner for the contract.
func asks(x store.Exchange, c *guard.Contract) error {
	if x.State.Role != protocol.Initiator {
		return fmt.Errorf("the peer opened it: %w", store.ErrNotFound)
	}
	if x.State.Capability != c.Name.Capability() {
		return fmt.Errorf("it is about %s, not %s: %w", x.State.Capability, c.Name, store.ErrNotFound)
	}
	return nil
}

// cause is the error that says why a read failed: the end of ctx or of the
// host rather than what the store made of it.
func (h *Host) cause(ctx context.Context, err error) error {
	switch _, stopped := h.live(); {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case stopped != nil:
		return stopped
	}
	return err
}

// ID is the id of the conversation.
func (x *Exchange[Out]) ID() string { return x.key.Conversation }

// Peer is the URI of the agent that was asked.
func (x *Exchange[Out]) Peer() string { return x.key.Peer }

// Wait returns the result when the exchange ends, or the typed error of its
// outcome. When ctx ends first it returns ctx's cause and the exchange goes on;
// when the host stops, ErrStopped. It may be called any number of times.
func (x *Exchange[Out]) Wait(ctx context.Context) (Out, error) {
	final, err := x.host.wait(ctx, x.key)
	if err != nil {
		var none Out
		return none, err
	}
	return schema.Decode[Out](x.contract.Read(x.contract.Result), final.Content())
}

// Cancel withdraws the question. It returns when the cancel is durable; Wait
// tells what came of it, which may be the result if that was on its way. An
// exchange that has ended, or was cancelled before, is left as it is. When ctx
// ends before the cancel is durable, its error is returned and the question
// stands.
func (x *Exchange[Out]) Cancel(ctx context.Context) error { return x.host.withdraw(ctx, x.key) }

// Withdraw takes back a proposal that the agent made in an auction and that has
// not been decided on: the bidder's side of the exchange with peer. It returns
// when that is durable. A proposal that has got the award, or was turned down,
// stands as it is; one that the store does not have gives store.ErrNotFound.
func Withdraw(ctx context.Context, bidder *Agent, conversation, peer string) error {
	if bidder.host == nil {
		return fmt.Errorf("agent %s: %w", bidder.name, ErrStopped)
	}
	uri, err := bidder.host.resolve(peer)
	if err != nil {
		return err
	}
	k := store.Key{Owner: bidder.URI(), Conversation: conversation, Peer: uri}
	x, err := bidder.host.store.Exchange(ctx, k)
	if err == nil && x.State.Role != protocol.Participant {
		err = fmt.Errorf("it was opened here: %w", store.ErrNotFound)
	}
	if err != nil {
		return fmt.Errorf("withdrawing from %s: %w", conversation, bidder.host.cause(ctx, err))
	}
	return bidder.host.withdraw(ctx, k)
}

// Events tells what happens in the exchange on this side: the acts so far,
// then what comes, until the exchange has ended, ctx ends or the host stops.
// See Watch for what it promises.
func (x *Exchange[Out]) Events(ctx context.Context) iter.Seq2[Event, error] {
	return x.host.watch(ctx, x.key)
}

// lastWord is when an exchange that is not over is given up by whoever waits:
// by then its timers have ended it, unless nothing can be written any more.
func lastWord(x store.Exchange) time.Time {
	return x.State.ReplyBy.Add(protocol.CancelWindow + ackWindow)
}

// await waits until something has changed or it is too late, and reports which;
// an error says that ctx or the host has ended before.
func (h *Host) await(ctx, running context.Context, changed <-chan struct{}, by time.Time) (late bool, err error) {
	over := make(chan struct{})
	defer h.seam.clock.At(by, func() { close(over) })()
	switch h.seam.wait(changed, over, running.Done(), ctx.Done()) {
	case 0:
		return false, nil
	case 1:
		return true, nil
	case 2:
		return false, ErrStopped
	default:
		return false, context.Cause(ctx)
	}
}

// wait returns the act that ended the exchange ok, or the outcome's error.
func (h *Host) wait(ctx context.Context, k store.Key) (*envelope.Envelope, error) {
	defer aside(ctx)()
	running, err := h.live()
	if err != nil {
		return nil, err
	}
	for {
		moved, release := h.watches.next(k)
		x, err := h.store.Exchange(context.WithoutCancel(ctx), k)
		if err == nil && !x.State.Done() {
			late, err := h.await(ctx, running, moved, lastWord(x))
			release()
			if late {
				err = unheard(k)
				if again, failed := h.store.Exchange(context.WithoutCancel(ctx), k); failed == nil && again.State.Done() {
					err = nil // it ended at this very moment
				}
			}
			if err != nil {
				return nil, err
			}
			continue
		}
		release()
		if err != nil {
			return nil, fmt.Errorf("waiting for %s: %w", k.Peer, h.cause(context.WithoutCancel(ctx), err))
		}
		if err := x.State.Err(); err != nil {
			return nil, err
		}
		return h.message(context.WithoutCancel(ctx), k, store.Received, x.Final)
	}
}

// withdraw sends cancel, if the exchange is in a state that can be cancelled.
func (h *Host) withdraw(ctx context.Context, k store.Key) error {
	_, err := h.step(ctx, k, h.seam.now(), func(s *step) error {
		if !cancellable(s.x.State) {
			return errNothing
		}
		return s.utter(ctx, &draft{act: protocol.Utterance{Performative: envelope.Cancel}})
	})
	return err
}

// cancel withdraws an exchange that nobody waits for any more.
func (h *Host) cancel(ctx context.Context, k store.Key) {
	h.cancelFailed(ctx, k, h.withdraw(ctx, k))
}

// cancellable reports whether the exchange's owner may send a cancel now.
func cancellable(x protocol.Exchange) bool {
	return x.May(protocol.Utterance{Performative: envelope.Cancel})
}

// cancelFailed reports why a cancel could not be written.
func (h *Host) cancelFailed(ctx context.Context, k store.Key, err error) {
	if err != nil && !errors.Is(err, ErrStopped) {
		h.observe(ctx, Observation{Name: CancelFailed, Owner: k.Owner, Conversation: k.Conversation, Peer: k.Peer, Err: err})
	}
}
