package protocol

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// eachNetwork runs a test for every shipped protocol on every network.
func eachNetwork(t *testing.T, test func(t *testing.T, p *Protocol, n network, f findings)) {
	for _, p := range All() {
		for _, n := range networks {
			t.Run(p.Name+" "+n.name, func(t *testing.T) { test(t, p, n, explore(p, n)) })
		}
	}
}

func TestNoChannelMakesAProtocolHangOrLie(t *testing.T) {
	eachNetwork(t, func(t *testing.T, p *Protocol, n network, f findings) {
		for _, flaw := range f.flaws() {
			t.Error(flaw)
		}
		if f.configs < 10 {
			t.Errorf("only %d configurations explored", f.configs)
		}
		t.Logf("%d configurations, outcomes %v", f.configs, slices.Sorted(maps.Keys(f.outcomes)))
	})
}

func TestInOrderDeliveryNeverMeetsAStateWithoutARow(t *testing.T) {
	for _, p := range All() {
		for _, reception := range slices.Sorted(maps.Keys(explore(p, networks[0]).unspecified)) {
			t.Errorf("%s: %s", p.Name, reception)
		}
	}
}

func TestLossAndReorderMeetOnlyTheseStatesWithoutARow(t *testing.T) {
	early := []string{"initiator requested ?failure", "initiator requested ?inform", "initiator requested ?inform~"}
	for name, want := range map[string][2][]string{
		RequestV1:   {early, early},
		QueryV1:     {nil, {"initiator agreed ?agree"}},
		SubscribeV1: {early[1:], early[1:]}, ContractNetV1: {}, ProposeV1: {}, GatherV1: {},
	} {
		p, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range networks[1:3] {
			if got := slices.Sorted(maps.Keys(explore(p, n).unspecified)); !slices.Equal(got, want[i]) {
				t.Errorf("%s under %s: got %v, want %v", name, n.name, got, want[i])
			}
		}
	}
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
	for _, name := range []string{RequestV1, QueryV1} {
		for n, want := range map[network][]string{networks[0]: disturbed, networks[4]: undisturbed} {
			if got := slices.Sorted(maps.Keys(explore(mustLookup(t, name), n).outcomes)); !slices.Equal(got, want) {
				t.Errorf("%s %s: got %q", name, n.name, got)
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
	eachNetwork(t, func(_ *testing.T, p *Protocol, n network, f findings) {
		if n == networks[0] || n == networks[4] {
			for _, outcome := range slices.Sorted(maps.Keys(f.outcomes)) {
				fmt.Fprintf(&got, "%s %s: %s\n", p.Name, n.name, outcome)
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
	for _, p := range All() {
		inOrder, reordered := explore(p, networks[0]).fired, explore(p, networks[2]).fired
		for _, row := range rowsOf(p) {
			name := p.Name + " " + row.String()
			if !reordered[row] || inOrder[row] == mixed[name] {
				t.Errorf("%s: fires in order: %t, when reordered: %t", name, inOrder[row], reordered[row])
			}
		}
	}
}

func rowsOf(p *Protocol) (rows []rowOf) {
	for _, r := range []Role{Initiator, Participant} {
		for _, row := range p.Table(r).Rows() {
			rows = append(rows, rowOf{r, row})
		}
	}
	return rows
}

// drop is p without one row.
func drop(p *Protocol, out rowOf) *Protocol {
	without := func(r Role) *Table {
		t := &Table{next: map[State]map[Event]State{}}
		for _, row := range p.Table(r).Rows() {
			if out == (rowOf{r, row}) {
				continue
			}
			if t.next[row.From] == nil {
				t.next[row.From] = map[Event]State{}
			}
			t.next[row.From][row.On] = row.To
			t.rows = append(t.rows, row)
		}
		return t
	}
	return &Protocol{Name: p.Name, initiator: without(Initiator), participant: without(Participant), runtimeAgrees: p.runtimeAgrees}
}

// unneeded are the rows that could go without a property or an outcome
// changing, each with why it stays.
var unneeded = map[string]string{
	"query/v1 participant: received !inform→done:ok":          "a query is answered without agreeing first",
	"query/v1 participant: received !inform~→agreed":          "a query is answered without agreeing first",
	"query/v1 participant: received !failure→done:failed":     "a query is answered without agreeing first",
	"subscribe/v1 participant: received !failure→done:failed": "a subscription may fail before it was agreed to",
	"contract-net/v1 initiator: called !cancel→cancelling":    "who calls may change its mind before a proposal",
	"contract-net/v1 initiator: proposed !cancel→cancelling":  "and after it: a rejection would say that another was better",
	"contract-net/v1 initiator: expired !cancel→cancelling":   "and in the grace after the deadline",
	"contract-net/v1 participant: awarded !inform~→awarded":   "progress on an award changes no outcome",
	"gather/v1 participant: stopping !inform.c→stopped":       "only !failure would be left to answer a cancel",
}

func TestEveryRowIsNeeded(t *testing.T) {
	for _, p := range All() {
		var whole []findings
		for _, n := range networks {
			whole = append(whole, explore(p, n))
		}
		for _, row := range rowsOf(p) {
			less := drop(p, row)
			changed := len(unattended(less)) > 0
			for i, n := range networks {
				if changed {
					break
				}
				f := explore(less, n)
				changed = len(f.flaws()) > 0 || !maps.Equal(f.outcomes, whole[i].outcomes) ||
					!maps.Equal(f.unspecified, whole[i].unspecified) || !maps.Equal(f.prospects, whole[i].prospects)
			}
			name := p.Name + " " + row.String()
			if reason := unneeded[name]; changed == (reason != "") || len(unneeded) > 80 {
				t.Errorf("%s: changes something: %t, listed as unneeded: %q", name, changed, reason)
			}
		}
	}
}

// unattended are the participant states in which a handler that says nothing
// would leave the exchange open for ever: those without a timer, unless the
// runtime speaks there itself.
func unattended(p *Protocol) (states []State) {
	runtimeSays := map[State]Event{"overdue": "!refuse", "failing": "!failure", "lateaward": "!failure",
		cancelling: "!failure", stopping: "!failure", ackit: "!ack"}
	live := map[State]bool{}
	for _, row := range p.participant.Rows() {
		live[row.From] = true
	}
	delete(live, Start)
	for _, row := range p.participant.Rows() {
		if row.On.Fires() || row.On == runtimeSays[row.From] {
			delete(live, row.From)
		}
	}
	return slices.Sorted(maps.Keys(live))
}

func TestASilentHandlerCannotKeepAnExchangeOpen(t *testing.T) {
	for _, p := range All() {
		if states := unattended(p); len(states) > 0 {
			t.Errorf("%s: nothing ends a participant in %v", p.Name, states)
		}
	}
}

func TestTheExplorerFindsTheFaultsOfTheTextbookTable(t *testing.T) {
	textbook, err := parseTable(`
start      | !request→requested
requested  | ?agree→agreed, ?refuse→done:refused, ?not-understood→done:refused, !cancel→cancelling
agreed     | ?inform→done:ok, ?inform~→agreed, ?failure→done:failed, !cancel→cancelling
cancelling | ?inform→done:ok, ?inform.c→done:cancelled, ?failure→done:failed
`)
	if err != nil {
		t.Fatal(err)
	}
	request, err := Lookup(RequestV1)
	if err != nil {
		t.Fatal(err)
	}
	f := explore(&Protocol{Name: "textbook", initiator: textbook, participant: request.participant}, networks[0])
	if len(f.unspecified) == 0 || len(f.deadlocks) == 0 || len(f.stuck) == 0 {
		t.Errorf("found %d receptions without a row, %d deadlocks, %d that cannot finish", len(f.unspecified), len(f.deadlocks), len(f.stuck))
	}
}
