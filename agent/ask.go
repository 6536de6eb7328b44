package agent

import (
	"context"
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
// before it is waited for. f runs in the goroutine that asks: Start returns
// when it has, and if it panics, the caller does; the exchange goes on.
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
	priority    string
	resend      *envelope.RetryPolicy
	of          string
	parent      *job
	// task is where the peer reads the question, "" if it is sent.
	task string
	// call is the model's call in which the parent asks, "" outside one.
	call string
	// identity tells equal questions of one job apart; a second run of the job
	// must give the same one.
	identity string
}

// Ask opens an exchange with another agent and waits for how it ends: Start,
// then Wait. It returns the result, or the typed error of the outcome:
// RefusedError, FailedError, NotUnderstoodError, CancelledError, ExpiredError
// or, when the deadline passed and nothing is known, UnknownError. Content that
// does not fit the contract's schema is refused before anything is sent.
//
// When ctx ends first, the exchange is cancelled and ctx's cause returned. When
// the host stops, the exchange is left to its next life and ErrStopped returned.
// Inside a handler, conversation, hop and remaining time come from ctx, and a
// second run of the handler meets the first one's exchange.
func Ask[In, Out any](ctx context.Context, from *Agent, to string, c protocol.Contract[In, Out], in In, opts ...AskOption) (Out, error) {
	x, err := Start(ctx, from, to, c, in, opts...)
	if err != nil {
		var none Out
		return none, err
	}
	out, err := x.Wait(ctx)
	if err != nil && ctx.Err() != nil {
		x.host.cancel(x.host.running, x.key)
	}
	return out, err
}

// pose makes the question of a typed call.
func pose[In any](from *Agent, to string, c Contract, in In, opts []AskOption) (*question, error) {
	bound, err := bindAsked(from, c)
	if err != nil {
		return nil, err
	}
	content, err := schema.Encode(bound.Input, in)
	if err != nil {
		return nil, fmt.Errorf("asking %s for %s: %w", to, c.Name(), err)
	}
	q := &question{host: from.host, from: from, to: to, contract: bound, content: content, within: askWithin}
	for _, o := range opts {
		o.applyAsk(q)
	}
	return q, nil
}

// bindAsked is the contract with its schemas, made once for each host.
func bindAsked(from *Agent, c Contract) (*guard.Contract, error) {
	if from.host == nil {
		return nil, fmt.Errorf("agent %s: %w", from.name, ErrStopped)
	}
	return from.host.asked.bind(c)
}

// start opens the exchange, unless an earlier run of the asking work did.
func (q *question) start(ctx context.Context) (store.Key, error) {
	var none store.Key
	peer, err := q.host.reachable(q.from, q.to, q.task)
	if err != nil {
		return none, err
	}
	if err := q.ready(ctx); err != nil {
		return none, err
	}
	k := store.Key{Owner: q.from.URI(), Conversation: q.conversation(), Peer: peer}
	q.host.asked.put(k.Owner, q.contract)
	if err := q.pass(ctx, peer); err != nil {
		return none, err
	}
	if err := q.openExchange(ctx, k); err != nil {
		return none, err
	}
	if q.opened != nil {
		q.opened(k.Conversation)
	}
	return k, nil
}

// reachable is the URI of another agent that a link leads to, or that reads what
// is said to it under the task.
func (h *Host) reachable(from *Agent, name, task string) (string, error) {
	if _, err := h.live(); err != nil {
		return "", err
	}
	peer, err := h.resolve(name)
	if err != nil {
		return "", err
	}
	if peer == from.URI() {
		return "", ErrSelf
	}
	if _, ok := h.dir.find(peer); !ok && task == "" {
		return "", fmt.Errorf("asking %s: %w", peer, ErrUnknownPeer)
	}
	return peer, nil
}

// ready ties the question to the work that asks, if it is one's, which has
// thereby shown that it started.
func (q *question) ready(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := q.host.opening(ctx); err != nil {
		return err
	}
	j := jobOf(ctx)
	if j == nil || j.agent != q.from {
		return nil
	}
	q.parent, q.call = j, callOf(ctx)
	return j.agree(ctx)
}

