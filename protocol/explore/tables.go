package explore

import (
	"fmt"
	"slices"

	"github.com/parley-agents/parley/protocol"
)

// Tables are the two sides of a protocol, as rows. It is a plain value: those
// of a shipped protocol come from Of, and others can be written down.
type Tables struct {
	// Name is the protocol's name.
	Name string
	// Initiator and Participant are the rows of the two roles, each state and
	// event at most once.
	Initiator, Participant []protocol.Row
}

// Of are the tables of the protocol.
func Of(p *protocol.Protocol) Tables {
	return Tables{Name: p.Name, Initiator: p.Table(protocol.Initiator).Rows(), Participant: p.Table(protocol.Participant).Rows()}
}

// Row is a row of one role's table.
type Row struct {
	protocol.Role
	protocol.Row
}

func (r Row) String() string { return fmt.Sprintf("%s: %s %s→%s", r.Role, r.From, r.On, r.To) }

// Rows lists the rows of both roles, the initiator's first.
func (t Tables) Rows() []Row {
	var rows []Row
	for _, r := range t.Initiator {
		rows = append(rows, Row{protocol.Initiator, r})
	}
	for _, r := range t.Participant {
		rows = append(rows, Row{protocol.Participant, r})
	}
	return rows
}

// Without is a copy of the tables that lacks the row. Whoever drops a row and
// explores again learns what the row is for.
func (t Tables) Without(row Row) Tables {
	less := func(role protocol.Role, rows []protocol.Row) []protocol.Row {
		return slices.DeleteFunc(slices.Clone(rows), func(r protocol.Row) bool { return row == Row{role, r} })
	}
	t.Initiator, t.Participant = less(protocol.Initiator, t.Initiator), less(protocol.Participant, t.Participant)
	return t
}
