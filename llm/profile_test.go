package llm_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-agents/parley/llm"
)

func TestRefusedKeywordsAreDroppedAndPropertiesOfThatNameKept(t *testing.T) {
	url, sent := wire(t, 200, `{"choices":[{"message":{"content":"ok"}}]}`)
	p, _ := llm.ProfileNamed("gemini")
	f := llm.Function{Name: "f", Parameters: json.RawMessage(`{"$schema":"x","type":"object","additionalProperties":false,` +
		`"properties":{"$id":{"type":"object","additionalProperties":false},"e":{"enum":[{"$id":1}]}}}`)}
	if _, err := llm.NewOpenAI(llm.Config{BaseURL: url, Profile: &p}).Complete(t.Context(), ask("?", f)); err != nil {
		t.Fatal(err)
	}
	want := `"parameters":{"properties":{"$id":{"type":"object"},"e":{"enum":[{"$id":1}]}},"type":"object"}`
	if !strings.Contains(*sent, want) {
		t.Errorf("%s is not in %s", want, *sent)
	}
}

func TestAProfileIsFoundByHostOrPort(t *testing.T) {
	for base, want := range map[string]string{
		"": "openai", "https://api.openai.com/v1": "openai", "https://x.openai.azure.com/openai": "openai",
		"http://localhost:11434/v1": "ollama", "http://gpu:8000/v1": "vllm", "http://127.0.0.1:8080/v1": "llamacpp",
		"http://localhost:1234/v1": "lmstudio", "https://generativelanguage.googleapis.com/v1beta/openai/": "gemini",
		"https://api.groq.com/openai/v1": "groq", "https://api.deepseek.com": "deepseek", "https://api.mistral.ai/v1": "mistral",
		"https://openrouter.ai/api/v1": "openrouter", "https://llm.example.org/v1": "compatible", "https://notopenai.com": "compatible",
	} {
		if got := llm.NewOpenAI(llm.Config{BaseURL: base}).Profile().Name; got != want {
			t.Errorf("%q: got %s, want %s", base, got, want)
		}
	}
}

func TestAProfileShapesTheConversation(t *testing.T) {
	url, sent := wire(t, 200, `{"choices":[{"message":{"content":"ok"}}]}`)
	r := llm.Request{Functions: []llm.Function{add}, OneCall: true, Messages: []llm.Message{
		{Role: llm.RoleSystem, Text: "one"},
		{Role: llm.RoleUser, Text: "hi", Name: "Ada L."},
		{Role: llm.RoleAssistant, Reasoning: "hm", Calls: []llm.Call{{ID: "Ab3456789", Name: "add"}}},
		{Role: llm.RoleTool, CallID: "Ab3456789", Name: "add", Text: "3"},
		{Role: llm.RoleSystem, Text: "two"},
	}}
	const (
		hoisted = `"content":"one\n\ntwo"`
		named   = `"name":"add","role":"tool"`
		thought = `"reasoning_content":"hm"`
		single  = `"parallel_tool_calls":false`
	)
	for profile, want := range map[string][]string{
		"vllm":       {hoisted, single},
		"mistral":    {named, single},
		"deepseek":   {thought},
		"compatible": nil,
	} {
		p, _ := llm.ProfileNamed(profile)
		if _, err := llm.NewOpenAI(llm.Config{BaseURL: url, Profile: &p}).Complete(t.Context(), r); err != nil {
			t.Fatal(profile, err)
		}
		wanted := strings.Join(want, " ")
		for _, sign := range []string{hoisted, named, thought, single} {
			if got := strings.Contains(*sent, sign); got != strings.Contains(wanted, sign) {
				t.Errorf("%s: %s was sent: %v", profile, sign, got)
			}
		}
		if !strings.Contains(*sent, `"name":"Ada_L_"`) {
			t.Errorf("%s: the user has no name in %s", profile, *sent)
		}
	}
}

func TestAnUnknownProfileIsNotFound(t *testing.T) {
	if p, ok := llm.ProfileNamed("abacus"); ok || p.Name != "" {
		t.Errorf("got %+v", p)
	}
}

func TestUsageAddsUp(t *testing.T) {
	if got := (llm.Usage{InputTokens: 1, OutputTokens: 2}).Add(llm.Usage{InputTokens: 3, OutputTokens: 4}); got != (llm.Usage{InputTokens: 4, OutputTokens: 6}) {
		t.Errorf("got %+v", got)
	}
}
