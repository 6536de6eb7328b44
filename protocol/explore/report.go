package explore

import (
	"fmt"

	"github.com/parley-agents/parley/protocol"
)

// Report is what there is to say about a protocol on one channel.
type Report struct {
	Protocol string
	Channel  Channel
	// Configurations is how many there are.
	Configurations int
	// Deadlocks are configurations in which nothing can happen although
	// something is not over.
	Deadlocks []Finding
	// CannotFinish are configurations from which no run ends both sides.
	CannotFinish []Finding
	// FalseSuccesses are configurations in which the initiator takes for a
	// success what the participant does not.
	FalseSuccesses []Finding
	// UnspecifiedReceptions are the messages that can meet a live state without
	// a row for them, sorted. The receiver refuses such a message and its state
	// stays as it was.
	UnspecifiedReceptions []Reception
	// UnfiredRows are the rows that no run takes, in the order of the tables.
	UnfiredRows []Row
	// JointOutcomes are the ways in which the two sides can end, sorted.
	JointOutcomes []Joint
}

// Finding is a configuration that should not be, and a shortest run to it.
type Finding struct {
	Configuration
	Run []Step
}

// Reception is a message that meets a state without a row, and a shortest run
// to that.
type Reception struct {
	Role  protocol.Role
	State protocol.State
	Event protocol.Event
	Run   []Step
}

func (r Reception) String() string { return fmt.Sprintf("%s %s %s", r.Role, r.State, r.Event) }

// Joint is how the two sides of an exchange ended.
type Joint struct {
	Initiator protocol.State
	// By is what ended it for the initiator.
	By protocol.Event
	// Gave is what the member of a gather gave to it, as its initiator saw it,
	// and Fenced is the state in which it was fenced; empty in every other
	// protocol.
	Gave   protocol.Event
	Fenced protocol.State
	// Participant is the state start if it never heard of the exchange.
	Participant protocol.State
}

func (j Joint) String() string {
	text := fmt.Sprintf("%s by %s", j.Initiator, j.By)
	if j.Gave != "" {
		text += fmt.Sprintf(" after %s", j.Gave)
	}
	if j.Fenced != "" {
		text += fmt.Sprintf(", fenced %s", j.Fenced)
	}
	return fmt.Sprintf("%s | %s", text, j.Participant)
}

// Property is something that holds for a sound protocol.
type Property string

// The properties.
const (
	// NoDeadlock: as long as something is not over, something can happen.
	NoDeadlock Property = "no deadlock"
	// CanFinish: from everywhere some run ends both sides.
	CanFinish Property = "every configuration can finish"
	// NoFalseSuccess: the initiator ends ok only if the participant does.
	NoFalseSuccess Property = "no false success"
	// NoSurprise: what arrives in order meets a row or an ended exchange.
	NoSurprise Property = "no unspecified reception in order"
	// NoIdleRow: every row fires in some run on one of the channels.
	NoIdleRow Property = "every row fires"
)

// Flaw is a property that does not hold, with what shows it.
type Flaw struct {
	Protocol string
	// Channel is empty for NoIdleRow, which is about all of them.
	Channel  Channel
	Property Property
	// What is the configuration, the reception or the row.
	What string
	// Run is a shortest run to it, nil for NoIdleRow.
	Run []Step
}

// Flaws lists the properties that do not hold on the channel of the report;
// none if the protocol is sound there. A row that did not fire is no flaw on
// one channel: see Check.
func (r Report) Flaws() []Flaw {
	var list []Flaw
	add := func(p Property, what string, run []Step) {
		list = append(list, Flaw{r.Protocol, r.Channel, p, what, run})
	}
	for _, f := range r.Deadlocks {
		add(NoDeadlock, f.String(), f.Run)
	}
	for _, f := range r.CannotFinish {
		add(CanFinish, f.String(), f.Run)
	}
	for _, f := range r.FalseSuccesses {
		add(NoFalseSuccess, f.String(), f.Run)
	}
	if r.Channel.ordered() {
		for _, u := range r.UnspecifiedReceptions {
			add(NoSurprise, u.String(), u.Run)
		}
	}
	return list
}

// Check explores the tables on all Channels. It returns a report for each of
// them, and every flaw: those of the reports and the rows that fire on none.
func Check(t Tables) ([]Report, []Flaw) {
	var reports []Report
	var flaws []Flaw
	idle := map[Row]int{}
	for _, c := range Channels() {
		r := Explore(t, c)
		reports, flaws = append(reports, r), append(flaws, r.Flaws()...)
		for _, row := range r.UnfiredRows {
			idle[row]++
		}
	}
	for _, row := range t.Rows() {
		if idle[row] == len(reports) {
			flaws = append(flaws, Flaw{Protocol: t.Name, Property: NoIdleRow, What: row.String()})
		}
	}
	return reports, flaws
}
