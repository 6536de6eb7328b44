package guard_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
)

const (
	planner = "agent://acme/planner"
	flights = "agent://acme/flights"
	hotels  = "agent://acme/hotels"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Seat and Booking are what the tests' contracts are about.
type Seat struct {
	Flight string `json:"flight" jsonschema:"pattern=^[A-Z]{2}[0-9]+$"`
}

type Booking struct {
	Reference string `json:"reference" jsonschema:"minLength=1"`
}

func id(n int) string { return fmt.Sprintf("019535d9-3df7-79fb-b466-%012x", n) }

// contract is the booking contract under the name.
func contract(name, proto string) *guard.Contract {
	declare := protocol.Query[Seat, Booking]
	if proto == protocol.RequestV1 {
		declare = protocol.Request[Seat, Booking]
	}
	c, err := guard.Bind(declare(name).WithProgress(Booking{}))
	if err != nil {
		panic(err)
	}
	return c
}

// bound is a contract with its schemas.
func bound(d protocol.Declared) *guard.Contract {
	c, err := guard.Bind(d)
	if err != nil {
		panic(err)
	}
	return c
}

var contracts = map[string]*guard.Contract{
	"urn:cap:acme.flight.book/v1":  contract("acme.flight.book/v1.2", protocol.RequestV1),
	"urn:cap:acme.flight.look/v1":  contract("acme.flight.look/v1", protocol.QueryV1),
	"urn:cap:acme.flight.watch/v1": bound(protocol.NewStream[Seat, Booking]("acme.flight.watch/v1")),
	"urn:cap:acme.flight.haul/v1":  bound(protocol.NewAuction[Seat, Booking, Booking]("acme.flight.haul/v1").Rounds(2).WithProgress(Booking{})),
	"urn:cap:acme.flight.deal/v1":  bound(protocol.NewOffer[Seat]("acme.flight.deal/v1")),
	"urn:cap:acme.flight.poll/v1":  bound(protocol.NewGathering[Seat, Booking]("acme.flight.poll/v1")),
}

// kinds are the protocols with the verb of the tests' contract under each.
var kinds = map[string]string{protocol.RequestV1: "book", protocol.QueryV1: "look", protocol.SubscribeV1: "watch",
	protocol.ContractNetV1: "haul", protocol.ProposeV1: "deal", protocol.GatherV1: "poll"}

// message is an envelope before it is sealed.
type message struct {
	envelope.Header
	content string
}

// say is an act or receipt of the sender, n the number of its id; content,
// schema and whatever else the act needs are right for an exchange whose
// request has the id 1 and whose cancel has the id 2.
func say(n int, from string, what string, changes ...func(*message)) message {
	m := message{content: "{}", Header: envelope.Header{
		Protocol: protocol.RequestV1, Sender: from, Receiver: flights, SenderGeneration: 7, MessageID: id(n), ConversationID: id(0),
		InReplyTo: id(1), CorrelationID: "trip", Seq: 1, Timestamp: noon, Salt: bytes.Repeat([]byte{1}, 16),
		Labels: envelope.Labels{Integrity: envelope.Peer},
		Trace:  envelope.Trace{Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
	}}
	if from == flights {
		m.Receiver = planner
	}
	switch m.Performative = envelope.Performative(what); what {
	case "request", "cfp", "propose":
		m.InReplyTo, m.Schema, m.Capability = "", "acme.flight.book/v1.2", "urn:cap:acme.flight.book/v1"
		m.ReplyBy, m.IdempotencyKey, m.content = noon.Add(time.Minute), "trip-8841", `{"flight":"AY121"}`
	case "agree":
		m.Schema = protocol.AgreeSchema
	case "refuse":
		m.Schema, m.Error = protocol.RefusalSchema, envelope.NewError(envelope.CodePermanent, "policy")
	case "failure":
		m.Schema, m.Error = protocol.FailureSchema, envelope.NewError(envelope.CodePermanent, "handler")
	case "cancel":
		m.Schema = protocol.CancelSchema
	case "inform", "inform~":
		m.Performative, m.Status, m.Schema, m.content = envelope.Inform, envelope.Final, "acme.flight.book.result/v1.2", `{"reference":"X1"}`
		if what == "inform~" {
			m.Status = envelope.Partial
			m.Schema = "acme.flight.book.progress/v1.2"
		}
	case "inform.c":
		m.Performative, m.Status, m.Schema, m.InReplyTo = envelope.Inform, envelope.Cancelled, protocol.CancelSchema, id(2)
	case "ack", "nack", "not-understood":
		m.Performative, m.Receipt, m.Seq, m.Salt, m.content = "", envelope.Receipt(what), 0, nil, ""
		if what != "ack" {
			m.Error = envelope.NewError(envelope.CodeValidation, "malformed")
		}
	}
	for _, change := range changes {
		change(&m)
	}
	return m
}

func (m message) seal(t testing.TB) *envelope.Envelope {
	t.Helper()
	var content []byte
	if m.content != "" {
		content = []byte(m.content)
	}
	e, err := envelope.Seal(m.Header, content)
	if err != nil {
		t.Fatalf("seal: %v", err)
	}
	return e
}

// The changes that tests make to a message.
func seq(n int64) func(*message)          { return func(m *message) { m.Seq = n } }
func content(s string) func(*message)     { return func(m *message) { m.content = s } }
func schemaName(s string) func(*message)  { return func(m *message) { m.Schema = s } }
func inReplyTo(s string) func(*message)   { return func(m *message) { m.InReplyTo = s } }
func hop(n int) func(*message)            { return func(m *message) { m.Hop = n } }
func proto(s string) func(*message)       { return func(m *message) { m.Protocol = s } }
func capability(s string) func(*message)  { return func(m *message) { m.Capability = s } }
func generation(n int64) func(*message)   { return func(m *message) { m.SenderGeneration = n } }
func replyBy(at time.Time) func(*message) { return func(m *message) { m.ReplyBy = at } }
func under(name string) func(*message) {
	return func(m *message) {
		m.Protocol, m.IdempotencyKey = protocol.QueryV1, ""
		m.Capability, m.Schema = "urn:cap:"+name, name
	}
}

// exchange plays the words: the owner's are written "!word", the peer's "?word".
func exchange(t testing.TB, owner string, words ...string) *protocol.Exchange {
	t.Helper()
	return exchangeIn(t, protocol.RequestV1, owner, words...)
}

// exchangeIn plays the words under the protocol; a timer is written "#timer".
func exchangeIn(t testing.TB, proto, owner string, words ...string) *protocol.Exchange {
	t.Helper()
	role, peer := protocol.Initiator, flights
	if owner == flights {
		role, peer = protocol.Participant, planner
	}
	x := protocol.Open(proto, id(0), owner, peer, role)
	x.MaxRounds = 2
	for i, w := range words {
		n, now := 10+i, noon
		switch {
		case i == 0 && w[1:] != "cancel" && w[1:] != "fence":
			n = 1
		case w[1:] == "cancel":
			n = 2
		case w[1:] == "fence":
			n = 3
		}
		var in protocol.Input
		switch timer := protocol.Timer(w[1:]); w[0] {
		case '#':
			in, now = protocol.Fire(timer), x.Timers()[timer]
		case '!':
			in = protocol.Send(sayIn(proto, n, owner, w[1:], seq(x.Sent+1)).sealed(t))
		default:
			in = protocol.Receive(sayIn(proto, n, peer, w[1:], seq(x.Received+1)).sealed(t))
		}
		next, _, err := protocol.Advance(x, now, in)
		if err != nil {
			t.Fatalf("%s after %v: %v", w, words[:i], err)
		}
		x = next
	}
	return &x
}

// sayIn is say under another protocol, right for an exchange that opens with
// the id 1 and is fenced with the id 3.
func sayIn(proto string, n int, from, what string, changes ...func(*message)) message {
	if proto == protocol.RequestV1 && what != "fence" {
		return say(n, from, what, changes...)
	}
	word := what
	if what == "fence" {
		word = "inform"
	}
	name := "acme.flight." + kinds[proto]
	return say(n, from, word, append([]func(*message){func(m *message) {
		m.Protocol = proto
		if m.Capability != "" {
			m.Capability = "urn:cap:" + name + "/v1"
			m.Schema = name + "/v1"
		}
		switch {
		case what == "request" && proto != protocol.GatherV1, what == "cfp":
			m.IdempotencyKey = ""
		case what == "propose" && proto == protocol.ContractNetV1:
			m.Schema, m.content, m.InReplyTo = name+".bid/v1", `{"reference":"X1"}`, id(1)
		case what == "agree" && proto == protocol.ContractNetV1:
			m.ReplyBy, m.IdempotencyKey = noon.Add(time.Minute), "trip-8841"
		case what == "inform":
			m.Schema = name + ".result/v1"
			if proto == protocol.SubscribeV1 || proto == protocol.ProposeV1 {
				m.content = "{}"
			}
		case what == "inform~":
			m.Schema = name + map[string]string{protocol.SubscribeV1: ".item/v1", protocol.GatherV1: ".contribution/v1"}[proto]
			if m.Schema == name {
				m.Schema += ".progress/v1"
			}
		case what == "fence":
			m.Schema, m.Fence = protocol.FenceSchema, &envelope.Fence{ID: "f1", Proposed: string(protocol.TerminalCompleted)}
			m.content = `{"counts":{"abstained":0,"contributed":1,"dissented":0,"members":1,"missing":0},"gather":"g1","proposed":"COMPLETED","value_digest":"","yours":"accepted"}`
		case what == "ack":
			m.InReplyTo = id(3)
		}
		if proto == protocol.GatherV1 && (what == "request" || m.Performative == envelope.Inform) {
			m.Gather = &envelope.Gather{ID: "g1"}
		}
	}}, changes...)...)
}

// sealed is seal for a message that may be a receipt.
func (m message) sealed(t testing.TB) *envelope.Envelope {
	t.Helper()
	if m.Receipt != "" {
		m.Seq = 0
	}
	return m.seal(t)
}

// view is what the receiver of a message from the sender knows.
func view(from string, x *protocol.Exchange) guard.View {
	v := guard.View{Now: noon, Self: flights, Caller: from, Exchange: x, Contract: func(c string) *guard.Contract { return contracts[c] }}
	if from == flights {
		v.Self = planner
	}
	return v
}

// verdict is what a test looks at in a violation.
type verdict struct {
	rule    string
	answer  guard.Answer
	code    envelope.Code
	reason  string
	pointer string
}

func verdictOf(t testing.TB, err error) verdict {
	t.Helper()
	if err == nil {
		return verdict{}
	}
	v, ok := err.(*guard.Violation)
	if !ok {
		t.Fatalf("%T is no violation: %v", err, err)
	}
	return verdict{v.Rule, v.Answer, v.Code, v.Reason, v.Pointer}
}
