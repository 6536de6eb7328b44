package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-agents/parley"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/protocol"
)

func TestTheProgramFitsOnAPage(t *testing.T) {
	data, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), "\n"); n > 30 {
		t.Errorf("main.go has %d lines, want at most 30", n)
	}
}

func TestTheClerkCallsItsToolWithTheCityThatWasNamed(t *testing.T) {
	t.Setenv("PARLEY_DB", filepath.Join(t.TempDir(), "parley.db"))
	t.Setenv("OPENAI_BASE_URL", "")
	t.Setenv("OPENAI_API_KEY", "")
	visitor := agent.New("visitor")
	host, err := parley.Start(t.Context(), visitor, agent.New("clerk", agent.Model(llm.FromEnv()),
		agent.Chat("You answer questions about the weather in one sentence."),
		agent.Tool("weather", "The weather in a city now.", weather, agent.ReadOnly)))
	if err != nil {
		t.Fatal(err)
	}
	defer host.Stop(t.Context())
	for question, city := range map[string]string{
		"What is the weather in Oulu?":        "Oulu",
		`is it nice in "san josé" now`:        "san josé",
		"How cold is New York today":          "New York",
		"In Turku, or was it Tampere, today?": "Tampere",
	} {
		a, err := agent.Ask(t.Context(), visitor, "clerk", protocol.Chat(), protocol.Said{Text: agent.Text(question)})
		if err != nil || !strings.Contains(string(a.Text), "city is "+city) {
			t.Errorf("%s: %q, %v; want the weather of %s", question, a.Text, err, city)
		}
	}
	a, err := agent.Ask(t.Context(), visitor, "clerk", protocol.Chat(), protocol.Said{Text: ""})
	if err != nil || a.Text != "Which city?" {
		t.Errorf("nothing said: %q, %v; want the question for the missing parameter", a.Text, err)
	}
}
