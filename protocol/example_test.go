package protocol_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
)

type seat struct{ Flight string }

type booking struct{ Reference string }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// order is a request as the planner's runtime seals it.
func order() *envelope.Envelope {
	return seal(envelope.Header{
		Performative: envelope.Request, Protocol: protocol.RequestV1, Capability: "urn:cap:acme.flight.book/v1",
		Sender: "agent://acme/planner", Receiver: "agent://acme/flights", ReplyBy: noon.Add(time.Minute), IdempotencyKey: "trip-8841",
		MessageID: "019535d9-3df7-79fb-b466-000000000001", ConversationID: "019535d9-3df7-79fb-b466-000000000002", CorrelationID: "trip",
		Trace: envelope.Trace{Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
	})
}

// seal fills in what the header lacks, as of the first message of its sender, and
// seals it.
func seal(h envelope.Header) *envelope.Envelope {
	h.SenderGeneration, h.Timestamp, h.Labels.Integrity = 1, noon, envelope.User
	if h.MessageID == "" {
		h.MessageID = "019535d9-3df7-79fb-b466-000000000003"
	}
	var content []byte
	if h.Receipt == "" {
		h.Schema, h.Seq, h.Salt, content = "acme.flight.book/v1", max(1, h.Seq), bytes.Repeat([]byte{1}, 16), []byte(`{}`)
	}
	e, err := envelope.Seal(h, content)
	if err != nil {
		log.Fatal(err)
	}
	return e
}

// requested is the planner's side of the exchange that the order has opened.
func requested() protocol.Exchange {
	x := protocol.Open(protocol.RequestV1, order().Conversation(), "agent://acme/planner", "agent://acme/flights", protocol.Initiator)
	x, _, err := protocol.Advance(x, noon, protocol.Send(order()))
	if err != nil {
		log.Fatal(err)
	}
	return x
}

func ExampleQuery() {
	look := protocol.Query[seat, booking]("acme.flight.look/v1")
	fmt.Println(look.Name().Capability(), look.Effects())
	// Output: urn:cap:acme.flight.look/v1 false
}

func ExampleRequest() {
	book := protocol.Request[seat, booking]("acme.flight.book/v1")
	fmt.Println(book.Name().Result(), book.Effects())
	// Output: acme.flight.book.result/v1 true
}

func ExampleParseName() {
	n, err := protocol.ParseName("book/v2.1")
	fmt.Println(n, n.Major, n.Minor, err)
	_, err = protocol.ParseName("Book")
	fmt.Println(err)
	// Output:
	// local.book/v2.1 2 1 <nil>
	// contract name "Book" is not of the form org.path.verb/v1
}

func ExampleLookup() {
	p, err := protocol.Lookup(protocol.RequestV1)
	if err != nil {
		log.Fatal(err)
	}
	for _, move := range p.Moves(protocol.Participant, "received") {
		fmt.Printf("%s %q\n", move.Performative, move.Status)
	}
	_, err = protocol.Lookup("auction/v7")
	fmt.Println(err)
	// Output:
	// refuse ""
	// failure ""
	// inform "final"
	// inform "partial"
	// protocol "auction/v7" is not supported
}

func ExampleAdvance() {
	request, now := order(), noon
	x := protocol.Open(request.Protocol(), request.Conversation(), request.Receiver(), request.Sender(), protocol.Participant)
	x, outputs, err := protocol.Advance(x, now, protocol.Receive(request))
	fmt.Println(x.State, outputs[0].Do, err)

	x, outputs, err = protocol.Advance(x, now.Add(protocol.AgreeAfter), protocol.Fire(protocol.TimerAgree))
	fmt.Println(x.State, outputs[0].Do, outputs[0].Act.Performative, err)

	_, _, err = protocol.Advance(x, now, protocol.Send(request))
	fmt.Println(err)
	// Output:
	// received work <nil>
	// received utter agree <nil>
	// wrong-role: participant may not see "!request" in state "received"
}

func ExampleOpen() {
	x := protocol.Open(protocol.RequestV1, order().Conversation(), "agent://acme/planner", "agent://acme/flights", protocol.Initiator)
	fmt.Println(x.State, x.Done(), x.Moves()[0].Performative)
	// Output: start false request
}

func ExampleSend() {
	x := protocol.Open(protocol.RequestV1, order().Conversation(), "agent://acme/planner", "agent://acme/flights", protocol.Initiator)
	x, _, err := protocol.Advance(x, noon, protocol.Send(order()))
	fmt.Println(x.State, x.Sent, x.Answerable(order().ID()), err)
	// Output: requested 1 true <nil>
}

func ExampleReceive() {
	x, _, err := protocol.Advance(requested(), noon, protocol.Receive(seal(order().Reply(envelope.Agree))))
	fmt.Println(x.State, err)

	result := order().Reply(envelope.Inform)
	result.Status, result.MessageID, result.Seq = envelope.Final, "019535d9-3df7-79fb-b466-000000000004", 2
	x, outputs, err := protocol.Advance(x, noon, protocol.Receive(seal(result)))
	fmt.Println(x.State, outputs[0].Do, err)
	// Output:
	// agreed <nil>
	// done:ok end <nil>
}

// A final nack of the opening act refuses it; a retriable one is no input.
func ExampleRefusal() {
	nack := order().Receipt(envelope.Nack, envelope.NewError(envelope.CodeAuth, "mismatch"))
	x, _, err := protocol.Advance(requested(), noon, protocol.Refusal(seal(nack)))
	fmt.Println(x.State, err)
	fmt.Println(x.Err())
	// Output:
	// done:refused <nil>
	// agent://acme/flights refused: auth (mismatch)
}

// The planner has waited long enough and cancels.
func ExampleFire() {
	x := requested()
	x, outputs, err := protocol.Advance(x, x.ReplyBy, protocol.Fire(protocol.TimerReplyBy))
	fmt.Println(x.State, outputs[0].Do, outputs[0].Act.Performative, err)
	// Output: requested utter cancel <nil>
}

func ExampleExchange_Timers() {
	x := requested()
	fmt.Println(x.Timers()[protocol.TimerReplyBy].Sub(noon))
	// Output: 1m0s
}

func ExampleExchange_NextAlarm() {
	next, runs := requested().NextAlarm()
	fmt.Println(next.Timer, next.At.Sub(noon), runs)
	// Output: reply-by 1m0s true
}

func ExampleExchange_AppendJSON() {
	state, err := requested().AppendJSON(nil)
	var again protocol.Exchange
	fmt.Println(json.Unmarshal(state, &again), again.State, err)
	// Output: <nil> requested <nil>
}

// The result has come, but does not fit its schema: there will be no other one.
func ExampleVoid() {
	x, _, err := protocol.Advance(requested(), noon, protocol.Receive(seal(order().Reply(envelope.Agree))))
	if err != nil {
		log.Fatal(err)
	}
	result := order().Reply(envelope.Inform)
	result.Status, result.MessageID, result.Seq = envelope.Final, "019535d9-3df7-79fb-b466-000000000004", 2
	x = protocol.Void(x, seal(result), envelope.NewError(envelope.CodeValidation, "schema"))
	fmt.Println(x.State, x.Received)
	fmt.Println(x.Err())
	// Output:
	// done:failed 2
	// agent://acme/flights failed: validation (schema)
}

// A refused message takes its number with it: the next one is no gap.
func ExampleConsume() {
	before := requested()
	after := protocol.Consume(before, seal(order().Reply(envelope.Agree)))
	fmt.Println(before.State, before.Received)
	fmt.Println(after.State, after.Received)
	// Output:
	// requested 0
	// requested 1
}

func ExampleSending() {
	fmt.Println(protocol.Sending(order()))
	// Output: !request
}

func ExampleReceiving() {
	item := order().Reply(envelope.Inform)
	item.Status = envelope.Partial
	fmt.Println(protocol.Receiving(seal(item)))
	fmt.Println(protocol.Receiving(seal(order().Receipt(envelope.Ack, nil))))
	// Output:
	// ?inform~
	// ?ack
}

func ExampleAll() {
	for _, p := range protocol.All() {
		fmt.Println(p.Name, p.RuntimeAgrees())
	}
	// Output:
	// request/v1 true
	// query/v1 true
	// contract-net/v1 false
	// subscribe/v1 true
	// propose/v1 false
	// gather/v1 false
}

func ExampleProtocol_Moves() {
	p, err := protocol.Lookup(protocol.ProposeV1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Moves(protocol.Initiator, protocol.Start))
	// Output: [{propose }]
}

func ExampleTable_Next() {
	p, err := protocol.Lookup(protocol.RequestV1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Table(protocol.Initiator).Next("requested", "?agree"))
	fmt.Println(p.Table(protocol.Initiator).Next("requested", "?propose"))
	// Output:
	// agreed true
	//  false
}

func ExampleChat() {
	chat := protocol.Chat()
	fmt.Println(chat.Name(), chat.Protocol(), chat.Effects())
	// Output: parley.chat/v1 request/v1 true
}
