package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/protocol/explore"
)

const protocolDocs = "../../docs/protocols.md"

// drawnPart is what stands between two markers. Its name says what is drawn.
var drawnPart = regexp.MustCompile(`(?s)<!-- drawn: ([^ ]+) -->\n.*?<!-- end -->`)

// PARLEY_UPDATE_GOLDEN=1 go test ./cmd/parley writes the drawn parts anew.
func TestTheDrawnPartsOfTheDocumentationAreThoseOfTheShippedTables(t *testing.T) {
	data, err := os.ReadFile(protocolDocs)
	must(t, err)
	drawings := docDrawings()
	var drawn []string
	text := drawnPart.ReplaceAllStringFunc(string(data), func(part string) string {
		name := drawnPart.FindStringSubmatch(part)[1]
		drawing, known := drawings[name]
		if !known {
			t.Fatalf("%s wants a drawing of %q", protocolDocs, name)
		}
		drawn = append(drawn, name)
		return fmt.Sprintf("<!-- drawn: %s -->\n\n%s\n<!-- end -->", name, drawing())
	})
	for name := range drawings {
		if n := len(slices.DeleteFunc(slices.Clone(drawn), func(d string) bool { return d != name })); n != 1 {
			t.Errorf("%s draws %q %d times", protocolDocs, name, n)
		}
	}
	if n := strings.Count(text, "<!-- drawn: "); n != len(drawings) || strings.Count(text, "<!-- end -->") != n {
		t.Errorf("%s has %d markers for %d drawings", protocolDocs, n, len(drawings))
	}
	if text == string(data) {
		return
	}
	if os.Getenv("PARLEY_UPDATE_GOLDEN") == "" {
		t.Fatalf("%s is not what the shipped tables say; PARLEY_UPDATE_GOLDEN=1 writes it anew", protocolDocs)
	}
	must(t, os.WriteFile(protocolDocs, []byte(text), 0o644))
}

func TestTheDocumentationNamesEveryOutcomeAndTimerOfTheTables(t *testing.T) {
	data, err := os.ReadFile(protocolDocs)
	must(t, err)
	written := drawnPart.ReplaceAllString(string(data), "")
	for _, p := range protocol.All() {
		section, ok := docSection(written, p.Name)
		if !ok {
			t.Errorf("%s has no section", p.Name)
		}
		for _, r := range roles() {
			for _, row := range p.Table(r).Rows() {
				if row.On.Fires() && !strings.Contains(section, "`"+string(row.On[1:])+"`") {
					t.Errorf("the section of %s does not name the timer %s", p.Name, row.On)
				}
				if row.To.Done() && !strings.Contains(section, "`"+string(row.To.Outcome())+"`") {
					t.Errorf("the section of %s does not name the outcome %s", p.Name, row.To.Outcome())
				}
			}
		}
	}
}

// docSection is what stands under the heading of that name.
func docSection(text, name string) (string, bool) {
	_, rest, found := strings.Cut(text, "\n## "+name+"\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	return section, found
}

// docDrawings are the parts that are drawn, by name.
func docDrawings() map[string]func() string {
	drawings := map[string]func() string{"protocols": docOverview, "windows": docWindows, "checks": docChecks}
	for _, p := range protocol.All() {
		drawings[p.Name] = func() string { return docProtocol(p) }
	}
	return drawings
}

// markdown is a table whose first row is the heading.
func markdown(rows [][]string) string {
	var text strings.Builder
	for i, row := range rows {
		fmt.Fprintf(&text, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			text.WriteString("|" + strings.Repeat("---|", len(row)) + "\n")
		}
	}
	return text.String()
}

func code[S ~string](s S) string { return "`" + string(s) + "`" }

func docOverview() string {
	rows := [][]string{{"protocol", "opens with", "effects", "agree is sent by"}}
	for _, p := range protocol.All() {
		var agrees []string
		for _, r := range roles() {
			for _, row := range p.Table(r).Rows() {
				if row.On == "!agree" {
					agrees = []string{"the " + string(r)}
				}
			}
		}
		if p.RuntimeAgrees() {
			agrees = append(agrees, "by its runtime")
		}
		who := strings.Join(agrees, ", ")
		if who == "" {
			who = "nobody"
		}
		rows = append(rows, []string{code(p.Name), code(strings.Join(openings(p), ", ")), yes(effects(p)), who})
	}
	return markdown(rows)
}

func docWindows() string {
	return markdown([][]string{
		{"timer", "runs for", "window"},
		{code(protocol.TimerAgree), "work that has started", protocol.AgreeAfter.String()},
		{code(protocol.TimerReplyBy), "what is awaited next", "until the `reply_by` of the act"},
		{code(protocol.TimerGatherBy), "the contributions to a gather", "until the `reply_by` of its request"},
		{code(protocol.TimerCancelBy), "the answer to a cancel", protocol.CancelWindow.String()},
		{code(protocol.TimerGrace), "what may be under way at a deadline", protocol.Grace.String() + " after the `reply_by`"},
		{code(protocol.TimerLease), "a sign of life of the peer", protocol.Lease.String()},
		{code(protocol.TimerAckBy), "the receipt of a fence", protocol.AckWindow.String()},
	})
}

func docChecks() string {
	rows := [][]string{{"protocol", "channel", "configurations", "joint outcomes", "refused receptions"}}
	for _, p := range protocol.All() {
		for _, c := range explore.Channels() {
			r := explore.Explore(explore.Of(p), c)
			refused := "none"
			if len(r.UnspecifiedReceptions) > 0 {
				var list []string
				for _, u := range r.UnspecifiedReceptions {
					list = append(list, fmt.Sprintf("`%s` in %s", u.Event, code(u.State)))
				}
				refused = strings.Join(list, ", ")
			}
			rows = append(rows, []string{code(p.Name), string(c), fmt.Sprint(r.Configurations), fmt.Sprint(len(r.JointOutcomes)), refused})
		}
	}
	return markdown(rows)
}

// docProtocol is the table and the picture of each role.
func docProtocol(p *protocol.Protocol) string {
	var parts []string
	for _, r := range roles() {
		rows := [][]string{{"state", "event→next"}}
		for _, l := range lines(p.Table(r)) {
			rows = append(rows, []string{string(l.from), code(strings.Join(l.cells, "`, `"))})
		}
		parts = append(parts, fmt.Sprintf("### %s, %s\n\n%s\n%s", p.Name, r, markdown(rows), mermaid(p.Table(r))))
	}
	return strings.Join(parts, "\n")
}

// mermaid is the table as a state diagram, with one arrow for all rows between
// two states.
func mermaid(t *protocol.Table) string {
	var text strings.Builder
	text.WriteString("```mermaid\nstateDiagram-v2\n    [*] --> start\n")
	id := func(s protocol.State) string { return strings.ReplaceAll(string(s), ":", "_") }
	type arrow struct{ from, to protocol.State }
	labels := map[arrow][]string{}
	var arrows []arrow
	for _, row := range t.Rows() {
		a := arrow{row.From, row.To}
		if labels[a] == nil {
			arrows = append(arrows, a)
		}
		labels[a] = append(labels[a], string(row.On))
	}
	for _, a := range arrows {
		fmt.Fprintf(&text, "    %s --> %s: %s\n", id(a.from), id(a.to), strings.Join(labels[a], "<br/>"))
	}
	for _, s := range states(t) {
		if s.Done() {
			fmt.Fprintf(&text, "    state \"%s\" as %s\n    %s --> [*]\n", s.Outcome(), id(s), id(s))
		}
	}
	text.WriteString("```\n")
	return text.String()
}
