package main

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/parley-agents/parley/agent"
)

// report prints who said what. It does not print who is right, since no count
// tells that.
func report(out io.Writer, g agent.Gathered[Opinion]) {
	opinions(out, "contributed", g.Contributions)
	opinions(out, "dissented", g.Dissent)
	item(out, "abstained", names(g.Abstained))
	item(out, "missing", names(g.Missing))
	item(out, "value", "sha256 "+g.ValueDigest)
	item(out, "concluded", string(g.Terminal))
}

func opinions(out io.Writer, how string, list []agent.Contributed[Opinion]) {
	for _, c := range list {
		item(out, how, path.Base(c.Member)+": "+string(c.Value.Verdict))
		for _, f := range c.Value.Findings {
			item(out, "", fmt.Sprintf("  line %d, %s: %s", f.Line, f.Severity, f.Notes))
		}
	}
}

func item(out io.Writer, name, text string) { fmt.Fprintf(out, "  %-11s  %s\n", name, text) }

// names are those of agents, without where they are.
func names(uris []string) string {
	list := make([]string, len(uris))
	for i, uri := range uris {
		list[i] = path.Base(uri)
	}
	return cmp.Or(strings.Join(list, ", "), "nobody")
}
