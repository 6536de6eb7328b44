package rehearsal_test

import (
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

func TestThePackageImportsOnlyTheStandardLibrary(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		read++
		for _, i := range file.Imports {
			if first, _, _ := strings.Cut(strings.Trim(i.Path.Value, `"`), "/"); strings.Contains(first, ".") {
				t.Errorf("%s imports %s", e.Name(), i.Path.Value)
			}
		}
	}
	if read == 0 {
		t.Error("no file was read")
	}
}
