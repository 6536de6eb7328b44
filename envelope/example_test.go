package envelope_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/parley-agents/parley/envelope"
)

// request returns a header as a runtime fills it.
func request() envelope.Header {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return envelope.Header{
		Performative:     envelope.Request,
		Schema:           "acme.flight.search/v2",
		Capability:       "urn:cap:acme.flight.search/v2",
		Salt:             make([]byte, 16), // random in earnest
		Sender:           "agent://acme/planner",
		SenderGeneration: 1_772_366_400_000,
		Receiver:         "agent://skyline/flights",
		MessageID:        "019caa10-5a00-7000-8000-000000000001",
		ConversationID:   "019caa10-5a00-7000-8000-000000000002",
		CorrelationID:    "trip-8841",
		Seq:              1,
		Timestamp:        at,
		ReplyBy:          at.Add(30 * time.Second),
		IdempotencyKey:   "trip-8841",
		Labels:           envelope.Labels{Integrity: envelope.User},
		Trace:            envelope.Trace{Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
	}
}

func ExampleSeal() {
	e, err := envelope.Seal(request(), []byte(`{"to": "HEL", "from": "LHR"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Act(), e.Protocol(), e.Header().Tenant)
	fmt.Println(string(e.Content()))
	// Output:
	// request request/v1 acme
	// {"from":"LHR","to":"HEL"}
}

func ExampleDecode() {
	_, err := envelope.Decode([]byte(`{"v":"1.0","performative":"order"}`))
	var shape *envelope.ShapeError
	if errors.As(err, &shape) {
		fmt.Println(shape.Pointer, shape.Rule)
	}
	// Output: /performative enum
}

func ExampleEnvelope_Reply() {
	e, err := envelope.Seal(request(), []byte(`{}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	h := e.Reply(envelope.Inform)
	fmt.Println(h.Sender, "to", h.Receiver)
	fmt.Println(h.InReplyTo == e.ID(), h.Tenant)
	// Output:
	// agent://skyline/flights to agent://acme/planner
	// true skyline
}

func ExampleEnvelope_Resend() {
	e, err := envelope.Seal(request(), []byte(`{}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	again := e.Resend(2, "eyJhbGciOiJFZERTQSJ9.e30.c2ln")
	fmt.Println(again.Attempt(), again.ID() == e.ID(), again.Digest() == e.Digest())
	// Output: 2 true true
}

func ExampleEnvelope_WithoutAuth() {
	h := request()
	h.Auth = "eyJhbGciOiJFZERTQSJ9.e30.c2ln"
	e, err := envelope.Seal(h, []byte(`{}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.WithoutAuth().Auth() == "", e.WithoutAuth().Digest() == e.Digest())
	// Output: true true
}

func ExampleParseURI() {
	u, err := envelope.ParseURI("agent://skyline/flights")
	fmt.Println(u.Authority, u.Name, err)
	// Output: skyline flights <nil>
}

func ExampleParseDigest() {
	e, err := envelope.Seal(request(), []byte(`{}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := envelope.ParseDigest(e.Digest().String())
	fmt.Println(d == e.Digest(), err)
	_, err = envelope.ParseDigest("sha256")
	fmt.Println(err)
	// Output:
	// true <nil>
	// digest "sha256": want 64 lower-case hexadecimal digits
}

// A FIPA ACL message has neither capability nor labels nor time: whoever takes one
// over fills them in before sealing.
func ExampleFromFIPA() {
	h, content, err := envelope.FromFIPA(map[string]string{
		"sender": "agent://acme/planner", "receiver": "agent://skyline/flights", "protocol": "request/v1", "ontology": "acme.flight.search/v2",
		"language": "json", "content": `{"to": "HEL"}`, "reply-by": "2026-03-01T12:00:30Z",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(h.Sender, "to", h.Receiver, "about", h.Schema, "by", h.ReplyBy.Format(time.TimeOnly))
	fmt.Println(string(content))

	_, _, err = envelope.FromFIPA(map[string]string{"language": "fipa-sl"})
	fmt.Println(err)
	// Output:
	// agent://acme/planner to agent://skyline/flights about acme.flight.search/v2 by 12:00:30
	// {"to": "HEL"}
	// envelope member /language breaks rule enum: want json, got "fipa-sl"
}

func ExampleNewError() {
	busy := envelope.NewError(envelope.CodeCapacity, "overloaded")
	busy.RetryAfter = 2 * time.Second
	fmt.Println(busy.Reason, busy.Retriable, busy.RetryAfter)
	fmt.Println(envelope.NewError(envelope.CodePermanent, "sold-out").Retriable)
	// Output:
	// overloaded true 2s
	// false
}

// What Decode refused can still be answered, if it says who sent it.
func ExampleSalvage() {
	data := []byte(`{"v":"1.0","performative":"order","sender":"agent://acme/planner","message_id":"019caa10-5a00-7000-8000-000000000001"}`)
	_, err := envelope.Decode(data)
	fmt.Println(err)
	to, ok := envelope.Salvage(data)
	fmt.Println(to.Sender, to.MessageID, ok)

	_, ok = envelope.Salvage([]byte(`{"v":"1.0","performative":"order"}`))
	fmt.Println(ok)
	// Output:
	// envelope member /performative breaks rule enum: want one of request, cfp, propose, agree, refuse, inform, failure, cancel, got "order"
	// agent://acme/planner 019caa10-5a00-7000-8000-000000000001 true
	// false
}

func ExamplePerformatives() {
	fmt.Println(envelope.Performatives())
	// Output: [request cfp propose agree refuse inform failure cancel]
}

func ExampleReceipts() {
	fmt.Println(envelope.Receipts())
	// Output: [ack nack not-understood]
}

func ExampleDerivedID() {
	fmt.Println(envelope.DerivedID("agent://local/planner", "trip-8841"))
	fmt.Println(envelope.DerivedID("agent://local/planner", "trip-8841"))
	// Output:
	// 7d0919f0-1bc6-8195-aab1-e0a99e9eb65c
	// 7d0919f0-1bc6-8195-aab1-e0a99e9eb65c
}
