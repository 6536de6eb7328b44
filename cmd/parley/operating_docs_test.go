package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

const operatingDocs = "../../docs/operating.md"

// consoleBlock is command lines with what they print.
var consoleBlock = regexp.MustCompile("(?s)```console\n(.*?)```")

// go test ./cmd/parley -update writes the drawn parts and what the commands
// print anew.
func TestTheOperatingGuideShowsWhatTheVerbsSayAndPrint(t *testing.T) {
	withoutModel(t)
	guide, err := filepath.Abs(operatingDocs)
	must(t, err)
	data, err := os.ReadFile(guide)
	must(t, err)
	drawings := map[string]func() string{"exit-codes": docExits, "verbs": docVerbs}
	text := drawnPart.ReplaceAllStringFunc(string(data), func(part string) string {
		name := drawnPart.FindStringSubmatch(part)[1]
		drawing, known := drawings[name]
		if !known {
			t.Fatalf("%s wants a drawing of %q", operatingDocs, name)
		}
		delete(drawings, name)
		return fmt.Sprintf("<!-- drawn: %s -->\n\n%s\n<!-- end -->", name, drawing())
	})
	if len(drawings) > 0 || strings.Count(text, "<!-- drawn: ") != 2 {
		t.Fatalf("%s does not draw each of its parts once", operatingDocs)
	}
	blocks := 0
	text = consoleBlock.ReplaceAllStringFunc(text, func(block string) string {
		blocks++
		return "```console\n" + rerun(t, consoleBlock.FindStringSubmatch(block)[1]) + "```"
	})
	if blocks < 5 {
		t.Errorf("%s has only %d blocks that are run", operatingDocs, blocks)
	}
	if text == string(data) {
		return
	}
	if *update {
		must(t, os.WriteFile(guide, []byte(text), 0o644))
		return
	}
	t.Fatalf("%s is not what the verbs say and print; go test ./cmd/parley -update writes it anew", operatingDocs)
}

// rerun runs the lines of a block that start with $, in a folder with the
// store that workStore makes, and returns them with what they print. A line
// that exits with another code than 0 says so.
func rerun(t *testing.T, block string) string {
	t.Helper()
	path := workStore(t)
	t.Chdir(filepath.Dir(path))
	t.Setenv("PARLEY_DB", filepath.Base(path))
	var out strings.Builder
	for line := range strings.Lines(block) {
		typed, isCommand := strings.CutPrefix(line, "$ parley ")
		if !isCommand {
			continue
		}
		words, _, _ := strings.Cut(typed, "#")
		got := runCommand(t, "", strings.Fields(words)...)
		out.WriteString("$ parley " + strings.TrimRight(words, " \n"))
		if got.code != exitOK {
			fmt.Fprintf(&out, "   # exit code %d", got.code)
		}
		out.WriteString("\n" + stable(got.stdout, filepath.Dir(path)) + got.stderr)
	}
	return out.String()
}

func docExits() string {
	rows := [][]string{{"exit code", "meaning"}}
	for code := range exitInterrupted + 1 {
		for _, row := range exits() {
			if row.code == code {
				rows = append(rows, []string{fmt.Sprint(code), row.meaning})
			}
		}
	}
	return markdown(rows)
}

// operatorVerbs are the groups and verbs that the guide describes.
func operatorVerbs() []string {
	return []string{"doctor", "conversation ls", "conversation watch", "conversation cancel", "inbox", "outbox", "dlq", "command", "store"}
}

// docVerbs is the help of the operator's verbs.
func docVerbs() string {
	var parts []string
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		name := strings.TrimPrefix(c.CommandPath(), "parley ")
		if !c.HasSubCommands() && slices.ContainsFunc(operatorVerbs(), func(v string) bool { return name == v || strings.HasPrefix(name, v+" ") }) {
			parts = append(parts, fmt.Sprintf("### %s\n\n```text\n%s\n```\n", strings.TrimPrefix(c.UseLine(), "parley "), strings.TrimSpace(c.Long)))
		}
		for _, inner := range c.Commands() {
			walk(inner)
		}
	}
	walk(process{}.command())
	return strings.Join(parts, "\n")
}

func TestTheOperatingGuideDescribesEveryVerbOfTheOperator(t *testing.T) {
	verbs := docVerbs()
	for _, name := range operatorVerbs() {
		if !strings.Contains(verbs, "### "+name+" ") {
			t.Errorf("no verb is drawn for %q", name)
		}
	}
}
