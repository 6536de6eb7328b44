package agent_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// A test speaks for an agent without its host by sealing envelopes itself,
// with the key that the agent's host has in its store.

// keyOf is the signing key of an agent of the host.
func keyOf(t *testing.T, h *agent.Host, uri string) ed25519.PrivateKey {
	t.Helper()
	id, err := h.Store().Identity(t.Context(), store.Identity{Owner: uri, Seed: make([]byte, ed25519.SeedSize)})
	if err != nil {
		t.Fatal(err)
	}
	return ed25519.NewKeyFromSeed(id.Seed)
}

// token is a good token from one agent, of the host, to another.
func token(t *testing.T, h *agent.Host, from, to string) string {
	t.Helper()
	rest := strings.TrimPrefix(from, "agent://")
	tenant, _, _ := strings.Cut(rest, "/")
	signed, err := guard.Mint(keyOf(t, h, from), guard.Claims{Sender: from, Receiver: to, Tenant: tenant, Expires: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// opening is the header of a well-formed opening act.
func opening(from, to *agent.Agent, name protocol.Name, proto string) envelope.Header {
	now := time.Now().UTC().Truncate(time.Millisecond)
	h := envelope.Header{
		Performative: envelope.Request, Protocol: proto, Schema: name.Input(), Capability: name.Capability(),
		Sender: from.URI(), Receiver: to.URI(), SenderGeneration: 1,
		MessageID: fresh(), ConversationID: fresh(), CorrelationID: fresh(), Seq: 1, Salt: make([]byte, 16),
		Timestamp: now, ReplyBy: now.Add(time.Minute), Attempt: 1,
		Labels: envelope.Labels{Integrity: envelope.Peer, Readers: []string{to.URI()}},
		Trace:  envelope.Trace{Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
	}
	if proto == protocol.RequestV1 {
		h.IdempotencyKey = "key-" + h.MessageID
	}
	return h
}

// answering is the header of an act that answers e.
func answering(h *agent.Host, t *testing.T, e *envelope.Envelope, act envelope.Performative, seq int64) envelope.Header {
	t.Helper()
	r := e.Reply(act)
	r.MessageID, r.Seq, r.Salt, r.Timestamp, r.Attempt = fresh(), seq, make([]byte, 16), time.Now().UTC().Truncate(time.Millisecond), 1
	r.Labels = envelope.Labels{Integrity: envelope.Peer, Readers: []string{e.Sender()}}
	meta, err := h.Store().Meta(t.Context(), store.Meta{})
	if err != nil {
		t.Fatal(err)
	}
	r.SenderGeneration = meta.Generation
	switch act {
	case envelope.Agree:
		r.Schema = protocol.AgreeSchema
	case envelope.Cancel:
		r.Schema = protocol.CancelSchema
	case envelope.Inform:
		r.Status = envelope.Final
		name, err := protocol.ParseName(e.Schema())
		if err != nil {
			t.Fatal(err)
		}
		r.Schema = name.Result()
	}
	return r
}

func fresh() string { return uuid.Must(uuid.NewV7()).String() }

func seal(t *testing.T, h envelope.Header, content string) *envelope.Envelope {
	t.Helper()
	e, err := envelope.Seal(h, []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// hand delivers the envelope to the host under the token and returns what
// comes back at once.
func hand(t *testing.T, to *agent.Host, e *envelope.Envelope, token string) []*envelope.Envelope {
	t.Helper()
	return handBytes(t, to, e.Resend(e.Attempt(), token).Bytes())
}

func handBytes(t *testing.T, to *agent.Host, data []byte) []*envelope.Envelope {
	t.Helper()
	replies, err := to.Deliver(context.WithoutCancel(t.Context()), data)
	if err != nil {
		t.Fatalf("Deliver: %v", err)
	}
	var list []*envelope.Envelope
	for _, r := range replies {
		e, err := envelope.Decode(r)
		if err != nil {
			t.Fatalf("an answer does not decode: %v", err)
		}
		list = append(list, e)
	}
	return list
}

// wantNack checks that the only answer is a nack with that code and reason.
func wantNack(t *testing.T, replies []*envelope.Envelope, code envelope.Code, reason string) *envelope.Error {
	t.Helper()
	if len(replies) != 1 || replies[0].ReceiptKind() != envelope.Nack {
		t.Fatalf("answers %v, want one nack", replies)
	}
	got := replies[0].Header().Error
	if got.Code != code || got.Reason != reason {
		t.Fatalf("nack(%s, %s), want nack(%s, %s)", got.Code, got.Reason, code, reason)
	}
	return got
}

func wantAck(t *testing.T, replies []*envelope.Envelope) {
	t.Helper()
	if len(replies) != 1 || replies[0].ReceiptKind() != envelope.Ack {
		t.Fatalf("answers %v, want one ack", replies)
	}
}

// logOf is what the owner's log of the conversation says of its exchanges.
func logOf(t *testing.T, h *agent.Host, owner *agent.Agent, conversation string) []store.Entry {
	t.Helper()
	log, err := h.Store().Log(context.WithoutCancel(t.Context()), owner.URI(), conversation, 0)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(log, func(e store.Entry) bool { return e.Peer == "" })
}

// sentOf are the envelopes that the owner sent in the conversation, in order.
func sentOf(t *testing.T, h *agent.Host, owner *agent.Agent, conversation string) []*envelope.Envelope {
	t.Helper()
	var list []*envelope.Envelope
	for _, entry := range logOf(t, h, owner, conversation) {
		if entry.Kind != store.Sent {
			continue
		}
		e, err := envelope.Decode(entry.Envelope)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

// exchangeOf is the owner's only exchange in the conversation.
func exchangeOf(t *testing.T, h *agent.Host, owner *agent.Agent, conversation string) store.Exchange {
	t.Helper()
	xs, err := h.Store().Exchanges(context.WithoutCancel(t.Context()), owner.URI(), conversation)
	if err != nil || len(xs) != 1 {
		t.Fatalf("exchanges of %s = %v, %v", conversation, xs, err)
	}
	return xs[0]
}

// semantics is the part of an exchange that a refused message must leave
// alone: where it stands and which messages made it so.
func semantics(t *testing.T, h *agent.Host, owner *agent.Agent, conversation string) string {
	t.Helper()
	x := exchangeOf(t, h, owner, conversation).State
	x.Received = 0
	var made []string
	for _, e := range logOf(t, h, owner, conversation) {
		if e.Kind == store.Sent || e.Kind == store.Received {
			made = append(made, string(e.Kind)+" "+e.Digest.String())
		}
	}
	data, err := json.Marshal(map[string]any{"exchange": x, "made": made})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// asking runs Ask in a goroutine and returns the conversation once the
// question is durable.
type asking[Out any] struct {
	id   string
	done chan struct{}
	out  Out
	err  error
}

func ask[In, Out any](t *testing.T, from *agent.Agent, to string, c protocol.Contract[In, Out], in In, opts ...agent.AskOption) *asking[Out] {
	return askIn(t.Context(), t, from, to, c, in, opts...)
}

func askIn[In, Out any](ctx context.Context, t *testing.T, from *agent.Agent, to string, c protocol.Contract[In, Out], in In, opts ...agent.AskOption) *asking[Out] {
	t.Helper()
	return underway(t, func(opened agent.AskOption) (Out, error) {
		return agent.Ask(ctx, from, to, c, in, append(opts, opened)...)
	})
}

// wait returns how the question ended.
func (a *asking[Out]) wait() (Out, error) {
	<-a.done
	return a.out, a.err
}

// ended reports whether Ask has returned.
func (a *asking[Out]) ended() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

// answers is an agent that answers both contracts alike.
func answers(fn func(context.Context, Seat) (Booking, error)) *agent.Agent {
	return agent.New("flights", agent.Handle(book, fn), agent.Handle(look, fn))
}

// reference is the handler that always succeeds.
func reference(context.Context, Seat) (Booking, error) { return Booking{Reference: "R1"}, nil }

var seat = Seat{Flight: "AY121"}

const seatJSON = `{"flight":"AY121"}`

// outboxRow is what became of a message that the owner sent.
func outboxRow(t *testing.T, h *agent.Host, owner *agent.Agent, e *envelope.Envelope) store.Outbox {
	t.Helper()
	rows, err := h.Store().Outbox(context.WithoutCancel(t.Context()), store.Key{Owner: owner.URI(), Conversation: e.Conversation(), Peer: e.Receiver()})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.MessageID == e.ID() {
			return r
		}
	}
	t.Fatalf("no outbox row of %s", e.ID())
	return store.Outbox{}
}
