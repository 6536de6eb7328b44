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

// askWithin is how long an answer is waited for when nothing else is said.
const askWithin = 30 * time.Second

// AskOption configures an Ask.
type AskOption interface{ applyAsk(*question) }

type askOption func(*question)

func (o askOption) applyAsk(q *question) { o(q) }

// Within bounds how long the answer is waited for. Default: 30 s. Inside a
// handler the deadline of the exchange bounds it further.
func Within(d time.Duration) AskOption { return askOption(func(q *question) { q.within = d }) }

// Key is the identity of the effect that is asked for, equal however often it
// is asked. Default: derived from the exchange.
func Key(key string) AskOption { return askOption(func(q *question) { q.key = key }) }

// Correlation ties the new conversation to an earlier business exchange.
// Default: a new one, or that of the exchange being worked on.
func Correlation(id string) AskOption { return askOption(func(q *question) { q.correlation = id }) }

// OnBehalfOf names the actor, an agent URI or "user:<id>". Default: the
// sender, or the actor of the exchange being worked on.
func OnBehalfOf(actor string) AskOption { return askOption(func(q *question) { q.actor = actor }) }

// Opened calls f with the conversation's id once the question is durable and
// before it is answered.
func Opened(f func(conversation string)) AskOption {
	return askOption(func(q *question) { q.opened = f })
}

// question is one opening act in the making.
type question struct {
	host     *Host
	from     *Agent
	to       string
	contract *guard.Contract
	content  []byte

	within      time.Duration
	key         string
	correlation string
	actor       string
	opened      func(string)
	parent      *job
	// identity tells equal questions of one job apart; a second run of the job
	// must give the same one.
	identity string
}

// Ask opens an exchange with another agent and waits for how it ends. It
// returns the result, or the typed error of the outcome: RefusedError,
// FailedError, NotUnderstoodError, CancelledError, ExpiredError or, when the
// deadline passed and nothing is known, UnknownError. Content that does not
// fit the contract's schema is refused before anything is sent.
//
// When ctx ends first, the exchange is cancelled and ctx's cause returned.
// Inside a handler, conversation, hop and remaining time come from ctx, and a
// second run of the handler meets the first one's exchange.
func Ask[In, Out any](ctx context.Context, from *Agent, to string, c protocol.Contract[In, Out], in In, opts ...AskOption) (Out, error) {
	var none Out
	if from.host == nil {
		return none, fmt.Errorf("agent %s: %w", from.name, ErrStopped)
	}
	bound, err := from.host.asked.bind(c, func() (*guard.Contract, error) { return bind(c) })
	if err != nil {
		return none, err
	}
	content, err := schema.Encode(bound.Input, in)
	if err != nil {
		return none, fmt.Errorf("asking %s for %s: %w", to, c.Name(), err)
	}
	q := &question{from: from, to: to, contract: bound, content: content, within: askWithin}
	for _, o := range opts {
		o.applyAsk(q)
	}
	final, err := q.ask(ctx)
	if err != nil {
		return none, err
	}
	return schema.Decode[Out](bound.ReadResult(), final.Content())
}

// ask opens the exchange and waits.
func (q *question) ask(ctx context.Context) (*envelope.Envelope, error) {
	q.host = q.from.host
	running, err := q.host.live()
	if err != nil {
		return nil, err
	}
	peer, err := q.host.resolve(q.to)
	if err != nil {
		return nil, err
	}
	if peer == q.from.URI() {
		return nil, ErrSelf
	}
	if _, _, ok := q.host.dir.find(peer); !ok {
		return nil, fmt.Errorf("asking %s: %w", peer, ErrUnknownPeer)
	}
	if j := jobOf(ctx); j != nil && j.agent == q.from {
		q.parent = j
		if err := j.agree(ctx); err != nil {
			return nil, err
		}
	}
	k := store.Key{Owner: q.from.URI(), Conversation: q.conversation(), Peer: peer}
	q.host.asked.put(k.Owner, q.contract)
	if err := q.openExchange(ctx, k); err != nil {
		return nil, err
	}
	if q.opened != nil {
		q.opened(k.Conversation)
	}
	return q.host.wait(ctx, running, k)
}

// conversation is the id of the new conversation: fresh, or derived from the
// work that asks.
func (q *question) conversation() string {
	if q.parent == nil {
		return q.host.seam.id()
	}
	identity := q.identity
	if identity == "" {
		what := q.to + "\x00" + q.contract.Name.String() + "\x00" + string(q.host.fingerprint(q.content))
		identity = fmt.Sprintf("%s\x00%d", what, q.parent.ordinal(what))
	}
	p := q.parent.key
	return derivedID("conversation", p.Owner, p.Conversation, p.Peer, identity)
}

