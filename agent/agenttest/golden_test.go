package agenttest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/llm"
)

// rainy plays one request: its model uses a tool, asks a colleague, writes
// arguments that need mending, and answers.
func rainy(t *testing.T) (conversation string, hosts []*agent.Host) {
	t.Helper()
	var mend agenttest.Reply = func(ctx context.Context, r llm.Request) (*llm.Response, error) {
		return agenttest.Calls(agenttest.Call("repair", map[string]any{"ptr": "/text", "value": "It rains."}))(ctx, r)
	}
	model := agenttest.NewScript(
		agenttest.Calls(agenttest.Call("radar", "```json\n{\"city\": \"Turku\",}\n```"), agenttest.Call("colleague__acme_weather_now_v1", Question{"Turku"})),
		agenttest.Calls(agenttest.Call("inform", `{}`)), mend)
	forecaster := agent.New("forecaster", agent.Model(model), agent.Answer(weather, "Answer from what you know."),
		agent.Tool("radar", "The radar over a city.", func(_ context.Context, q Question) (string, error) { return "echoes over " + q.City, nil }),
		agent.MayAsk("colleague", weather))
	colleague := agent.New("colleague", agent.Handle(weather, func(context.Context, Question) (Reply, error) { return Reply{"Rain."}, nil }))
	visitor := agent.New("visitor")
	hosts = agenttest.Hosts(t, visitor, forecaster, colleague)
	reply, err := agent.Ask(t.Context(), visitor, "forecaster", weather, Question{"Turku"}, agent.Opened(func(id string) { conversation = id }))
	if err != nil || reply.Text != "It rains." {
		t.Fatalf("Ask = %v, %v", reply, err)
	}
	return conversation, hosts
}

func TestARequestWithAToolARepairAndANestedAskReadsAsWrittenDown(t *testing.T) {
	for range 2 { // from run to run nothing differs
		synctest.Test(t, func(t *testing.T) {
			conversation, hosts := rainy(t)
			agenttest.Golden(t, filepath.Join("testdata", "rainy.golden"), conversation, hosts...)
		})
	}
}

// complaints is a test that only notes what went wrong.
type complaints struct {
	testing.TB
	said []string
}

func (c *complaints) Helper()                      {}
func (c *complaints) Error(args ...any)            { c.said = append(c.said, fmt.Sprint(args...)) }
func (c *complaints) Errorf(f string, args ...any) { c.said = append(c.said, fmt.Sprintf(f, args...)) }

func TestGoldenWritesItsFileWhenToldToAndSaysWhereItDiffers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "x.golden")
	golden := func(conversation string, hosts []*agent.Host) []string {
		c := &complaints{TB: t}
		agenttest.Golden(c, path, conversation, hosts...)
		return c.said
	}
	conversation, hosts := rainy(t)
	t.Setenv(agenttest.UpdateGolden, "0")
	if said := golden(conversation, hosts); len(said) != 1 || !strings.Contains(said[0], "no such file") {
		t.Errorf("without a file: %q", said)
	}
	t.Setenv(agenttest.UpdateGolden, "1")
	if said := golden(conversation, hosts); len(said) != 0 {
		t.Errorf("writing: %q", said)
	}
	t.Setenv(agenttest.UpdateGolden, "")
	if said := golden(conversation, hosts); len(said) != 0 {
		t.Errorf("comparing with itself: %q", said)
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(written), conversation) {
		t.Error("the id of the conversation stands in the file")
	}
	lines := strings.SplitAfter(string(written), "\n")
	if err := os.WriteFile(path, []byte(strings.Join(lines[:len(lines)-3], "")), 0o644); err != nil {
		t.Fatal(err)
	}
	if said := golden(conversation, hosts); len(said) != 1 || !strings.Contains(said[0], fmt.Sprintf("x.golden:%d:", len(lines)-2)) {
		t.Errorf("comparing with a file cut short after line %d: %q", len(lines)-3, said)
	}
}
