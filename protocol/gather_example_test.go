package protocol_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
)

type quote struct{ Euros int }

func ExampleNewStream() {
	fares := protocol.NewStream[seat, quote]("acme.fare.watch/v1")
	fmt.Println(fares.Name().Item(), fares.Protocol(), fares.Effects())
	// Output: acme.fare.watch.item/v1 subscribe/v1 false
}

func ExampleNewAuction() {
	carry := protocol.NewAuction[seat, quote, booking]("acme.seat.carry/v1").Rounds(3)
	fmt.Println(carry.Name().Bid(), carry.Name().Result(), carry.MaxRounds())
	// Output: acme.seat.carry.bid/v1 acme.seat.carry.result/v1 3
}

func ExampleNewGathering() {
	review := protocol.NewGathering[seat, quote]("acme.plan.review/v1")
	fmt.Println(review.Name().Contribution(), review.Protocol())
	// Output: acme.plan.review.contribution/v1 gather/v1
}

func ExampleNewOffer() {
	swap := protocol.NewOffer[seat]("acme.seat.swap/v1")
	fmt.Println(swap.Name().Input(), swap.Protocol(), swap.Effects())
	// Output: acme.seat.swap/v1 propose/v1 true
}

func ExampleExchange_Moves() {
	x := protocol.Open(protocol.ContractNetV1, "019535d9-3df7-79fb-b466-000000000002", "agent://acme/flights", "agent://acme/planner",
		protocol.Participant)
	x.State = "called"
	for _, move := range x.Moves() {
		fmt.Println(move.Performative)
	}
	// Output:
	// failure
	// propose
	// refuse
}

func ExampleRenew() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	x := protocol.Exchange{Protocol: protocol.SubscribeV1, Role: protocol.Participant, State: "active", LeaseBy: now.Add(time.Second)}
	fmt.Println(protocol.Renew(x, now).Timers()[protocol.TimerLease].Sub(now))
	// Output: 30s
}

func ExampleGather_Validate() {
	g := protocol.Gather{
		ID: "g1", Members: []string{"agent://acme/b", "agent://acme/a"}, Policy: protocol.PolicyAll, Reducer: protocol.ReducerOrderedList,
		Deadline: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	}
	err := g.Validate()
	if fault, ok := errors.AsType[*protocol.GatherError](err); ok {
		fmt.Println(fault.Rule)
	}
	fmt.Println(err)
	// Output:
	// unsorted
	// gather "g1": unsorted: expected members in byte order, got agent://acme/b before agent://acme/a
}

func ExampleGather_Decide() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	g := protocol.Gather{
		ID: "g1", Members: []string{"agent://acme/a", "agent://acme/b", "agent://acme/c"},
		Policy: protocol.PolicyQuorum, Quorum: 2, Reducer: protocol.ReducerPreserveDissent, Deadline: now.Add(time.Minute),
	}
	accepted := []protocol.Contribution{
		{Sender: "agent://acme/c", Seq: 1, Message: "m3", Value: []byte(`{"euros":90}`)},
		{Sender: "agent://acme/a", Seq: 1, Message: "m1", Value: []byte(`{"euros":80}`)},
	}
	late := protocol.Contribution{Sender: "agent://acme/c", Message: "m4"}
	fmt.Println(g.Admit(accepted, late, now))

	d := g.Decide(accepted, now)
	r, err := g.Reduce(d)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Standing, d.Proposed(false), r.Inputs, r.Missing)
	fmt.Println(string(r.Value))
	fmt.Println(d.Note(r, d.Proposed(false), "agent://acme/b", false).Yours)
	// Output:
	// gather "g1": twice: expected one answer of each member, got another of agent://acme/c
	// SATISFIED COMPLETED [m1 m3] [agent://acme/b]
	// {"contributions":[{"euros":80},{"euros":90}],"dissent":[]}
	// missing
}

func ExampleContribute() {
	e, err := envelope.Seal(envelope.Header{
		Performative: envelope.Inform, Status: envelope.Partial, Protocol: protocol.GatherV1, Gather: &envelope.Gather{ID: "g1", Stance: envelope.StanceDissent},
		Schema: "acme.plan.review.contribution/v1", Salt: bytes.Repeat([]byte{1}, 16),
		Sender: "agent://acme/flights", Receiver: "agent://acme/planner", SenderGeneration: 1, InReplyTo: "019535d9-3df7-79fb-b466-000000000001",
		MessageID: "019535d9-3df7-79fb-b466-000000000003", ConversationID: "019535d9-3df7-79fb-b466-000000000002", CorrelationID: "trip",
		Seq: 1, Timestamp: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Labels: envelope.Labels{Integrity: envelope.Peer},
		Trace: envelope.Trace{Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
	}, []byte(`{"euros": 80}`))
	if err != nil {
		log.Fatal(err)
	}
	c := protocol.Contribute(e)
	fmt.Println(c.Sender, c.Dissents, c.Abstains, string(c.Value))
	// Output: agent://acme/flights true false {"euros":80}
}

func ExampleConclusion_Terminal() {
	x := protocol.Exchange{Protocol: protocol.SubscribeV1, Role: protocol.Initiator, State: "done:ended"}
	fmt.Println(protocol.Conclusion{Exchanges: []protocol.Exchange{x}}.Terminal())
	x.State = "active"
	fmt.Println(protocol.Conclusion{Exchanges: []protocol.Exchange{x}}.Terminal())
	// Output:
	// COMPLETED true
	//  false
}

func ExampleStateDigest() {
	s := protocol.Snapshot{Protocol: protocol.QueryV1, Conversation: "019535d9-3df7-79fb-b466-000000000002"}
	fmt.Println(protocol.StateDigest(s))
	// Output: 7d50b9050edbc20a4b8cef2cae3b8669ecb7c5c1a7bd97e7c7c14d4e3193267a
}
