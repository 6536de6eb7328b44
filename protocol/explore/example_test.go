package explore_test

import (
	"fmt"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/protocol/explore"
)

// Everything that can happen between two parties to a request, on a channel
// that keeps the order and on one that loses messages.
func ExampleExplore() {
	request, err := protocol.Lookup(protocol.RequestV1)
	if err != nil {
		panic(err)
	}
	for _, channel := range []explore.Channel{explore.FIFO, explore.Loss} {
		r := explore.Explore(explore.Of(request), channel)
		fmt.Printf("%s: %d configurations, %d deadlocks\n", r.Channel, r.Configurations, len(r.Deadlocks))
		for _, reception := range r.UnspecifiedReceptions {
			fmt.Println("  refused:", reception)
		}
	}
	// Output:
	// fifo: 189 configurations, 0 deadlocks
	// loss: 318 configurations, 0 deadlocks
	//   refused: initiator requested ?failure
	//   refused: initiator requested ?inform
	//   refused: initiator requested ?inform~
}

// A participant that may be silent for ever, and an initiator that waits.
func ExampleCheck() {
	_, flaws := explore.Check(explore.Tables{
		Name: "patience",
		Initiator: []protocol.Row{
			{From: "start", On: "!request", To: "waiting"},
			{From: "waiting", On: "?inform", To: "done:ok"},
			{From: "waiting", On: "?nack!", To: "done:refused"},
		},
		Participant: []protocol.Row{
			{From: "start", On: "?request", To: "working"},
			{From: "working", On: "!inform", To: "done:ok"},
		},
	})
	f := flaws[0]
	fmt.Printf("%s, %s: %s\n%v\n", f.Channel, f.Property, f.What, f.Run)
	// Output:
	// loss, no deadlock: waiting | start, under way [] and []
	// [initiator !request participant ?request (lost)]
}

// What a row is for: without it, something goes wrong.
func ExampleTables_Without() {
	request, err := protocol.Lookup(protocol.RequestV1)
	if err != nil {
		panic(err)
	}
	crossing := explore.Row{Role: protocol.Initiator, Row: protocol.Row{From: "cancelling", On: "?agree", To: "cancelling"}}
	r := explore.Explore(explore.Of(request).Without(crossing), explore.FIFO)
	fmt.Println(r.Flaws()[0].What)
	// Output:
	// initiator cancelling ?agree
}
