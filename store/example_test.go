package store_test

import (
	"fmt"
	"time"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// Whoever changes an entry of a log breaks the chain behind it.
func ExampleLink() {
	log := []store.Entry{
		{Owner: "agent://acme/flights", Index: 1, Kind: store.Received, Event: "?request", From: "start", To: "received"},
		{Owner: "agent://acme/flights", Index: 2, Kind: store.Sent, Event: "!inform", From: "received", To: "done:ok"},
	}
	var last [32]byte
	for i := range log {
		log[i].Hash = store.Link(last, log[i])
		last = log[i].Hash
	}

	log[0].To = "agreed"
	last = [32]byte{}
	for _, e := range log {
		fmt.Println(e.Index, store.Link(last, e) == e.Hash)
		last = store.Link(last, e)
	}
	// Output:
	// 1 false
	// 2 false
}

func ExampleSummary() {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	with := func(peer string, state protocol.State, opened, ended time.Time) store.Exchange {
		return store.Exchange{
			Key:      store.Key{Owner: "agent://acme/planner", Conversation: "019535d9-3df7-79fb-b466-000000000002", Peer: peer},
			State:    protocol.Exchange{Protocol: protocol.ContractNetV1, State: state},
			OpenedAt: opened, EndedAt: ended,
		}
	}
	exchanges := []store.Exchange{
		with("agent://acme/trains", "done:refused", noon, noon.Add(time.Second)),
		with("agent://acme/flights", "called", noon, time.Time{}),
	}
	c := store.Summary(exchanges, 3)
	fmt.Println(c.State, c.Peers, c.EndedAt.IsZero())

	exchanges[1] = with("agent://acme/flights", "done:ok", noon, noon.Add(time.Minute))
	c = store.Summary(exchanges, 6)
	fmt.Println(c.State, c.Messages, c.EndedAt.Sub(c.OpenedAt))
	// Output:
	// live [agent://acme/flights agent://acme/trains] true
	// ended 6 1m0s
}

func ExampleWriteSet_Check() {
	x := store.Exchange{Key: store.Key{Owner: "agent://acme/planner", Conversation: "trip-8841", Peer: "agent://acme/flights"}}
	fmt.Println(store.WriteSet{Exchanges: []store.Exchange{x}}.Check())
	fmt.Println(store.WriteSet{Exchanges: []store.Exchange{x, x}}.Check())
	// Output:
	// <nil>
	// write the exchange of agent://acme/planner with agent://acme/flights in conversation trip-8841: the set writes it twice
}

func ExampleCommand_Check() {
	c := store.Command{ID: "019caa10-5a00-7000-8000-000000000001", Verb: "delete", Owner: "agent://acme/planner", Conversation: "trip-8841"}
	fmt.Println(c.Check())
	c.Verb = store.VerbCancel
	fmt.Println(c.Check())
	// Output:
	// the command's verb is wrong: expected cancel, retry, requeue or drop
	// <nil>
}

// A message of low priority leaves after one of high priority, until it has
// waited for half a minute.
func ExampleOutbox_Compare() {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	low := store.Outbox{Priority: "low", NextAt: noon}
	high := store.Outbox{Priority: "high", NextAt: noon.Add(time.Second)}
	fmt.Println(low.Compare(high, noon.Add(2*time.Second)))
	fmt.Println(low.Compare(high, noon.Add(store.Aging+time.Millisecond)))
	// Output:
	// 1
	// -1
}

// The timer stands at a whole millisecond, never before it is due.
func ExampleExchange_NextTimer() {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	x := store.Exchange{State: protocol.Exchange{Protocol: protocol.RequestV1, Role: protocol.Participant, State: "agreed", ReplyBy: noon.Add(time.Nanosecond)}}
	next := x.NextTimer()
	fmt.Println(next.Name, next.At.Sub(noon))
	// Output: reply-by 1ms
}

func ExampleRankOf() {
	for _, priority := range []string{"high", "", "urgent"} {
		fmt.Println(store.RankOf(priority))
	}
	// Output:
	// 0 true
	// 1 true
	// 1 false
}

// A host sweeps until there is nothing left to forget.
func ExampleSwept_None() {
	fmt.Println(store.Swept{Inbox: 100, More: true}.None())
	fmt.Println(store.Swept{}.None())
	// Output:
	// false
	// true
}

func ExampleOutbox_Rank() {
	fmt.Println(store.Outbox{Priority: "high"}.Rank() == store.High)
	fmt.Println(store.Outbox{}.Rank() == store.Normal)
	// Output:
	// true
	// true
}
