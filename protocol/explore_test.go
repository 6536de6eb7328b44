package protocol

import (
	"fmt"
	"slices"
	"strings"
)

// capacity is how many messages each direction holds.
const capacity = 3

// network says what the channels do besides letting a cancel overtake, whether
// time passes, and whether the initiator may change its mind.
type network struct {
	name         string
	loses, mixes bool
	timeless     bool
	patient      bool
}

var networks = []network{
	{name: "fifo"}, {name: "loss", loses: true}, {name: "reorder", mixes: true},
	{name: "timeless", timeless: true}, {name: "undisturbed", timeless: true, patient: true},
}

// config is all there is to know about one exchange: both states and what is
// under way in each direction.
type config struct {
	initiator, participant State
	toParticipant          string
	toInitiator            string
	// by is what ended the exchange for its initiator, given what the initiator
	// of a gather fences.
	by    Event
	given string
}

// outcome is how both sides of a final configuration ended.
func (c config) outcome() string {
	return fmt.Sprintf("%s by %s%s | %s", c.initiator, c.by, c.given, c.participant)
}

func (c config) final() bool {
	return c.initiator.Done() && (c.participant.Done() || c.participant == Start) && c.toParticipant == "" && c.toInitiator == ""
}

func (c config) String() string {
	return fmt.Sprintf("%s | %s, under way [%s] and [%s]", c.initiator, c.participant, c.toParticipant, c.toInitiator)
}

// rowOf is a row of one role's table.
type rowOf struct {
	Role
	Row
}

func (r rowOf) String() string { return fmt.Sprintf("%s: %s %s→%s", r.Role, r.From, r.On, r.To) }

// findings is what an exploration found out about a protocol.
type findings struct {
	configs     int
	deadlocks   []string
	stuck       []string
	unspecified map[string]bool
	falseOK     []string
	fired       map[rowOf]bool
	outcomes    map[string]bool
	// prospects says which outcomes can be reached from each participant state.
	prospects map[string]bool
}

// flaws lists the properties that do not hold.
func (f findings) flaws() []string {
	var list []string
	for _, c := range f.deadlocks {
		list = append(list, "deadlock: "+c)
	}
	for _, c := range f.stuck {
		list = append(list, "cannot finish: "+c)
	}
	for _, c := range f.falseOK {
		list = append(list, "false success: "+c)
	}
	return list
}

// explorer walks every configuration that two tables can reach.
type explorer struct {
	*Protocol
	network
	findings
	before map[config][]config
	queue  []config
}

func explore(p *Protocol, n network) findings {
	x := &explorer{Protocol: p, network: n, before: map[config][]config{}, findings: findings{
		unspecified: map[string]bool{}, fired: map[rowOf]bool{}, outcomes: map[string]bool{}, prospects: map[string]bool{},
	}}
	first := config{initiator: Start, participant: Start}
	x.before[first], x.queue = nil, []config{first}
	for i := 0; i < len(x.queue); i++ {
		c := x.queue[i]
		x.inspect(c, x.expand(c))
	}
	x.configs = len(x.queue)
	x.finish()
	return x.findings
}

func (x *explorer) reach(from, to config) {
	if _, known := x.before[to]; !known {
		x.queue = append(x.queue, to)
	}
	x.before[to] = append(x.before[to], from)
}

// expand takes every move that c has and counts them.
func (x *explorer) expand(c config) (moves int) {
	for _, r := range []Role{Initiator, Participant} {
		for _, to := range append(x.acts(c, r), x.receptions(c, r)...) {
			x.reach(c, to)
			moves++
		}
	}
	return moves
}

func (x *explorer) inspect(c config, moves int) {
	if moves == 0 && !c.final() {
		x.deadlocks = append(x.deadlocks, c.String())
	}
	if c.final() {
		x.outcomes[c.outcome()] = true
	}
	switch c.initiator.Outcome() {
	case OK, Accepted, Ended, Closed:
		if c.participant != c.initiator {
			x.falseOK = append(x.falseOK, c.String())
		}
	}
}

