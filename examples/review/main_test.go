package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func Example() {
	dir, err := os.MkdirTemp("", "review")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	os.Setenv("PARLEY_DB", filepath.Join(dir, "parley.db"))
	os.Unsetenv("OPENAI_BASE_URL")
	os.Unsetenv("OPENAI_API_KEY")
	main()
	// Output:
	// uploads/open.go: Open an upload by its name
	//   asked        correctness, docs, security, tests; 2 contributions are enough
	//   contributed  correctness: approve
	//                  line 6, minor: %v hides the error from errors.Is, %w would not.
	//   contributed  tests: approve
	//   dissented    security: reject
	//                  line 3, blocker: A name such as ../../etc/passwd leaves the folder.
	//   abstained    docs
	//   missing      nobody
	//   value        sha256 71e2d664347d90091d360bdf05dbfadadfbbb50db717aa2a56fcb89f1523ea8b
	//   concluded    DISSENT_RECORDED
	//   fence        acknowledged by all who answered
	// A majority proves nothing and silence approves nothing, so the author reads what was found
	// and decides: mend it, because security found a blocker.
	//
	// uploads/open.go: Open an upload by its name
	//   asked        correctness, release, security; 3 contributions are enough
	//   not met      the conversation ended TIMED_OUT, without an answer of agent://local/release
	//   contributed  correctness: approve
	//   contributed  security: approve
	//   abstained    nobody
	//   missing      release
	//   value        sha256 f3956393d487a0023169e196825fc52ad3f554fd8ecb8fb0052d401bb62c4588
	//   concluded    TIMED_OUT
	// A majority proves nothing and silence approves nothing, so the author reads what was found
	// and decides: ask again, because the review ended TIMED_OUT.
}

func TestNothingIsImportedThatAnotherModuleCouldNotImport(t *testing.T) {
	const module = "github.com/parley-agents/parley"
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 5 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			inside, ours := strings.CutPrefix(path, module+"/")
			if ours && (strings.HasPrefix(inside, "examples/") || strings.Contains("/"+inside+"/", "/internal/")) {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}
