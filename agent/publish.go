package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// maxUntold is how many items or steps of progress may be on their way to the
// peer; whoever tells more waits.
const maxUntold = 32

// ErrNoProgress: the contract has no progress to tell.
var ErrNoProgress = errors.New("the contract declares no progress")

// Publish lets Go code feed subscriptions: fn tells items with emit until the
// stream has ended, which it says by returning nil. An error ends the stream as
// it ends the work of Handle.
//
// emit returns when the item is durable; it waits while many items are still on
// their way, and returns ctx's cause once the subscriber has cancelled, has gone
// silent or has had the subscription for as long as it asked for. An item that
// its schema does not allow is an error and is not sent. After a crash fn runs
// again from its start: the n-th item that it tells is then taken for the n-th
// of the first run, and is not sent again.
func Publish[In, Item any](s protocol.Stream[In, Item], fn func(ctx context.Context, in In, emit func(Item) error) error) Option {
	return offering(s, map[phase]answer{publishing: goAnswer(func(ctx context.Context, j *job) ([]byte, error) {
		in, err := read[In](j)
		if err != nil {
			return nil, err
		}
		return nil, fn(ctx, in, func(item Item) error {
			content, err := write(ctx, j, j.offer.Item, item)
			if err != nil {
				return err
			}
			return j.tell(ctx, numbered(ctx, j, "item"), content, nil)
		})
	})})
}

// Progress tells the peer how far the work has come, in a value of the type
// that the contract declares with WithProgress. It returns when that is durable
// and otherwise as the emit of Publish does; ErrNoProgress when the contract
// declares none, or while nothing but a bid is asked for; ErrOutside outside a handler.
func Progress[P any](ctx context.Context, p P) error {
	j := jobOf(ctx)
	if j == nil {
		return ErrOutside
	}
	if j.offer.Progress == nil || j.phase == bidding {
		return fmt.Errorf("telling the progress of %s: %w", j.offer.Name, ErrNoProgress)
	}
	content, err := schema.Encode(j.offer.Progress, p)
	if err != nil {
		return fmt.Errorf("telling the progress of %s: %w", j.offer.Name, err)
	}
	return j.tell(ctx, numbered(ctx, j, "progress"), content, nil)
}

// tell sends a partial inform, made by a model or not. Its message id follows
// from its name in the work, so that a second run finds it sent.
func (j *job) tell(ctx context.Context, name string, content []byte, by *authorship) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	id := envelope.DerivedID("told", j.key.Owner, j.key.Conversation, j.key.Peer, j.scope()+name)
	partial := protocol.Utterance{Performative: envelope.Inform, Status: envelope.Partial}
	content, err := j.passPartial(ctx, partial, content)
	if err != nil {
		return err
	}
	r := j.host.jobs.of(j.key)
	if r == nil {
		return ErrOutside // the work it belongs to has ended
	}
	back := aside(ctx)
	room := j.host.seam.wait(r.window(), ctx.Done()) == 0
	back()
	if !room {
		return context.Cause(ctx)
	}
	sent, read := false, false
	_, err = j.host.step(ctx, j.key, j.host.seam.now(), func(s *step) error {
		sent = false
		if told, err := j.told(ctx, id); told || err != nil {
			return nothingMore(err) // an earlier run told it
		}
		if !s.x.State.May(partial) {
			// What ended the work is known here before its context is told.
			if s.x.State.Cancel == "" {
				return errLapsed
			}
			return errStop
		}
		have, may, err := s.messages(ctx)
		if err != nil {
			return err
		}
		if have >= may-lastActs {
			return Fail(envelope.CodeCapacity, guard.ReasonBudget)
		}
		sent, read = true, s.x.Mailbox
		s.opening = j.opening
		return s.utter(ctx, &draft{act: partial, content: content, id: id, model: by})
	})
	if !sent || read || err != nil {
		r.heard()
	}
	return err
}

