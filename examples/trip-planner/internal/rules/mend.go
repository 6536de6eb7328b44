package rules

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/parley-agents/parley/llm/rehearsal"
)

// mend answers the question that repair asks about an unreadable object: it
// reads the names and values that are there and puts them together again. What
// is not there it does not make up.
func mend(r rehearsal.Request) (rehearsal.Reply, bool) {
	if !r.Offers("repair") || len(r.Functions) != 1 {
		return rehearsal.Reply{}, false
	}
	var q struct {
		Ptr    string          `json:"ptr"`
		Text   string          `json:"text"`
		Schema json.RawMessage `json:"schema"`
	}
	if err := json.Unmarshal(data(r.Last(rehearsal.User).Text), &q); err != nil || q.Text == "" {
		return rehearsal.Reply{Text: "unknown"}, true
	}
	value, ok := reassemble(q.Text, q.Schema)
	if !ok {
		return rehearsal.Reply{Text: "unknown"}, true
	}
	return rehearsal.Reply{Calls: []rehearsal.Call{{Name: "repair", Arguments: map[string]any{"ptr": q.Ptr, "value": value}}}}, true
}

// token is a string, a number or a word of JSON.
var token = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?|true|false|null`)

// reassemble reads a flat object whose punctuation is broken: names of the
// schema, each followed by its value. It gives up on anything else.
func reassemble(text string, schema []byte) (map[string]json.RawMessage, bool) {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil || len(s.Properties) == 0 || !strings.HasSuffix(strings.TrimSpace(text), "}") {
		return nil, false
	}
	tokens := token.FindAllString(text, -1)
	value := map[string]json.RawMessage{}
	for i := 0; i+1 < len(tokens); i += 2 {
		var name string
		if json.Unmarshal([]byte(tokens[i]), &name) != nil || s.Properties[name] == nil || value[name] != nil {
			return nil, false
		}
		value[name] = json.RawMessage(tokens[i+1])
	}
	for _, name := range s.Required {
		if value[name] == nil {
			return nil, false
		}
	}
	return value, len(tokens)%2 == 0
}

// BadJSON garbles the arguments of the first search: a comma is lost, and
// only a second look at the whole can put it back.
func BadJSON() []rehearsal.Accident {
	return []rehearsal.Accident{{Kind: rehearsal.GarbledJSON, At: 1, Match: func(r rehearsal.Request) bool {
		return len(r.Functions) > 1
	}, Calls: "flights__trip_flight_search_v2"}}
}
