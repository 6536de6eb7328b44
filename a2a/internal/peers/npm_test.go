package peers

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// install puts what the lock file names into npm/node_modules, once.
var install = sync.OnceValues(func() (string, error) {
	if _, err := os.Stat("npm/node_modules/.package-lock.json"); err == nil {
		return "", nil
	}
	cmd := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = "npm"
	printed, err := cmd.CombinedOutput()
	return string(printed), err
})

// haveNode reports whether the clients and servers of Node.js can run. Without
// npm they cannot, which fails the test if the environment says CI=true.
func haveNode(t *testing.T) bool {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Logf("%s is not installed: what is written for Node.js is left out", program)
			return false
		}
	}
	if printed, err := install(); err != nil {
		t.Fatalf("npm ci: %v: %s", err, printed)
	}
	return true
}

func TestTheLockFileNamesNoRegistry(t *testing.T) {
	data, err := os.ReadFile("npm/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct{ Version, Integrity, Resolved string }
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		t.Fatal(err)
	}
	if v := lock.Packages["node_modules/@a2a-js/sdk"].Version; v != "1.3.0" {
		t.Errorf("@a2a-js/sdk is %q", v)
	}
	for name, p := range lock.Packages {
		if p.Resolved != "" || name != "" && !strings.HasPrefix(p.Integrity, "sha512-") {
			t.Errorf("%q: resolved %q, integrity %q", name, p.Resolved, p.Integrity)
		}
	}
}