// openExchange commits the opening act, unless an earlier run did.
func (q *question) openExchange(ctx context.Context, k store.Key) error {
	now := q.host.seam.now()
	_, err := q.host.step(ctx, k, now, func(s *step) error {
		if s.x.Version > 0 {
			return errNothing
		}
		header, err := q.header(s)
		if err != nil {
			return err
		}
		e, err := envelope.Seal(header, q.content)
		if err != nil {
			return fmt.Errorf("asking %s for %s: %w", k.Peer, q.contract.Name, err)
		}
		s.x.State = protocol.Open(q.contract.Protocol, k.Conversation, k.Owner, k.Peer, protocol.Initiator)
		s.x.Correlation = header.CorrelationID
		if q.parent != nil {
			s.x.Parent = q.parent.key
		}
		s.opening = e
		return s.emit(ctx, e, header.ReplyBy)
	})
	return err
}

func (q *question) header(s *step) (envelope.Header, error) {
	k, now := s.x.Key, s.now
	h := envelope.Header{
		Performative: envelope.Request, Protocol: q.contract.Protocol, Schema: q.contract.Name.Input(),
		Sender: k.Owner, Receiver: k.Peer, Actor: k.Owner, Tenant: authority(k.Owner), Capability: q.contract.Name.Capability(),
		MessageID: q.host.seam.id(), ConversationID: k.Conversation, CorrelationID: q.host.seam.id(), Seq: 1,
		Labels: envelope.Labels{Integrity: envelope.Peer, Readers: []string{k.Peer}},
	}
	h.ReplyBy = now.Add(q.within)
	trace := envelope.Trace{Traceparent: s.host.seam.traceparent()}
	if p := q.parent; p != nil {
		h.Actor, h.CorrelationID, h.CausationID = p.header.Actor, p.header.CorrelationID, p.header.MessageID
		h.Hop = p.header.Hop + 1
		trace = p.header.Trace
		if by := p.remaining(now); by.Before(h.ReplyBy) {
			h.ReplyBy = by
		}
	}
	if q.correlation != "" {
		h.CorrelationID = q.correlation
	}
	if q.actor != "" {
		h.Actor = q.actor
	}
	if !h.ReplyBy.After(now) {
		return h, fmt.Errorf("asking %s for %s: %w", k.Peer, q.contract.Name, ErrPast)
	}
	if q.contract.Protocol == protocol.RequestV1 {
		h.IdempotencyKey = q.key
		if h.IdempotencyKey == "" {
			h.IdempotencyKey = k.Conversation
		}
	}
	s.host.stamp(&h, s.now, trace)
	return h, nil
}

// wait returns the act that ended the exchange ok, or the outcome's error.
func (h *Host) wait(ctx, running context.Context, k store.Key) (*envelope.Envelope, error) {
	for {
		moved, release := h.watches.next(k)
		x, err := h.store.Exchange(context.WithoutCancel(ctx), k)
		if err != nil {
			release()
			return nil, fmt.Errorf("waiting for %s: %w", k.Peer, err)
		}
		if x.State.Done() {
			release()
			if err := x.State.Err(); err != nil {
				return nil, err
			}
			return h.message(context.WithoutCancel(ctx), k, store.Received, x.Final)
		}
		select {
		case <-moved:
			release()
		case <-running.Done():
			release()
			return nil, ErrStopped
		case <-ctx.Done():
			release()
			h.cancel(running, k)
			return nil, context.Cause(ctx)
		}
	}
}

// cancel withdraws an exchange that nobody waits for any more.
func (h *Host) cancel(ctx context.Context, k store.Key) {
	_, err := h.step(ctx, k, h.seam.now(), func(s *step) error {
		p, err := protocol.Lookup(s.x.State.Protocol)
		if err != nil {
			return err
		}
		if _, ok := p.Table(s.x.State.Role).Next(s.x.State.State, "!cancel"); !ok {
			return errNothing
		}
		return s.utter(ctx, draft{act: protocol.Utterance{Performative: envelope.Cancel}})
	})
	if err != nil && !errors.Is(err, ErrStopped) {
		h.log.Error("parley.cancel.failed", "conversation", k.Conversation, "peer", k.Peer, "error", err)
	}
}
