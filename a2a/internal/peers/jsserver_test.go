package peers

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// startJS starts server.mjs, which ends with the test.
func startJS(t *testing.T) foreign {
	t.Helper()
	cmd := exec.Command("node", "server.mjs")
	cmd.Dir, cmd.Stderr = "npm", os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("server.mjs: %v", err)
		}
	})
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url = strings.TrimSpace(url)
	return foreign{url, func() error {
		resp, err := http.Post(url+"/lift", "", nil)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}}
}