// told reports whether an earlier run of the work has sent the message.
func (j *job) told(ctx context.Context, id string) (bool, error) {
	if j.silent {
		return false, nil
	}
	_, err := j.host.store.Message(ctx, j.key, store.Sent, id)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// lastActs is how many messages of an exchange are kept for its end.
const lastActs = 2

// passPartial takes a partial inform through the agent's layers.
func (j *job) passPartial(ctx context.Context, u protocol.Utterance, content []byte) ([]byte, error) {
	if len(j.agent.layers) == 0 {
		return content, nil
	}
	act, err := j.agent.passAct(ctx, j.key, Act{Performative: u.Performative, To: j.key.Peer, Contract: j.offer.Name.String(), Content: content})
	if err != nil {
		return nil, err
	}
	if _, s := j.offer.Carries(u); s.Validate(act.Content) != nil {
		return nil, fmt.Errorf("what is told under %s, after the layers: %w", j.offer.Name, s.Validate(act.Content))
	}
	return act.Content, nil
}

// heard makes room for one more thing to be told. What an earlier run told may
// be received during this one, so there may be nothing to make room for.
func (r *run) heard() {
	select {
	case r.window() <- struct{}{}:
	default:
	}
}

func (j *jobs) heard(k store.Key) {
	if r := j.of(k); r != nil {
		r.heard()
	}
}

// renewWhen is how little of a lease may be left before a sign of life is
// written down, probeEvery how often one is asked for.
const (
	renewWhen  = 2 * protocol.Lease / 3
	probeEvery = protocol.Lease / 3
)

// renew extends the lease of a subscription whose subscriber has shown that it
// is there.
func (h *Host) renew(ctx context.Context, k store.Key) error {
	if h.jobs.of(k) == nil {
		return nil // nothing is published
	}
	now := h.seam.now()
	_, err := h.step(ctx, k, now, func(s *step) error {
		if s.x.State.LeaseBy.IsZero() || s.x.State.LeaseBy.Sub(now) > renewWhen {
			return errNothing
		}
		s.x.State = protocol.Renew(s.x.State, now)
		return nil
	})
	return err
}

// probe asks the subscriber for a sign of life now and then: it sends the last
// act again, which a live subscriber acknowledges as it did before. The
// returned function ends it.
func (h *Host) probe(ctx context.Context, k store.Key) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	g := &group{sched: h.seam.sched}
	g.Go(func() {
		for attempt := 2; ctx.Err() == nil; attempt++ {
			h.pause(ctx, probeEvery)
			if ctx.Err() == nil {
				h.ping(ctx, k, attempt)
			}
		}
	})
	return func() {
		cancel()
		h.seam.wait(g.Idle())
	}
}

// ping sends the last act of the exchange again, if it was received before.
func (h *Host) ping(ctx context.Context, k store.Key, attempt int) {
	x, err := h.store.Exchange(ctx, k)
	if err != nil || x.State.LeaseBy.IsZero() || x.State.LeaseBy.Sub(h.seam.now()) > renewWhen {
		return
	}
	if x.Mailbox {
		if h.tasks.waited(taskKey(k.Owner, x.Task)) {
			if err := h.renew(ctx, k); err != nil && ctx.Err() == nil {
				h.report(ctx, StoreFailed, k, err)
			}
		}
		return
	}
	rows, err := h.store.Outbox(ctx, k)
	if err != nil || len(rows) == 0 {
		return
	}
	last := rows[len(rows)-1]
	if last.Status != store.Delivered {
		return // it is being sent anyway
	}
	sent, err := h.transmit(ctx, last, last.Attempt+attempt)
	if err != nil {
		return // the lease says how long that may last
	}
	d := store.Delivery{Owner: last.Owner, MessageID: last.MessageID, Status: last.Status}
	if err := h.settle(ctx, sent, last, &d); err != nil && ctx.Err() == nil {
		h.report(ctx, SendFailed, k, err)
	}
}

// pause waits for d, or for ctx's end.
func (h *Host) pause(ctx context.Context, d time.Duration) {
	h.seam.pass(ctx, h.seam.now().Add(d))
}
