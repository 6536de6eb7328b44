package explore

import (
	"cmp"
	"slices"

	"github.com/parley-agents/parley/protocol"
)

// Explore walks every configuration that the two tables reach on the channel,
// from the one in which nothing has happened. It is pure and safe for
// concurrent use. It returns when there is nothing new: on tables of the size
// of the shipped ones within milliseconds.
func Explore(t Tables, c Channel) Report { return walk(t, c).report() }

type (
	// place is a role in a state.
	place struct {
		protocol.Role
		protocol.State
	}
	// meeting is an event that a role in a state has no row for.
	meeting struct {
		protocol.Role
		protocol.State
		protocol.Event
	}
	// arrival is how a configuration was first reached.
	arrival struct {
		from config
		step Step
	}
)

// explorer is one walk.
type explorer struct {
	tables  Tables
	channel Channel
	from    map[place][]protocol.Row

	// queue are the configurations in the order in which they were found; after
	// and before are what leads where.
	queue  []config
	after  map[config][]move
	before map[config][]config
	came   map[config]arrival

	met         map[meeting]bool
	unspecified []Reception
	fired       map[Row]bool
}

func walk(t Tables, c Channel) *explorer {
	x := &explorer{
		tables: t, channel: c, from: map[place][]protocol.Row{}, after: map[config][]move{}, before: map[config][]config{},
		came: map[config]arrival{}, met: map[meeting]bool{}, fired: map[Row]bool{},
	}
	for _, row := range t.Rows() {
		at := place{row.Role, row.From}
		x.from[at] = append(x.from[at], row.Row)
	}
	first := config{Configuration: Configuration{Initiator: protocol.Start, Participant: protocol.Start}}
	x.came[first] = arrival{}
	x.queue = append(x.queue, first)
	for i := 0; i < len(x.queue); i++ {
		c := x.queue[i]
		x.after[c] = x.moves(c)
		for _, m := range x.after[c] {
			if _, known := x.came[m.to]; !known {
				x.came[m.to] = arrival{c, m.Step}
				x.queue = append(x.queue, m.to)
			}
			x.before[m.to] = append(x.before[m.to], c)
		}
	}
	return x
}

// run is a shortest way from the start to c.
func (x *explorer) run(c config) (steps []Step) {
	for c != x.queue[0] {
		came := x.came[c]
		steps = append(steps, came.step)
		c = came.from
	}
	slices.Reverse(steps)
	return steps
}

// leadingTo are the configurations from which one that matches can be reached.
func (x *explorer) leadingTo(match func(config) bool) map[config]bool {
	found := map[config]bool{}
	var queue []config
	for _, c := range x.queue {
		if match(c) {
			found[c] = true
			queue = append(queue, c)
		}
	}
	for i := 0; i < len(queue); i++ {
		for _, c := range x.before[queue[i]] {
			if !found[c] {
				found[c] = true
				queue = append(queue, c)
			}
		}
	}
	return found
}

// report says what the walk found.
func (x *explorer) report() Report {
	r := Report{Protocol: x.tables.Name, Channel: x.channel, Configurations: len(x.queue), UnspecifiedReceptions: x.unspecified}
	finishing := x.leadingTo(func(c config) bool { return c.final() })
	ended := map[Joint]bool{}
	for _, c := range x.queue {
		if len(x.after[c]) == 0 && !c.final() {
			r.Deadlocks = append(r.Deadlocks, x.finding(c))
		}
		if !finishing[c] {
			r.CannotFinish = append(r.CannotFinish, x.finding(c))
		}
		if c.final() {
			ended[c.joint()] = true
		}
		if c.claims() && c.Participant != c.Initiator {
			r.FalseSuccesses = append(r.FalseSuccesses, x.finding(c))
		}
	}
	for _, row := range x.tables.Rows() {
		if !x.fired[row] {
			r.UnfiredRows = append(r.UnfiredRows, row)
		}
	}
	for joint := range ended {
		r.JointOutcomes = append(r.JointOutcomes, joint)
	}
	slices.SortFunc(r.JointOutcomes, func(a, b Joint) int { return cmp.Compare(a.String(), b.String()) })
	slices.SortFunc(r.UnspecifiedReceptions, func(a, b Reception) int { return cmp.Compare(a.String(), b.String()) })
	return r
}

func (x *explorer) finding(c config) Finding { return Finding{c.Configuration, x.run(c)} }

// claims reports whether the initiator takes the exchange for a success, or a
// member of its gather for closed.
func (c config) claims() bool {
	o := c.Initiator.Outcome()
	return o.OK() || o == protocol.Closed
}
