package transcript_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/transcript"
)

// recorded is what a store has of a conversation from its initiator's side: what its Log and Exchanges return.
type recorded struct {
	Exchanges []store.Exchange
	Log       []store.Entry
}

// record reads one of the conversations in testdata.
func record(name string) (r recorded) {
	data, err := os.ReadFile(filepath.Join("testdata", "scenarios", name+".run.json"))
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		panic(err)
	}
	return r
}

func ExampleReplay() {
	r := record("request")
	done, err := transcript.Replay(r.Log, r.Exchanges)
	fmt.Println(done.Entries, "entries,", done.Terminal, err)

	r.Exchanges[0].State.State = "done:failed" // whoever can write the file can do that
	_, err = transcript.Replay(r.Log, r.Exchanges)
	if d, ok := errors.AsType[*transcript.Divergence](err); ok {
		fmt.Println(d.What, "is", d.Recorded, "and should be", d.Folded)
	}
	// Output:
	// 5 entries, COMPLETED <nil>
	// exchange: state is "done:failed" and should be "done:ok"
}

func ExampleSteps() {
	r := record("request-cancelled")
	for step, err := range transcript.Steps(r.Log, r.Exchanges) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(step.Entry.Kind, step.Entry.Event, step.From, step.To)
	}
	// Output:
	// sent !request start requested
	// received ?agree requested agreed
	// sent !cancel agreed cancelling
	// received ?inform.c cancelling done:cancelled
	// concluded
}

func ExampleExport() {
	r := record("gather-dissent")
	trace, err := transcript.Export(r.Log, r.Exchanges)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range trace.Messages {
		fmt.Println(m.Kind, "of", m.SenderPrincipalRef, "to", len(m.Audience))
	}
	fmt.Println(trace.Terminal.State)
	// Output:
	// REQUEST of agent://local/planner to 3
	// CONTRIBUTION of agent://local/cars to 1
	// DISSENT of agent://local/flights to 1
	// CONTRIBUTION of agent://local/hotels to 1
	// GATHER_RESULT of agent://local/planner to 3
	// TERMINAL_FENCE of agent://local/planner to 3
	// ACK of agent://local/cars to 1
	// ACK of agent://local/flights to 1
	// ACK of agent://local/hotels to 1
	// DISSENT_RECORDED
}

func ExampleDiff() {
	accepted, rejected := record("propose-accepted"), record("propose-rejected")
	found, err := transcript.Diff(accepted.Log, rejected.Log)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range found {
		if d.Theirs == "" {
			fmt.Println("-", d.Mine)
		} else {
			fmt.Println("+", d.Theirs)
		}
	}
	// Output:
	// - concluded COMPLETED
	// + concluded BLOCKED
	// - ?agree acme.trip.plan/v1 {"n":7}
	// + ?refuse parley.refusal/v1 {"n":7} permanent handler
}

// Contributions to a gather may arrive in any order: what they lead to is the same.
func ExampleShuffle() {
	r := record("gather-dissent")
	other := transcript.Shuffle(r.Log, rand.New(rand.NewPCG(1, 2)))
	was, err := transcript.StateOf(r.Log, r.Exchanges)
	if err != nil {
		fmt.Println(err)
		return
	}
	is, err := transcript.StateOf(other, r.Exchanges)
	fmt.Println(other[4].Peer, "came before", other[5].Peer)
	fmt.Println(was == is, err)
	// Output:
	// agent://local/hotels came before agent://local/cars
	// true <nil>
}

func ExampleCausal() {
	r := record("request")
	order := slices.Clone(r.Log)
	order[1], order[2] = order[2], order[1] // both are of one sender
	fmt.Println(transcript.Causal(r.Log, r.Log))
	fmt.Println(transcript.Causal(r.Log, order))
	// Output:
	// <nil>
	// entry 3 stands before one that it follows
}

func ExampleStateOf() {
	r := record("subscribe")
	state, err := transcript.StateOf(r.Log, r.Exchanges)
	done, _ := transcript.Replay(r.Log, r.Exchanges)
	fmt.Println(state == done.Digest, err)

	_, err = transcript.StateOf(r.Log[1:], r.Exchanges) // an agree that answers nothing
	if d, ok := errors.AsType[*transcript.Divergence](err); ok {
		fmt.Println("entry", d.Index, "has no place there:", d.Folded)
	}
	// Output:
	// true <nil>
	// entry 2 has no place there: illegal-transition: initiator may not see "?agree" in state "start"
}

func ExampleValidate() {
	v := transcript.Validate([]byte(`{"schemaVersion": "1.0.0", "terminal": null}`))
	fmt.Println("valid:", v.Valid)
	for _, f := range v.Errors {
		if f.Code == transcript.CodeShape || f.Code == transcript.CodeVersion {
			fmt.Println(f.Code, f.Path)
		}
	}
	// Output:
	// valid: false
	// E_SHAPE $.limits
	// E_SHAPE $.terminal
	// E_VERSION $.schemaVersion
}

func ExampleCodes() {
	codes := transcript.Codes()
	fmt.Println(codes[0], "to", codes[len(codes)-1])
	// Output: E_SHAPE to E_ACK_REQUIRED
}

func ExampleAt() {
	helsinki := time.FixedZone("EET", 2*60*60)
	data, err := json.Marshal(transcript.At(time.Date(2026, 3, 1, 14, 0, 0, 123_456_789, helsinki)))
	fmt.Println(string(data), err)
	// Output: "2026-03-01T12:00:00.123Z" <nil>
}
