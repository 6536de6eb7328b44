package rehearsal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/parley-agents/parley/llm/rehearsal"
)

// A rule reads the request and answers, or passes to the next one.
func ExampleNew() {
	city := func(r rehearsal.Request) (rehearsal.Reply, bool) {
		if weather, ok := r.Result("weather"); ok {
			return rehearsal.Reply{Text: "It is " + weather + "."}, true
		}
		if !r.Offers("weather") {
			return rehearsal.Reply{}, false
		}
		return rehearsal.Reply{Calls: []rehearsal.Call{
			{Name: "weather", Arguments: map[string]string{"city": r.Last(rehearsal.User).Text}},
		}}, true
	}
	ctx := context.Background()
	server := rehearsal.New(rehearsal.Options{Rules: []rehearsal.Rule{city}})
	if err := server.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop(ctx)

	res, err := http.Post(server.URL()+"/chat/completions", "application/json", strings.NewReader(`{
		"model": "rehearsal",
		"messages": [{"role": "user", "content": "Oulu"}],
		"tools": [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	var reply struct {
		Choices []struct {
			Message struct {
				ToolCalls []struct {
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
		}
	}
	if err := json.NewDecoder(res.Body).Decode(&reply); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Choices[0].Message.ToolCalls[0].Function, server.Calls())
	// Output: {weather {"city":"Oulu"}} 1
}

// Generic fills what a function asks for from what was said, and tells what came
// back.
func ExampleGeneric() {
	request := rehearsal.Request{
		Messages: []rehearsal.Message{{Role: rehearsal.User, Text: "How is the weather in Oulu?"}},
		Functions: []rehearsal.Function{{Name: "weather", Parameters: json.RawMessage(
			`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)}},
	}
	reply, _ := rehearsal.Generic(request)
	fmt.Println(reply.Calls[0].Name, reply.Calls[0].Arguments)

	request.Messages = append(request.Messages, rehearsal.Message{Role: rehearsal.Tool, Name: "weather", Text: `{"sky":"clear","degrees":-12}`})
	reply, _ = rehearsal.Generic(request)
	fmt.Println(reply.Text)
	// Output:
	// weather map[city:Oulu]
	// Degrees is -12 and sky is clear.
}
