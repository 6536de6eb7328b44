package main

import (
	"fmt"
	gofmt "go/format"
	"os"
	"os/exec"
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

// backupSize is a number that another version of the store changes.
var backupSize = regexp.MustCompile(`(monday\.db  )[0-9]+`)

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
		said := strings.ReplaceAll(stable(got.stdout+got.stderr, filepath.Dir(path)), "DIR/", "/srv/")
		text := backupSize.ReplaceAllString(said, "${1}212992")
		out.WriteString("\n" + text)
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
	return []string{"doctor", "conversation ls", "conversation watch", "conversation cancel", "inbox", "outbox", "dlq", "command", "send", "peer",
		"backup", "restore", "store"}
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

func TestTheOperatingGuidesHostCompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	data, err := os.ReadFile(operatingDocs)
	must(t, err)
	_, rest, found := strings.Cut(string(data), "```go\n")
	program, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("there is no program in the guide")
	}
	file := filepath.Join(t.TempDir(), "main.go")
	must(t, os.WriteFile(file, []byte(program), 0o600))
	if out, err := exec.CommandContext(t.Context(), "go", "vet", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if formatted, err := gofmt.Source([]byte(program)); err != nil || string(formatted) != program {
		t.Errorf("the program is not formatted (%v)", err)
	}
}

func TestTheScriptsOfTheOperatingGuideUseVerbsAndFlagsThatAreThere(t *testing.T) {
	data, err := os.ReadFile(operatingDocs)
	must(t, err)
	check := exec.CommandContext(t.Context(), "sh", "-n")
	check.Stdin = strings.NewReader(scripts(string(data)))
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("a shell cannot read the scripts: %v\n%s", err, out)
	}
	lines := regexp.MustCompile(`parley ((?:[a-z]+ ){1,2})[^|;)]*`).FindAllStringSubmatch(scripts(string(data)), -1)
	if len(lines) < 4 {
		t.Fatalf("only %d lines found", len(lines))
	}
	for _, line := range lines {
		verb, rest, err := process{}.command().Find(strings.Fields(line[0])[1:])
		if err != nil || verb.HasSubCommands() {
			t.Errorf("%s: %v", line[0], err)
			continue
		}
		for _, word := range rest {
			if name, long := strings.CutPrefix(word, "--"); long && verb.Flags().Lookup(name) == nil {
				t.Errorf("%s: there is no flag %s", line[0], word)
			}
		}
	}
}

// scripts are the shell scripts of a text.
func scripts(text string) string {
	var out strings.Builder
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(text, -1) {
		out.WriteString(block[1])
	}
	return out.String()
}
