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