// finish finds the configurations from which no final one can be reached, and
// what can be reached from where.
func (x *explorer) finish() {
	finishing := x.leadingTo(config.final)
	for _, c := range x.queue {
		if !finishing[c] {
			x.stuck = append(x.stuck, c.String())
		}
	}
	for outcome := range x.outcomes {
		for c := range x.leadingTo(func(c config) bool { return c.final() && c.outcome() == outcome }) {
			x.prospects[string(c.participant)+" may end "+outcome] = true
		}
	}
}

// leadingTo are the configurations from which one that matches can be reached.
func (x *explorer) leadingTo(match func(config) bool) map[config]bool {
	found := map[config]bool{}
	queue := slices.DeleteFunc(slices.Clone(x.queue), func(c config) bool { return !match(c) })
	for _, c := range queue {
		found[c] = true
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

// acts are the configurations after r sends or one of its timers fires.
func (x *explorer) acts(c config, r Role) (next []config) {
	state, out := c.initiator, c.toParticipant
	if r == Participant {
		state, out = c.participant, c.toInitiator
	}
	for _, row := range x.Table(r).Rows() {
		switch {
		case row.From != state || row.On.Receives() || row.On.Fires() && x.timeless || row.On == "!cancel" && x.patient:
			continue
		case row.On.Sends():
			if len(words(out)) == capacity {
				continue
			}
			next = append(next, c.with(r, row, push(out, string(row.On[1:]))))
		default:
			next = append(next, c.with(r, row, out))
		}
		x.fired[rowOf{r, row}] = true
	}
	return next
}

// receptions are the configurations after a message for r arrives or is lost.
func (x *explorer) receptions(c config, r Role) (next []config) {
	in := words(c.toParticipant)
	if r == Initiator {
		in = words(c.toInitiator)
	}
	for i, word := range in {
		rest := c.without(r, i)
		if x.loses {
			next = append(next, rest)
		}
		if i > 0 && !x.mixes && word != "cancel" {
			continue
		}
		next = append(next, x.receive(rest, r, word))
		if r == Participant && rest.participant == Start && x.Opens(utterance(word).Performative) && len(words(rest.toInitiator)) < capacity {
			// The guard may refuse the opening act for good.
			rest.toInitiator = push(rest.toInitiator, "nack!")
			next = append(next, rest)
		}
	}
	return next
}

func (x *explorer) receive(c config, r Role, word string) config {
	state, out := c.initiator, c.toParticipant
	if r == Participant {
		state, out = c.participant, c.toInitiator
	}
	row := Row{From: state, On: Event("?" + word)}
	to, ok := x.Table(r).Next(state, row.On)
	if ok {
		row.To = to
		x.fired[rowOf{r, row}] = true
		return c.with(r, row, out)
	}
	// A terminal state absorbs. A nack that crossed a cancel is a receipt, not
	// an act: the answer to the cancel is still to come.
	if !state.Done() && row.On != Nacked {
		x.unspecified[fmt.Sprintf("%s %s %s", r, state, row.On)] = true
	}
	return c
}

// with is c after r took a row and has these messages under way.
func (c config) with(r Role, row Row, out string) config {
	if r == Participant {
		c.participant, c.toInitiator = row.To, out
		return c
	}
	switch {
	case row.From == "open":
		c.given = fmt.Sprintf(" after %s", row.On)
	case row.On == "!fence":
		c.given += fmt.Sprintf(", fenced %s", row.From)
	}
	c.initiator, c.toParticipant = row.To, out
	if row.To.Done() {
		c.by = row.On
	}
	return c
}

// without is c without the i-th message for r.
func (c config) without(r Role, i int) config {
	if r == Initiator {
		c.toInitiator = strings.Join(slices.Delete(words(c.toInitiator), i, i+1), " ")
	} else {
		c.toParticipant = strings.Join(slices.Delete(words(c.toParticipant), i, i+1), " ")
	}
	return c
}

func words(channel string) []string { return strings.Fields(channel) }

func push(channel, word string) string { return strings.TrimSpace(channel + " " + word) }
