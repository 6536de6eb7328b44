package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/store"
)

// carrier is the agent.Transport to a peer.
type carrier struct{ peer *Peer }

// Capabilities: what a peer of Parley took is in its store.
func (carrier) Capabilities() agent.Capabilities {
	return agent.Capabilities{Latency: agent.Network, SurvivesCrash: true, SenderLearns: true}
}

// Send hands an envelope over: an opening act makes a task, what follows is a
// message on it, and a cancel is CancelTask.
func (c carrier) Send(ctx context.Context, data []byte) ([][]byte, error) {
	e, err := envelope.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("sending: %w", err)
	}
	r, err := c.peer.serving(ctx)
	if err != nil {
		return nil, err
	}
	k, err := c.peer.ready(ctx, r.host)
	if err != nil {
		return nil, err
	}
	d := &delivery{reader: r, known: k, act: act{e, data}, key: store.Key{Owner: e.Sender(), Conversation: e.Conversation(), Peer: e.Receiver()}}
	if d.exchange, err = r.host.Store().Exchange(ctx, d.key); err != nil {
		return nil, fmt.Errorf("sending %s: %w", e.ID(), err)
	}
	if k.foreign() {
		return d.sendForeign(ctx)
	}
	return d.send(ctx)
}

// delivery is one envelope on its way.
type delivery struct {
	*reader
	known *acquaintance
	act
	key      store.Key
	exchange store.Exchange
}

// opens reports whether the act opens its exchange.
func (d *delivery) opens() bool { return d.InReplyTo() == "" && d.Act() != envelope.Cancel }

// call carries the envelope's token too, for a server that wants to know its callers
// before it reads what they send.
func (d *delivery) call() wire.Call {
	trace := d.Header().Trace
	return wire.Call{Token: d.Auth(), Extensions: []string{ExtensionURI}, Traceparent: trace.Traceparent, Tracestate: trace.Tracestate}
}

// send gives an envelope to a peer of Parley. Whatever the answer, the exchange
// is read from now on: the message may have arrived without one.
func (d *delivery) send(ctx context.Context) ([][]byte, error) {
	if d.opens() {
		defer func() { d.watch(d.key, d.Correlation(), taskOfExchange(d.exchange)) }()
	}
	task, err := d.hand(ctx)
	if e, ok := errors.AsType[*wire.Error](err); ok {
		if receipts := receiptsIn(e); len(receipts) > 0 {
			return d.proved(ctx, receipts)
		}
		if e.Kind == wire.TaskNotCancelable {
			// It ended before the cancel came: what it came to says so.
			call, tokenErr := d.reading(d.known, d.key.Owner)
			if tokenErr != nil {
				return nil, tokenErr
			}
			task, err = d.known.client.GetTask(ctx, call, &wire.GetTaskRequest{ID: taskOfExchange(d.exchange)})
		}
	}
	if err != nil {
		return nil, sendError(err)
	}
	if d.opens() {
		if task.ID != taskOfExchange(d.exchange) {
			if err := d.assign(ctx, task.ID); err != nil {
				return nil, err
			}
		}
		d.exchange.Task = task.ID
	} else {
		d.stir(task.ID, false)
	}
	return d.replies(ctx, task)
}

// maxGiven is how many bytes a name may have that a server gives and that is kept
// here.
const maxGiven = 1 << 10

// assign keeps what the server calls the exchange.
func (d *delivery) assign(ctx context.Context, task string) error {
	if len(task) > maxGiven {
		return wire.Errorf(wire.InvalidAgentResponse, "the task's id is longer than %d bytes", maxGiven)
	}
	return d.host.Assign(ctx, d.key, task)
}

// hand calls the operation that the act is.
func (d *delivery) hand(ctx context.Context) (*wire.Task, error) {
	id := taskOfExchange(d.exchange)
	if d.Act() == envelope.Cancel {
		p, err := parted(d.data, "")
		if err != nil {
			return nil, err
		}
		return d.known.client.CancelTask(ctx, d.call(), &wire.CancelTaskRequest{ID: id, Metadata: p.metadata()})
	}
	m, err := messageOf(d.data, "", wire.User)
	if err != nil {
		return nil, err
	}
	m.ContextID = d.Correlation()
	req := &wire.SendMessageRequest{Message: *m, Configuration: wire.SendConfiguration{
		ReturnImmediately: true, AcceptedOutputModes: []string{jsonMode}, HistoryLength: new(0)}}
	if !d.opens() {
		req.Message.TaskID = id
	} else if hook := d.peer.cfg.Webhook; hook != nil && d.known.card.Capabilities.PushNotifications {
		req.Configuration.PushConfig = hook.config()
	}
	resp, err := d.known.client.SendMessage(ctx, d.call(), req)
	if err != nil {
		return nil, err
	}
	if resp.Task == nil {
		return nil, wire.Errorf(wire.InvalidAgentResponse, "want a task for an envelope, got a message")
	}
	return resp.Task, nil
}

// replies are what came back: the receipts, and the acts of the exchange that the
// host does not have. If there are none, what came shows at least that the
// message arrived: then all its acts.
func (d *delivery) replies(ctx context.Context, task *wire.Task) ([][]byte, error) {
	var replies, had [][]byte
	for _, header := range standingOf(task).Receipts {
		replies = append(replies, header)
	}
	next := d.exchange.State.Received + 1
	for _, a := range actsOf(messagesOf(task), task.Artifacts) {
		if a.Conversation() != d.key.Conversation || a.ReceiptKind() != "" {
			continue
		}
		switch {
		case a.Seq() == next:
			replies = append(replies, a.data)
			next++
		case a.Seq() < next:
			had = append(had, a.data)
		}
	}
	if len(replies) == 0 {
		replies = had
	}
	return d.proved(ctx, replies)
}

// proved returns envelopes that prove to be of the peer. The host proves those of
// a link that vouches for nothing by itself.
func (d *delivery) proved(ctx context.Context, replies [][]byte) ([][]byte, error) {
	if !d.peer.cfg.Foreign {
		return replies, nil
	}
	for _, data := range replies {
		e, err := envelope.Decode(data)
		if err != nil {
			return nil, err
		}
		if sender, err := d.host.Identify(ctx, e.Auth(), d.key.Owner, false); err != nil || sender != e.Sender() {
			return nil, fmt.Errorf("answer of %s: it is not from there", d.key.Peer)
		}
	}
	return replies, nil
}

// structType marks an element of an error's details that is any object.
const structType = "type.googleapis.com/google.protobuf.Struct"

// receiptsIn are the receipts that a refusal carries.
func receiptsIn(e *wire.Error) [][]byte {
	var receipts [][]byte
	for _, element := range e.Details {
		var kind string
		if json.Unmarshal(element["@type"], &kind) != nil || kind != structType {
			continue
		}
		if r, err := guard.Open(element["value"]); err == nil && r.ReceiptKind() != "" {
			receipts = append(receipts, element["value"])
		}
	}
	return receipts
}

// sendError is a failure after which the message is sent again, not before its
// server wants that.
func sendError(err error) error {
	if e, ok := errors.AsType[*wire.Error](err); ok && e.RetryAfter > 0 {
		return &agent.LaterError{After: e.RetryAfter, Err: err}
	}
	return err
}
