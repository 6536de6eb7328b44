package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/parley-agents/parley/protocol"
)

// drawDot draws the role's table as a Graphviz digraph.
func drawDot(w io.Writer, p *protocol.Protocol, r protocol.Role) error {
	var text strings.Builder
	fmt.Fprintf(&text, "digraph %q {\n", p.Name+" "+string(r))
	fmt.Fprintf(&text, "\tlabel=%q; labelloc=t; rankdir=LR;\n", p.Name+" / "+string(r))
	text.WriteString("\tnode [shape=circle, fontname=\"sans-serif\"];\n\tedge [fontname=\"sans-serif\"];\n")
	for _, s := range states(p.Table(r)) {
		switch {
		case s == protocol.Start:
			fmt.Fprintf(&text, "\t%q [style=bold];\n", s)
		case s.Done():
			fmt.Fprintf(&text, "\t%q [shape=doublecircle, label=%q];\n", s, s.Outcome())
		default:
			fmt.Fprintf(&text, "\t%q;\n", s)
		}
	}
	for _, row := range p.Table(r).Rows() {
		fmt.Fprintf(&text, "\t%q -> %q [label=%q, %s];\n", row.From, row.To, row.On, strokes(row.On))
	}
	text.WriteString("}\n")
	_, err := io.WriteString(w, text.String())
	return err
}

// strokes tells apart what is sent, what is received and what only time does.
func strokes(on protocol.Event) string {
	switch {
	case on.Sends():
		return `style=solid, color="#1f5fa8"`
	case on.Receives():
		return `style=dashed, color="#2e7d32"`
	}
	return `style=dotted, color="#b3541e"`
}