// opens is the act that opens an exchange of the protocol.
func opens(name string) envelope.Performative {
	switch name {
	case protocol.ContractNetV1:
		return envelope.CFP
	case protocol.ProposeV1:
		return envelope.Propose
	}
	return envelope.Request
}

// pass takes the opening act through the layers of the asking agent.
func (q *question) pass(ctx context.Context, peer string) error {
	if len(q.from.layers) == 0 {
		return nil
	}
	k := store.Key{Owner: q.from.URI(), Peer: peer}
	act, err := q.from.passAct(ctx, k, Act{Performative: opens(q.contract.Protocol), Contract: q.contract.Name.String(), To: peer, Content: q.content})
	if err != nil {
		return fmt.Errorf("asking %s for %s: %w", peer, q.contract.Name, err)
	}
	if err := q.contract.Input.Validate(act.Content); err != nil {
		return fmt.Errorf("asking %s for %s, after the layers: %w", peer, q.contract.Name, err)
	}
	q.content = act.Content
	return nil
}

// ask opens the exchange and waits; when ctx ends first, it cancels.
func (q *question) ask(ctx context.Context) (*envelope.Envelope, error) {
	k, err := q.start(ctx)
	if err != nil {
		return nil, err
	}
	final, err := q.host.wait(ctx, k)
	if err != nil && ctx.Err() != nil {
		q.host.cancel(q.host.running, k)
	}
	return final, err
}

// conversation is the id of the new conversation: fresh, or derived from the
// work that asks.
func (q *question) conversation() string {
	if q.parent == nil {
		return q.host.seam.id()
	}
	if q.identity == "" {
		what := q.call + "\x00" + q.to + "\x00" + q.contract.Name.String() + "\x00" + string(q.host.fingerprint(q.content))
		q.identity = fmt.Sprintf("%s\x00%d", what, q.parent.ordinal(what))
	}
	p := q.parent.key
	return envelope.DerivedID("conversation", p.Owner, p.Conversation, p.Peer, q.parent.scope()+q.identity)
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
		s.x.Task, s.x.Mailbox = q.task, q.task != ""
		s.opening = e
		s.after = append(s.after, func() { s.host.noteDeprecated(s.host.running, k, q.contract) })
		return s.emit(ctx, e, header.ReplyBy)
	})
	return err
}

func (q *question) header(s *step) (envelope.Header, error) {
	k, now := s.x.Key, s.now
	h := envelope.Header{
		Performative: opens(q.contract.Protocol), Protocol: q.contract.Protocol, Schema: q.contract.Name.Input(),
		Sender: k.Owner, Receiver: k.Peer, Actor: k.Owner, Tenant: authority(k.Owner), Capability: q.contract.Name.Capability(),
		MessageID: q.host.seam.id(), ConversationID: k.Conversation, CorrelationID: q.host.seam.id(), Seq: 1,
		Priority: q.priority, RetryPolicy: q.resend,
		Labels: envelope.Labels{Integrity: envelope.Peer, Readers: []string{k.Peer}},
	}
	h.ReplyBy = now.Add(q.within)
	trace := envelope.Trace{Traceparent: s.host.seam.traceparent()}
	if p := q.parent; p != nil {
		h.Actor, h.CorrelationID, h.CausationID = p.act.Actor(), p.act.Correlation(), p.act.ID()
		h.Hop = p.act.Hop() + 1
		trace = p.act.Trace()
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
	if q.contract.Effects && h.Performative != envelope.CFP { // a call has none: the award has
		h.IdempotencyKey = q.key
		if h.IdempotencyKey == "" && q.parent != nil {
			h.IdempotencyKey = envelope.DerivedID(append(q.parent.business(), "asked", q.identity)...)
		}
		if h.IdempotencyKey == "" {
			h.IdempotencyKey = k.Conversation
		}
	}
	s.host.stamp(&h, s.now, trace)
	return h, nil
}
