package protocol_test

import (
	"bytes"
	"fmt"
	"log"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
)

type seat struct{ Flight string }

type booking struct{ Reference string }

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
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	request, err := envelope.Seal(envelope.Header{
		Performative: envelope.Request, Protocol: protocol.RequestV1, Schema: "acme.flight.book/v1", Salt: bytes.Repeat([]byte{1}, 16),
		Sender: "agent://acme/planner", Receiver: "agent://acme/flights", SenderGeneration: 1, Capability: "urn:cap:acme.flight.book/v1",
		MessageID: "019535d9-3df7-79fb-b466-000000000001", ConversationID: "019535d9-3df7-79fb-b466-000000000002", CorrelationID: "trip",
		Seq: 1, Timestamp: now, ReplyBy: now.Add(time.Minute), IdempotencyKey: "trip-8841", Labels: envelope.Labels{Integrity: envelope.User},
		Trace: envelope.Trace{Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
	}, []byte(`{"flight":"AY121"}`))
	if err != nil {
		log.Fatal(err)
	}
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
