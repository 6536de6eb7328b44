package llm

import (
	"net/url"
	"strings"
)

// OutputMode is how far an endpoint supports structured output.
type OutputMode string

// The modes of structured output. Where an endpoint has less than a request asks
// for, the adapter puts the schema into the instructions instead.
const (
	OutputSchema OutputMode = "json_schema" // holds the model to a schema, or says so
	OutputJSON   OutputMode = "json_object" // holds the model to JSON
	OutputNone   OutputMode = "none"        // text only
)

// Profile is what an endpoint can do, as public reports tell. It shapes requests
// only: answers are read with equal suspicion wherever they come from, since many
// endpoints accept a schema and then ignore it.
type Profile struct {
	Name string

	StructuredOutput OutputMode
	JSONObject       bool // accepts json_object, also beside json_schema
	OutputWithTools  bool // accepts structured output in a request that offers functions

	ToolChoiceRequired bool // accepts tool_choice "required"
	ToolChoiceNamed    bool // accepts a function as tool_choice
	StrictTools        bool // accepts strict functions
	ParallelCalls      bool // accepts parallel_tool_calls
	StreamUsage        bool // accepts stream_options, which asks for the usage of a stream

	SystemHoisted       bool // moves system messages to the front: the adapter does so itself
	ToolResultName      bool // wants the function's name on tool messages
	ReplayReasoning     bool // wants earlier reasoning back
	MaxCompletionTokens bool // takes the limit as max_completion_tokens
	FixedTemperature    bool // refuses a temperature: none is sent

	// DropKeywords lists the JSON Schema keywords the endpoint refuses; they are
	// left out of what it is sent.
	DropKeywords []string
}

// Profiles returns the profiles known by name. The last one, "compatible", is for
// endpoints that nothing is known of.
func Profiles() []Profile {
	base := Profile{
		Name:               "compatible",
		StructuredOutput:   OutputSchema,
		JSONObject:         true,
		OutputWithTools:    true,
		ToolChoiceRequired: true,
		ToolChoiceNamed:    true,
		StreamUsage:        true,
	}
	but := func(name string, change func(*Profile)) Profile {
		p := base
		p.Name = name
		change(&p)
		return p
	}
	return []Profile{
		but("openai", func(p *Profile) {
			p.StrictTools, p.ParallelCalls, p.MaxCompletionTokens = true, true, true
		}),
		but("ollama", func(p *Profile) {
			p.ToolChoiceRequired, p.ToolChoiceNamed = false, false
		}),
		but("vllm", func(p *Profile) { p.ParallelCalls, p.SystemHoisted = true, true }),
		but("llamacpp", func(p *Profile) { p.OutputWithTools, p.SystemHoisted, p.ParallelCalls = false, true, true }),
		but("lmstudio", func(p *Profile) { p.JSONObject, p.ToolChoiceNamed = false, false }),
		but("gemini", func(p *Profile) {
			p.OutputWithTools, p.SystemHoisted = false, true
			p.DropKeywords = []string{"$schema", "$id", "additionalProperties"}
		}),
		but("groq", func(p *Profile) { p.OutputWithTools, p.ParallelCalls = false, true }),
		but("deepseek", func(p *Profile) {
			p.StructuredOutput, p.ToolChoiceRequired, p.ToolChoiceNamed = OutputJSON, false, false
			p.ReplayReasoning = true
		}),
		but("mistral", func(p *Profile) {
			p.ToolResultName, p.ParallelCalls = true, true
			p.StreamUsage = false // it comes unasked
		}),
		but("openrouter", func(p *Profile) { p.ParallelCalls = true }),
		base,
	}
}

// ProfileNamed returns the profile of that name.
func ProfileNamed(name string) (Profile, bool) {
	for _, p := range Profiles() {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}

// ProfileFor returns the profile for a base URL, by its host or, for a server of
// one's own, by its customary port.
func ProfileFor(baseURL string) Profile {
	name := "compatible"
	if u, err := url.Parse(baseURL); err == nil {
		name = profileName(strings.ToLower(u.Hostname()), u.Port())
	}
	p, _ := ProfileNamed(name)
	return p
}

func profileName(host, port string) string {
	for _, known := range []struct{ domain, name string }{
		{"openai.com", "openai"},
		{"openai.azure.com", "openai"},
		{"ollama.com", "ollama"},
		{"generativelanguage.googleapis.com", "gemini"},
		{"groq.com", "groq"},
		{"deepseek.com", "deepseek"},
		{"mistral.ai", "mistral"},
		{"openrouter.ai", "openrouter"},
	} {
		if host == known.domain || strings.HasSuffix(host, "."+known.domain) {
			return known.name
		}
	}
	switch port {
	case "11434":
		return "ollama"
	case "8000":
		return "vllm"
	case "8080":
		return "llamacpp"
	case "1234":
		return "lmstudio"
	}
	return "compatible"
}
