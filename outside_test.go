package parley_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A program of another module must be able to build and test an agent with
// nothing but the public packages.
func TestAProgramOutsideTheModuleBuildsAndTestsAnAgent(t *testing.T) {
	if testing.Short() {
		t.Skip("builds another module")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"clerk.go", "clerk_test.go"} {
		data, err := os.ReadFile(filepath.Join("testdata", "outside", name))
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(string(data), "\n"); name == "clerk.go" && lines > 60 {
			t.Errorf("%s has %d lines, want at most 60", name, lines)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	// The module's own requirements pin what it is built with, so that nothing
	// has to be looked up.
	requires := string(mod)[strings.Index(string(mod), "require"):]
	own := "module example.org/clerk\n\ngo 1.26.0\n\nrequire github.com/parley-agents/parley v0.0.0\n\nreplace github.com/parley-agents/parley => " + here + "\n\n" + requires
	for name, data := range map[string]string{"go.mod": own, "go.sum": string(sums)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-mod=mod", "./...")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
