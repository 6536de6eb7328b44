// Package interop runs peer.mjs, a peer of Parley in another language, against
// an agent of Parley.
package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parley-agents/parley/a2a"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store/sqlite"
)

// maxLines is how short the peer must be for the documentation's claim.
const maxLines = 60

func TestAPeerInAnotherLanguageGetsTheSameAnswerTwice(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip("node is not installed")
	} else if err != nil {
		t.Fatal(err)
	}
	var worked atomic.Int64
	desk := agent.New("desk", agent.Handle(protocol.Chat(), func(_ context.Context, in protocol.Said) (protocol.Said, error) {
		worked.Add(1)
		return protocol.Said{Text: in.Text + " to you"}, nil
	}))
	dir := t.TempDir()
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, "desk.db"))
	if err != nil {
		t.Fatal(err)
	}
	host := agent.NewHost(agent.Config{Store: s}, desk)
	if err := host.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer host.Stop(context.Background())
	server := httptest.NewServer(a2a.Handler(host))
	defer server.Close()
	for _, run := range []string{"which is met for the first time", "whose key is known"} {
		t.Run(run, func(t *testing.T) {
			worked.Store(0)
			cmd := exec.CommandContext(t.Context(), node, "peer.mjs", server.URL, "hello")
			cmd.Env = append(os.Environ(), "PEER_FILE="+filepath.Join(dir, "peer.json"))
			var complaints bytes.Buffer
			cmd.Stderr = &complaints
			printed, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v: %s", err, &complaints)
			}
			var got struct {
				Task, ID string
				Content  protocol.Said
				Again    bool
			}
			if err := json.Unmarshal(printed, &got); err != nil {
				t.Fatalf("%s: %v", printed, err)
			}
			if got.Task == "" || got.ID == "" || got.Content.Text != "hello to you" || !got.Again || worked.Load() != 1 {
				t.Errorf("it printed %s, and the agent worked %d times", printed, worked.Load())
			}
		})
	}
}

func TestTheDocumentedMembersAreThoseOfTheSchema(t *testing.T) {
	page, err := os.ReadFile("../../docs/interop.md")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile("../../envelope/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Required   []string
		Properties map[string]any
	}
	if err := json.Unmarshal(file, &schema); err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| member | for a request |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	documented := map[string]bool{}
	for _, row := range strings.Split(table, "\n")[1:] {
		members, _, _ := strings.Cut(strings.TrimPrefix(row, "|"), "|")
		for _, name := range strings.Split(members, ",") {
			name = strings.Trim(name, " `")
			if documented[name] = true; schema.Properties[name] == nil {
				t.Errorf("an envelope has no member %q", name)
			}
		}
	}
	for _, name := range schema.Required {
		if !documented[name] {
			t.Errorf("the member %s is required and not documented", name)
		}
	}
}

func TestThePeerIsAsShortAsItIsSaidToBe(t *testing.T) {
	source, err := os.ReadFile("peer.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(source, []byte("\n")); n > maxLines {
		t.Errorf("it has %d lines", n)
	}
}
