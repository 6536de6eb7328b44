package parley_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/parley-agents/parley"

// mayImport says which packages of this module each package may import. The
// arrows point one way: whoever adds one writes it here.
var mayImport = map[string][]string{
	"internal/strictjson": {},
	"internal/mutant":     {},
	"internal/measure":    {"agent", "envelope", "protocol", "store", "store/memory", "store/sqlite"},
	"envelope":            {"internal/strictjson"},
	"protocol":            {"envelope", "internal/strictjson"},
	"protocol/explore":    {"protocol", "envelope"},
	"guard/schema":        {"internal/strictjson"},
	"guard":               {"envelope", "protocol", "guard/schema", "internal/strictjson", "internal/mutant"},
	"llm/rehearsal":       {},
	"llm":                 {"llm/rehearsal", "guard/schema", "internal/strictjson"},
	"repair":              {"guard/schema", "llm", "internal/strictjson", "internal/mutant"},
	"store":               {"envelope", "protocol"},
	"store/sqlite":        {"store", "envelope", "protocol"},
	"store/memory":        {"store", "envelope", "protocol"},
	"store/faulty":        {"store"},
	"store/storetest":     {"store", "store/faulty", "envelope", "protocol"},
	"agent": {"envelope", "protocol", "guard", "guard/schema", "repair", "llm", "store",
		"internal/strictjson", "internal/mutant"},
	"a2a/wire": {"internal/strictjson"},
	"a2a": {"a2a/wire", "agent", "envelope", "protocol", "guard", "guard/schema", "store",
		"internal/strictjson"},
	"a2a/internal/sut": {"a2a", "a2a/wire", "agent", "envelope", "protocol", "store/sqlite"},
	"a2a/internal/tck": {},
	"transcript":       {"envelope", "protocol", "store"},
	"agent/simulate":   {"agent", "envelope", "protocol", "guard", "store", "store/memory", "store/faulty", "transcript"},
	"agent/agenttest":  {"agent", "agent/simulate", "envelope", "protocol", "guard", "llm", "store", "store/memory", "store/sqlite", "transcript"},
	"":                 {"a2a", "agent", "store/sqlite"},
}

// mayImportOutside says which third-party modules each package may import:
// every dependency has one home.
var mayImportOutside = map[string][]string{
	"envelope":            {"github.com/google/uuid"},
	"agent":               {"github.com/google/uuid"},
	"a2a/wire":            {"github.com/go-jose/go-jose/v4"},
	"a2a":                 {"github.com/labstack/echo/v4", "github.com/go-jose/go-jose/v4", "code.dny.dev/ssrf", "golang.org/x/time"},
	"guard":               {"github.com/go-jose/go-jose/v4"},
	"guard/schema":        {"github.com/invopop/jsonschema", "github.com/santhosh-tekuri/jsonschema/v6"},
	"llm":                 {"github.com/sashabaranov/go-openai"},
	"store/sqlite":        {"github.com/mattn/go-sqlite3", "modernc.org/sqlite", "github.com/pressly/goose/v3"},
	"store/storetest":     {"pgregory.net/rapid"},
	"internal/strictjson": {},
}

func TestImportsPointOneWay(t *testing.T) {
	for pkg, imports := range productImports(t) {
		if pkg == "cmd" || strings.HasPrefix(pkg, "cmd/") {
			continue // wires everything
		}
		allowed, known := mayImport[pkg]
		if !known && !strings.HasPrefix(pkg, "examples/") {
			t.Errorf("package %q is not in the table of this test", pkg)
			continue
		}
		for _, i := range imports {
			inside, ok := strings.CutPrefix(i, module)
			inside = strings.TrimPrefix(inside, "/")
			switch {
			case strings.HasPrefix(pkg, "examples/"):
				checkExample(t, pkg, inside, ok)
			case ok && !slices.Contains(allowed, inside):
				t.Errorf("%s imports %s", pkg, i)
			case !ok && strings.Contains(strings.Split(i, "/")[0], ".") && !outside(pkg, i):
				t.Errorf("%s imports %s", pkg, i)
			}
		}
	}
}

func outside(pkg, path string) bool {
	return slices.ContainsFunc(mayImportOutside[pkg], func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") })
}

// checkExample holds examples to the public API and to their own folder.
func checkExample(t *testing.T, pkg, path string, inside bool) {
	t.Helper()
	if !inside {
		return
	}
	own := strings.Join(strings.Split(pkg, "/")[:2], "/")
	if strings.HasPrefix(path, "internal/") || strings.HasPrefix(path, "examples/") && !strings.HasPrefix(path, own+"/") {
		t.Errorf("%s imports %s, which is not public API", pkg, path)
	}
}

func TestNothingOutsideExamplesImportsAnExample(t *testing.T) {
	for pkg, imports := range productImports(t) {
		for _, i := range imports {
			if strings.HasPrefix(i, module+"/examples/") && !strings.HasPrefix(pkg, "examples/") {
				t.Errorf("%s imports %s", pkg, i)
			}
		}
	}
}

// productImports are the imports of every package, without its tests.
func productImports(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != "." || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if _, err := os.Stat(filepath.Join(file, "go.mod")); d.IsDir() && file != "." && err == nil {
			return fs.SkipDir // a module of its own
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := strings.TrimPrefix(path.Dir(filepath.ToSlash(file)), ".")
		for _, spec := range f.Imports {
			i, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			found[pkg] = append(found[pkg], i)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 10 {
		t.Fatalf("only %d packages found: the test looks in the wrong place", len(found))
	}
	return found
}
