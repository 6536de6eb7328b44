package explore

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/parley-agents/parley/protocol"
)

// every lists the channels and what shows a protocol at rest.
func every() []Channel { return append(Channels(), Timeless, Undisturbed) }

// eachChannel runs a test for every shipped protocol on every channel.
func eachChannel(t *testing.T, test func(t *testing.T, p *protocol.Protocol, r Report)) {
	for _, p := range protocol.All() {
		for _, c := range every() {
			t.Run(fmt.Sprintf("%s %s", p.Name, c), func(t *testing.T) { test(t, p, Explore(Of(p), c)) })
		}
	}
}

// shipped are the tables of a shipped protocol.
func shipped(t *testing.T, name string) Tables {
	t.Helper()
	p, err := protocol.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return Of(p)
}

func TestNoChannelMakesAProtocolHangOrLie(t *testing.T) {
	eachChannel(t, func(t *testing.T, _ *protocol.Protocol, r Report) {
		for _, flaw := range r.Flaws() {
			t.Errorf("%+v", flaw)
		}
		if r.Configurations < 10 {
			t.Errorf("only %d configurations explored", r.Configurations)
		}
		t.Logf("%d configurations, outcomes %v", r.Configurations, r.JointOutcomes)
	})
}

func TestEveryWalkHasTheSizeOnFile(t *testing.T) {
	want := map[string][]int{ // fifo, loss, reorder, timeless, undisturbed
		protocol.RequestV1:     {189, 318, 259, 91, 28},
		protocol.QueryV1:       {201, 318, 257, 100, 37},
		protocol.ContractNetV1: {304, 428, 336, 116, 28},
		protocol.SubscribeV1:   {190, 318, 248, 92, 29},
		protocol.ProposeV1:     {95, 132, 101, 46, 13},
		protocol.GatherV1:      {929, 1448, 1253, 217, 33},
	}
	got := map[string][]int{}
	eachChannel(t, func(_ *testing.T, p *protocol.Protocol, r Report) {
		got[p.Name] = append(got[p.Name], r.Configurations)
	})
	if !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestInOrderDeliveryNeverMeetsAStateWithoutARow(t *testing.T) {
	for _, p := range protocol.All() {
		for _, reception := range Explore(Of(p), FIFO).UnspecifiedReceptions {
			t.Errorf("%s: %s after %v", p.Name, reception, reception.Run)
		}
	}
}

func TestLossAndReorderMeetOnlyTheseStatesWithoutARow(t *testing.T) {
	early := []string{"initiator requested ?failure", "initiator requested ?inform", "initiator requested ?inform~"}
	for name, want := range map[string]map[Channel][]string{
		protocol.RequestV1:     {Loss: early, Reorder: early},
		protocol.QueryV1:       {Reorder: {"initiator agreed ?agree"}},
		protocol.SubscribeV1:   {Loss: early[1:], Reorder: early[1:]},
		protocol.ContractNetV1: {}, protocol.ProposeV1: {}, protocol.GatherV1: {},
	} {
		for _, c := range []Channel{Loss, Reorder} {
			var got []string
			for _, reception := range Explore(shipped(t, name), c).UnspecifiedReceptions {
				got = append(got, reception.String())
			}
			if !slices.Equal(got, want[c]) {
				t.Errorf("%s under %s: got %v, want %v", name, c, got, want[c])
			}
		}
	}
}

// ways are the joint outcomes of a report in words.
func ways(r Report) (list []string) {
	for _, joint := range r.JointOutcomes {
		list = append(list, joint.String())
	}
	return list
}

func TestTheTwoSidesCanEndInTheseWaysOnly(t *testing.T) {
	undisturbed := []string{
		"done:failed by ?failure | done:failed",
		"done:ok by ?inform | done:ok",
		"done:refused by ?nack! | start",
		"done:refused by ?not-understood | done:refused",
		"done:refused by ?refuse | done:refused",
	}
	disturbed := append([]string{
		"done:cancelled by ?inform.c | done:cancelled",
		"done:refused by ?refuse | done:expired",
		"done:unknown by #cancel-by | done:cancelled",
		"done:unknown by #cancel-by | done:expired",
		"done:unknown by #cancel-by | done:failed",
		"done:unknown by #cancel-by | done:ok",
		"done:unknown by #cancel-by | done:refused",
	}, undisturbed...)
	slices.Sort(disturbed)
	for _, name := range []string{protocol.RequestV1, protocol.QueryV1} {
		for c, want := range map[Channel][]string{FIFO: disturbed, Undisturbed: undisturbed} {
			if got := ways(Explore(shipped(t, name), c)); !slices.Equal(got, want) {
				t.Errorf("%s %s: got %q", name, c, got)
			}
		}
	}
}

func TestTheOutcomesOfEveryProtocolAreThoseOnFile(t *testing.T) {
	golden, err := os.ReadFile("testdata/outcomes.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	eachChannel(t, func(_ *testing.T, p *protocol.Protocol, r Report) {
		if r.Channel == FIFO || r.Channel == Undisturbed {
			for _, way := range ways(r) {
				fmt.Fprintf(&got, "%s %s: %s\n", p.Name, r.Channel, way)
			}
		}
	})
	if got.String() != string(golden) {
		t.Errorf("got\n%s", got.String())
	}
}

func TestEveryRowFiresInSomeRun(t *testing.T) {
	// A fence is the last thing that a coordinator sends: only a channel that
	// mixes lets something come after it.
	mixed := map[string]bool{
		"gather/v1 participant: ackit ?cancel→ackit":  true,
		"gather/v1 participant: ackit ?request→ackit": true,
	}
	for _, p := range protocol.All() {
		tables := Of(p)
		inOrder, reordered := Explore(tables, FIFO).UnfiredRows, Explore(tables, Reorder).UnfiredRows
		for _, row := range tables.Rows() {
			name := p.Name + " " + row.String()
			if slices.Contains(reordered, row) || slices.Contains(inOrder, row) != mixed[name] {
				t.Errorf("%s: idle in order: %t, when reordered: %t", name, slices.Contains(inOrder, row), slices.Contains(reordered, row))
			}
		}
	}
}

func TestEveryShippedProtocolPassesTheCheck(t *testing.T) {
	for _, p := range protocol.All() {
		reports, flaws := Check(Of(p))
		if len(flaws) > 0 {
			t.Errorf("%s: %+v", p.Name, flaws)
		}
		for i, r := range reports {
			if r.Protocol != p.Name || r.Channel != Channels()[i] {
				t.Errorf("report %d is of %s on %s", i, r.Protocol, r.Channel)
			}
		}
	}
}
