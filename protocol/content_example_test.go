package protocol_test

import (
	"fmt"
	"log"
	"time"

	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
)

// Offered and Booked are the results of two contracts. Each has a status that
// can say one thing only, so that an offer never passes for a booking, and a
// booking has a reference or is none. Prose has one place, and nobody computes
// with it.
type Offered struct {
	Status string        `json:"status" jsonschema:"const=quoted"`
	Cents  int64         `json:"cents" jsonschema:"minimum=1"`
	Notes  protocol.Text `json:"notes,omitempty" jsonschema:"maxLength=500"`
}

type Booked struct {
	Status    string        `json:"status" jsonschema:"const=booked"`
	Reference string        `json:"reference" jsonschema:"pattern=^[A-Z0-9]{6}$"`
	Notes     protocol.Text `json:"notes,omitempty" jsonschema:"maxLength=500"`
}

// A status is typed by giving each thing that a result can mean a Go type of
// its own, and each type its contract: what must come with a status is then a
// required member of its type, which the schema enforces at both ends. A rule
// that spans members of one type, such as that an end is after a start, is a
// check of the agent that answers.
func Example_status() {
	quote := protocol.Query[seat, Offered]("acme.flight.quote/v1")
	book := protocol.Request[seat, Booked]("acme.flight.book/v1")
	offered, err := schema.For[Offered](quote.Name().Result())
	if err != nil {
		log.Fatal(err)
	}
	booked, err := schema.For[Booked](book.Name().Result())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(booked.Validate([]byte(`{"status":"booked","reference":"X7K2QP","notes":"Window, as asked."}`)))
	fmt.Println(booked.Validate([]byte(`{"status":"booked","notes":"The reference is X7K2QP."}`)) != nil)
	fmt.Println(booked.Validate([]byte(`{"status":"booked","reference":"will follow"}`)) != nil)
	fmt.Println(booked.Validate([]byte(`{"status":"all booked for you!","reference":"X7K2QP"}`)) != nil)
	fmt.Println(booked.Validate([]byte(`{"status":"booked","reference":"X7K2QP","reply":"Enjoy your flight!"}`)) != nil)
	fmt.Println(offered.Validate([]byte(`{"status":"booked","cents":9900}`)) != nil)
	// Output:
	// <nil>
	// true
	// true
	// true
	// true
	// true
}

func ExampleTask() {
	heat := 0.2
	task := protocol.Request[protocol.Task[window], protocol.Delivery[Booked]]("acme.seat.pick/v1")
	s, err := schema.For[protocol.Task[window]](task.Name().Input())
	if err != nil {
		log.Fatal(err)
	}
	content, err := schema.Encode(s, protocol.Task[window]{
		Inputs:  window{"12A"},
		Context: []protocol.Reference{{Kind: protocol.ReferenceTool, ID: "hold:8841"}},
		Hints:   &protocol.Hints{TemperatureCap: &heat},
	})
	fmt.Println(string(content), err)
	// Output: {"context":[{"id":"hold:8841","kind":"tool"}],"hints":{"temperature_cap":0.2},"inputs":{"seat":"12A"}} <nil>
}

func ExampleDelivery() {
	s, err := schema.For[protocol.Delivery[window]]("acme.seat.pick.result/v1")
	if err != nil {
		log.Fatal(err)
	}
	content, err := schema.Encode(s, protocol.Delivery[window]{
		Outputs: window{"12A"}, Completion: protocol.CompletionComplete,
		Artifacts: []protocol.Artifact{{URI: "https://acme.example/pass/1", MediaType: "application/pdf"}},
	})
	fmt.Println(string(content), err)
	// Output: {"artifacts":[{"media_type":"application/pdf","uri":"https://acme.example/pass/1"}],"completion":"complete","outputs":{"seat":"12A"}} <nil>
}

func ExampleProgress() {
	s, err := schema.For[protocol.Progress[protocol.Empty]]("acme.seat.pick.progress/v1")
	if err != nil {
		log.Fatal(err)
	}
	content, err := schema.Encode(s, protocol.Progress[protocol.Empty]{Percent: 40, Step: "asking the airline"})
	fmt.Println(string(content), err)
	_, err = schema.Encode(s, protocol.Progress[protocol.Empty]{Percent: 140})
	fmt.Println(err)
	// Output:
	// {"percent":40,"step":"asking the airline"} <nil>
	// document does not fit urn:schema:acme.seat.pick.progress/v1: /percent: maximum: want at most 100, got number 140
}

func ExampleWrappers() {
	for _, w := range protocol.Wrappers() {
		fmt.Println(w.Name)
	}
	// Output:
	// parley.task/v1
	// parley.delivery/v1
	// parley.progress/v1
}

func ExampleHighestCommon() {
	theirs := []protocol.Advertised{
		{Capability: "urn:cap:acme.flight.book/v1", Protocol: protocol.RequestV1, Sunset: noon.Add(30 * 24 * time.Hour)},
		{Capability: "urn:cap:acme.flight.book/v2.1", Protocol: protocol.RequestV1},
	}
	fmt.Println(protocol.HighestCommon(names("acme.flight.book/v1", "acme.flight.book/v2"), theirs, noon))
	_, err := protocol.HighestCommon(names("acme.flight.book/v3"), theirs, noon)
	fmt.Println(err)
	// Output:
	// acme.flight.book/v2 <nil>
	// contract acme.flight.book: no common version: ours are v3, theirs are v1, v2.1
}

func ExampleAdvertisement_Check() {
	a := protocol.Advertisement{Agent: "agent://acme/flights", Contracts: []protocol.Advertised{
		{Capability: "urn:cap:acme.flight.book/v1", Protocol: protocol.RequestV1, SLA: &protocol.SLA{TypicalMS: 900, MaxMS: 300}},
	}}
	fmt.Println(a.Check())
	// Output: advertisement of "agent://acme/flights": /contracts/0/sla/max_ms must be at least typical_ms, 900, not "300"
}

func ExampleAdvertisement_Find() {
	n := names("acme.flight.book/v2")[0]
	found, ok := advertised().Find(n)
	fmt.Println(found.Capability, found.Deprecated(), ok)
	// Output: urn:cap:acme.flight.book/v2.1 false true
}
