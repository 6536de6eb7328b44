package llm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

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

func ExampleProfiles() {
	for _, p := range llm.Profiles() {
		if p.StructuredOutput != llm.OutputSchema {
			fmt.Println(p.Name, p.StructuredOutput)
		}
	}
	// Output: deepseek json_object
}

// An endpoint that takes what OpenAI takes, but no strict functions.
func ExampleProfileNamed() {
	p, ok := llm.ProfileNamed("openai")
	p.StrictTools = false
	client := llm.NewOpenAI(llm.Config{BaseURL: "http://localhost:4000/v1", Profile: &p})
	fmt.Println(client.Profile().Name, client.Profile().StrictTools, ok)

	_, ok = llm.ProfileNamed("unheard-of")
	fmt.Println(ok)
	// Output:
	// openai false true
	// false
}

// A reply can be shown while it is made. What is done with it should be taken from
// the response, which is whole.
func ExampleStream() {
	ctx := context.Background()
	model := llm.Rehearse(rehearsal.New(rehearsal.Options{Rules: []rehearsal.Rule{greets}}))
	if err := model.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	defer model.Stop(ctx)

	request := llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "Ada Lovelace of London"}}}
	reply, err := llm.Stream(ctx, model, request, func(p llm.Part) error {
		fmt.Printf("%q\n", p.Text)
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Text, reply.Finish)
	// Output:
	// "Hello, Ada Lovelace of L"
	// "ondon."
	// Hello, Ada Lovelace of London. stop
}

// What a model once answered is recorded, and replayed without the model.
func ExampleRecord() {
	ctx := context.Background()
	model := llm.Rehearse(rehearsal.New(rehearsal.Options{Rules: []rehearsal.Rule{greets}}))
	var cassette strings.Builder
	recorded := llm.Record(model, &cassette)
	if err := recorded.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	request := llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "Ada"}}}
	if _, err := recorded.Complete(ctx, request); err != nil {
		fmt.Println(err)
		return
	}
	if err := recorded.Stop(ctx); err != nil {
		fmt.Println(err)
		return
	}

	replayed, err := llm.Replay(strings.NewReader(cassette.String()))
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := replayed.Complete(ctx, request)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Text)
	// Output: Hello, Ada.
}

// A request that was not recorded is told with the recording that is most like it.
func ExampleReplay() {
	const cassette = `{"key":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","request":{},"reply":{"text":"Hello.","finish":"stop"}}`
	replayed, err := llm.Replay(strings.NewReader(cassette))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = replayed.Complete(context.Background(), llm.Request{MaxTokens: 9})
	var miss *llm.Miss
	if errors.As(err, &miss) {
		fmt.Println(miss.Line, miss.Differences)
	}
	fmt.Println(replayed.Left())
	// Output:
	// 1 [{/max_tokens 9 }]
	// 1
}
