package explore

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/parley-agents/parley/protocol"
)

// unneeded are the rows that could go without a property or an outcome
// changing, each with why it stays. There may be at most 80.
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

// seen is what must change when a needed row goes.
type seen struct {
	flaws       int
	outcomes    []string
	unspecified []string
	// prospects says which outcomes can be reached from each participant state.
	prospects map[string]bool
}

func look(t Tables, c Channel) seen {
	x := walk(t, c)
	r := x.report()
	s := seen{flaws: len(r.Deadlocks) + len(r.CannotFinish) + len(r.FalseSuccesses), outcomes: ways(r), prospects: map[string]bool{}}
	for _, reception := range r.UnspecifiedReceptions {
		s.unspecified = append(s.unspecified, reception.String())
	}
	for _, joint := range r.JointOutcomes {
		for c := range x.leadingTo(func(c config) bool { return c.final() && c.joint() == joint }) {
			s.prospects[fmt.Sprintf("%s may end %s", c.Participant, joint)] = true
		}
	}
	return s
}

func (s seen) differs(whole seen) bool {
	return s.flaws > 0 || !slices.Equal(s.outcomes, whole.outcomes) || !slices.Equal(s.unspecified, whole.unspecified) ||
		!maps.Equal(s.prospects, whole.prospects)
}

func TestEveryRowIsNeeded(t *testing.T) {
	listed := 0
	for _, p := range protocol.All() {
		t.Run(p.Name, func(t *testing.T) {
			tables := Of(p)
			whole := map[Channel]seen{}
			for _, c := range every() {
				whole[c] = look(tables, c)
			}
			for _, row := range tables.Rows() {
				less := tables.Without(row)
				changed := len(unattended(less)) > 0 || slices.ContainsFunc(every(), func(c Channel) bool {
					return look(less, c).differs(whole[c])
				})
				name := p.Name + " " + row.String()
				reason := unneeded[name]
				if changed == (reason != "") {
					t.Errorf("%s: changes something: %t, listed as unneeded: %q", name, changed, reason)
				}
				if reason != "" {
					listed++
				}
			}
		})
	}
	if len(unneeded) > 80 || listed != len(unneeded) {
		t.Errorf("%d rows listed as unneeded, %d of them in a table", len(unneeded), listed)
	}
}

// unattended are the participant states in which a handler that says nothing
// would leave the exchange open for ever: those without a timer, unless the
// runtime speaks there itself.
func unattended(t Tables) []protocol.State {
	runtimeSays := map[protocol.State]protocol.Event{"overdue": "!refuse", "failing": "!failure", "lateaward": "!failure",
		"cancelling": "!failure", "stopping": "!failure", "ackit": "!ack"}
	live := map[protocol.State]bool{}
	for _, row := range t.Participant {
		live[row.From] = true
	}
	delete(live, protocol.Start)
	for _, row := range t.Participant {
		if row.On.Fires() || row.On == runtimeSays[row.From] {
			delete(live, row.From)
		}
	}
	return slices.Sorted(maps.Keys(live))
}

func TestASilentHandlerCannotKeepAnExchangeOpen(t *testing.T) {
	for _, p := range protocol.All() {
		if states := unattended(Of(p)); len(states) > 0 {
			t.Errorf("%s: nothing ends a participant in %v", p.Name, states)
		}
	}
}
