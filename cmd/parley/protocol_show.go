package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/protocol"
)

// formatDot is the format of -o that only a drawing has.
const formatDot = "dot"

// shownProtocol is what protocol show prints.
type shownProtocol struct {
	Name  string `json:"name"`
	Roles struct {
		Initiator   shownRole `json:"initiator"`
		Participant shownRole `json:"participant"`
	} `json:"roles"`
	Opens         []string `json:"opens"`
	RuntimeAgrees bool     `json:"runtime_agrees"`
}

type shownRole struct {
	States []protocol.State `json:"states"`
	Rows   []shownRow       `json:"rows"`
}

type shownRow struct {
	From  protocol.State `json:"from"`
	Event protocol.Event `json:"event"`
	To    protocol.State `json:"to"`
}

func protocolShow() *cobra.Command {
	c := &cobra.Command{
		Use:   "show NAME",
		Short: "Print the transition tables of a protocol",
		Long: `Print the transition tables of a protocol, one for each role. The version in
the name may be left out.

In the tables !act is sent, ?act is received and #timer fires. inform~ is an
inform with status partial, inform.c one with status cancelled; ?nack! is a
final nack of the opening act. What is not in the table of a state is refused,
and the state stays as it is. States that start with done: are final, they
absorb what comes late.

-o json prints {"name", "roles": {"initiator": {"states", "rows": [{"from",
"event", "to"}]}, "participant": {...}}, "opens", "runtime_agrees"}. Opens are
the acts that open an exchange; runtime_agrees says that agree is sent when
work is shown to have started, and is nobody's decision.

-o dot prints a Graphviz digraph for each role. What is sent is drawn solid,
what is received dashed, and a timer dotted.`,
		Example:           "  parley protocol show request\n  parley protocol show gather -o dot | dot -Tsvg -O",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeProtocol,
		PersistentPreRunE: func(c *cobra.Command, args []string) error {
			switch f := format(c); {
			case slices.Contains(formats(), f):
				return c.Root().PersistentPreRunE(c, args)
			case f != formatDot:
				return fmt.Errorf("output %q: want %s", f, drawingFormats())
			}
			if verb, ok := c.Context().Value(running{}).(*running); ok {
				verb.started = true
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			p, err := namedProtocol(args[0])
			if err != nil {
				return err
			}
			switch format(c) {
			case formatDot:
				return writeRoles(c.OutOrStdout(), p, drawDot)
			case formatJSON:
				return writeJSON(c.OutOrStdout(), shown(p))
			case formatJSONL:
				return writeLine(c.OutOrStdout(), shown(p))
			}
			return writeRoles(c.OutOrStdout(), p, writeRoleTable)
		},
	}
	c.Flags().StringP("output", "o", formatTable, drawingFormats())
	return c
}

// drawingFormats are the formats of a verb that draws, as text.
func drawingFormats() string { return choices(append(formats(), formatDot)) }

func shown(p *protocol.Protocol) shownProtocol {
	role := func(r protocol.Role) shownRole {
		out := shownRole{States: states(p.Table(r))}
		for _, row := range p.Table(r).Rows() {
			out.Rows = append(out.Rows, shownRow{row.From, row.On, row.To})
		}
		return out
	}
	out := shownProtocol{Name: p.Name, Opens: openings(p), RuntimeAgrees: p.RuntimeAgrees()}
	out.Roles.Initiator, out.Roles.Participant = role(protocol.Initiator), role(protocol.Participant)
	return out
}

func roles() []protocol.Role { return []protocol.Role{protocol.Initiator, protocol.Participant} }

// writeRoles writes both sides of the protocol with an empty line between
// them.
func writeRoles(w io.Writer, p *protocol.Protocol, write func(io.Writer, *protocol.Protocol, protocol.Role) error) error {
	for i, r := range roles() {
		if i > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		if err := write(w, p, r); err != nil {
			return err
		}
	}
	return nil
}

// writeRoleTable writes a line for each live state of the role.
func writeRoleTable(w io.Writer, p *protocol.Protocol, r protocol.Role) error {
	if _, err := fmt.Fprintf(w, "%s / %s\n", p.Name, r); err != nil {
		return err
	}
	rows := [][]string{{"STATE", "EVENT→NEXT"}}
	for _, line := range lines(p.Table(r)) {
		rows = append(rows, []string{string(line.from), strings.Join(line.cells, ", ")})
	}
	return writeTable(w, rows)
}

// line is a live state and the rows that start in it, as text.
type line struct {
	from  protocol.State
	cells []string
}

func lines(t *protocol.Table) (list []line) {
	for _, row := range t.Rows() {
		cell := fmt.Sprintf("%s→%s", row.On, row.To)
		i := slices.IndexFunc(list, func(l line) bool { return l.from == row.From })
		if i < 0 {
			list = append(list, line{row.From, []string{cell}})
			continue
		}
		list[i].cells = append(list[i].cells, cell)
	}
	return list
}
