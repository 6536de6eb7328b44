package llm_test

import (
	"context"
	"fmt"
	"os"

	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/llm/rehearsal"
)

// greets is a rule: it answers every request.
func greets(r rehearsal.Request) (rehearsal.Reply, bool) {
	return rehearsal.Reply{Text: "Hello, " + r.Last(rehearsal.User).Text + "."}, true
}

// Without an endpoint in the environment the model answers by the given rules. It
// has a life of its own, which its owner starts and stops.
func ExampleFromEnv() {
	_ = os.Unsetenv("OPENAI_BASE_URL")
	_ = os.Unsetenv("OPENAI_API_KEY")
	ctx := context.Background()

	model := llm.FromEnv(greets)
	if s, ok := model.(llm.Service); ok {
		if err := s.Start(ctx); err != nil {
			fmt.Println(err)
			return
		}
		defer s.Stop(ctx)
	}
	fmt.Println(model.(llm.Describer).Describe())
	reply, err := model.Complete(ctx, llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "Ada"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Text)
	// Output:
	// rehearsal: rules, not a language model
	// Hello, Ada.
}

// A client talks to any endpoint with the chat-completions wire, here to one that
// answers by rules.
func ExampleNewOpenAI() {
	ctx := context.Background()
	server := rehearsal.New(rehearsal.Options{Rules: []rehearsal.Rule{greets}})
	if err := server.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop(ctx)

	client := llm.NewOpenAI(llm.Config{BaseURL: server.URL(), Model: "rehearsal"})
	reply, err := client.Complete(ctx, llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "Grace"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Text, reply.Finish, reply.Usage.OutputTokens)
	// Output: Hello, Grace. stop 4
}

// A server with accidents shows how a program fares when a model errs.
func ExampleRehearse() {
	ctx := context.Background()
	server := rehearsal.New(rehearsal.Options{
		Rules:     []rehearsal.Rule{greets},
		Accidents: []rehearsal.Accident{{Kind: rehearsal.Unavailable}},
	})
	model := llm.Rehearse(server)
	model.Config.MaxRetries = -1
	if err := model.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	defer model.Stop(ctx)

	_, err := model.Complete(ctx, llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "Ada"}}})
	fmt.Println(err)
	fmt.Println(server.Calls())
	// Output:
	// model: unavailable (status 503): "the server is overloaded or not ready yet"
	// 1
}

// Fragments of a stream become calls, even when every one has the same index.
func ExampleAssemble() {
	zero := 0
	for _, c := range llm.Assemble([]llm.Delta{
		{Index: &zero, ID: "x", Name: "add", Arguments: `{"a":`},
		{Index: &zero, Arguments: `1}`},
		{Index: &zero, ID: "y", Name: "sub", Arguments: `{"a":2}`},
	}) {
		fmt.Println(c.Name, c.Arguments)
	}
	// Output:
	// add {"a":1}
	// sub {"a":2}
}

func ExampleProfileFor() {
	p := llm.ProfileFor("http://localhost:1234/v1")
	fmt.Println(p.Name, p.StructuredOutput, p.JSONObject)
	// Output: lmstudio json_schema false
}
