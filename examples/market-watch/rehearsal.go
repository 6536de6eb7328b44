package main

import (
	"encoding/json"
	"strings"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/llm/rehearsal"
)

// rules are what the analyst says when there is no model: the same program
// talks to a real endpoint when OPENAI_BASE_URL or OPENAI_API_KEY is set.
func rules() []rehearsal.Rule { return []rehearsal.Rule{explain} }

// explain looks for headlines about the move it is asked about. What others
// said stands in a message as JSON, on a line of its own.
func explain(r rehearsal.Request) (rehearsal.Reply, bool) {
	var move Move
	if !r.Offers("headlines") || !quoted(r.Last(rehearsal.User).Text, &move) {
		return rehearsal.Reply{}, false
	}
	found, looked := r.Result("headlines")
	if !looked {
		return call("headlines", move)
	}
	var news struct{ Result News }
	if !quoted(found, &news) || len(news.Result.Headlines) == 0 {
		return call("inform", Opinion{Cause: "noise", Notes: "Nothing was written about it."})
	}
	return call("inform", Opinion{Cause: "news", Notes: agent.Text(news.Result.Headlines[0] + ".")})
}

func quoted(text string, v any) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "{") {
			return json.Unmarshal([]byte(line), v) == nil
		}
	}
	return false
}

func call(name string, arguments any) (rehearsal.Reply, bool) {
	return rehearsal.Reply{Calls: []rehearsal.Call{{Name: name, Arguments: arguments}}}, true
}
