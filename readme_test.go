package parley_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The programs in README.md are those that are compiled and run: whole examples,
// and what stands between marks in readme_example_test.go, each once.
func TestTheREADMEsProgramsAreThoseThatAreCompiled(t *testing.T) {
	read := func(path string) string {
		t.Helper()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	compiled := map[string]string{read("examples/two-agents/main.go"): "two-agents"}
	marked := strings.Split(read("readme_example_test.go"), "\n// readme: ")
	for _, part := range marked[1 : len(marked)-1] { // the last is the mark of the end
		name, text, _ := strings.Cut(part, "\n")
		compiled[strings.TrimSpace(text)+"\n"] = name
	}
	for _, block := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(read("README.md"), -1) {
		if compiled[block[1]] == "" {
			t.Errorf("this program of README.md is not one that is compiled, or stands there twice:\n%s", block[1])
		}
		delete(compiled, block[1])
	}
	for _, name := range compiled {
		t.Errorf("README.md does not show %q", name)
	}
}
