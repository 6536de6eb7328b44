package parley_test

import (
	"os"
	"strings"
	"testing"
)

func TestTheREADMEsProgramIsTheExampleThatIsCompiled(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("examples/two-agents/main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "```go\n")
	block, _, closed := strings.Cut(rest, "```")
	if !found || !closed || block != string(program) {
		t.Error("the program in README.md differs from examples/two-agents/main.go")
	}
}
