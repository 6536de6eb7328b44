package protocol

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/parley-agents/parley/envelope"
)

// Role says which side of an exchange its owner is on.
type Role string

// The two roles of every exchange.
const (
	Initiator   Role = "initiator"
	Participant Role = "participant"
)

// State is a state of a transition table. States that start with "done:" are
// terminal and carry the exchange's outcome.
type State string

// Start is the state of an exchange in which nothing has happened yet.
const Start State = "start"

const donePrefix = "done:"

// Done reports whether the state is terminal.
func (s State) Done() bool { return strings.HasPrefix(string(s), donePrefix) }

// Over is the terminal state that carries the outcome.
func Over(o Outcome) State { return State(donePrefix + string(o)) }

// Outcome is the outcome that a terminal state carries, "" for a live one.
func (s State) Outcome() Outcome {
	if !s.Done() {
		return ""
	}
	return Outcome(strings.TrimPrefix(string(s), donePrefix))
}

// Row is one transition: in state From, event On leads to state To.
type Row struct {
	From State
	On   Event
	To   State
}

// Table is the transition table of one role. It is immutable and safe for
// concurrent use.
type Table struct {
	rows []Row
	next map[State]map[Event]State
	// heard are the events that some state has a row for; sends are the acts that
	// each state may send, moves those of them that somebody decides on.
	heard        map[Event]bool
	sends, moves map[State][]Utterance
}

// The forms of a table's two columns.
var (
	stateForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z]+$`) })
	cellForm  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([!?#][a-z-]+|[!?]inform(?:~|\.c)|\?nack!)→((?:done:)?[a-z_]+)$`)
	})
)

// parseTable reads a table written as the documentation writes it: a line per
// state, "state | event→next, event→next". A terminal state has no line.
func parseTable(text string) (*Table, error) {
	t := &Table{next: map[State]map[Event]State{}, heard: map[Event]bool{}, sends: map[State][]Utterance{}, moves: map[State][]Utterance{}}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		from, cells, ok := strings.Cut(line, "|")
		if !ok {
			return nil, fmt.Errorf("table line %q has no state column", line)
		}
		state := State(strings.TrimSpace(from))
		if !stateForm().MatchString(string(state)) {
			return nil, fmt.Errorf("table line %q does not start with a live state", line)
		}
		if t.next[state] != nil {
			return nil, fmt.Errorf("table names state %q twice", state)
		}
		t.next[state] = map[Event]State{}
		for cell := range strings.SplitSeq(cells, ",") {
			m := cellForm().FindStringSubmatch(strings.TrimSpace(cell))
			if m == nil {
				return nil, fmt.Errorf("state %q: %q is not event→state", state, strings.TrimSpace(cell))
			}
			row := Row{From: state, On: Event(m[1]), To: State(m[2])}
			if _, twice := t.next[state][row.On]; twice {
				return nil, fmt.Errorf("state %q has event %q twice", state, row.On)
			}
			t.next[state][row.On] = row.To
			t.rows = append(t.rows, row)
			t.heard[row.On] = true
			if act, ok := row.sends(); ok {
				t.sends[state] = append(t.sends[state], act)
			}
		}
	}
	if t.next[Start] == nil {
		return nil, fmt.Errorf("table has no state %q", Start)
	}
	for _, r := range t.rows {
		if !r.To.Done() && t.next[r.To] == nil {
			return nil, fmt.Errorf("state %q: %q leads to unknown state %q", r.From, r.On, r.To)
		}
	}
	return t, nil
}

// Rows lists the table's rows in the order in which they were written.
func (t *Table) Rows() []Row { return slices.Clone(t.rows) }

// Next is the state that the event leads to; ok is false where the table has
// no such row.
func (t *Table) Next(from State, on Event) (to State, ok bool) {
	to, ok = t.next[from][on]
	return to, ok
}

// sends is the act that the row sends; ok is false if it is about anything else.
// The receipt not-understood is not an act.
func (r Row) sends() (act Utterance, ok bool) {
	if !r.On.Sends() {
		return act, false
	}
	act = utterance(string(r.On[1:]))
	return act, slices.Contains(envelope.Performatives(), act.Performative)
}

// Sends lists the acts that the table's role may send in the state, in the
// table's order. The receipt not-understood is not an act and is left out.
func (t *Table) Sends(from State) []Utterance { return slices.Clone(t.sends[from]) }

// decide fills in the moves of each state: see Protocol.Moves.
func (t *Table) decide(runtimeAgrees bool) {
	for state := range t.next {
		may := t.sends[state]
		if agreed, ok := t.Next(state, "!agree"); ok && runtimeAgrees {
			may = slices.Concat(may, t.sends[agreed])
		}
		for _, u := range may {
			if (!runtimeAgrees || u.Performative != envelope.Agree) && !slices.Contains(t.moves[state], u) {
				t.moves[state] = append(t.moves[state], u)
			}
		}
	}
}
