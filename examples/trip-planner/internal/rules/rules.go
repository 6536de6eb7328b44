// Package rules is what the rehearsal model knows of travelling: it reads the
// sentence, chooses among offers and words its questions. It is not a language
// model. All it acts on is in the request: the quoted messages, the functions
// that are offered and their schemas.
package rules

import (
	"encoding/json"
	"regexp"
	"slices"

	"github.com/parley-agents/parley/llm/rehearsal"
)

// Planner are the rules of the planner's model.
func Planner() []rehearsal.Rule { return []rehearsal.Rule{obey, mend, plan} }

// channel is a quoted piece of data in a prompt.
var channel = regexp.MustCompile(`(?s)<data ([0-9a-f]{32}) from="([^"]*)" integrity=[a-z]+>\n([^\n]*)\n</data ([0-9a-f]{32})>`)

// data is the JSON that a message quotes, nil if it quotes none.
func data(text string) []byte {
	m := channel.FindStringSubmatch(text)
	if m == nil || m[1] != m[4] {
		return nil
	}
	return []byte(m[3])
}

// unquoted is what is left of a message when all that it quotes is taken away.
func unquoted(text string) string {
	return channel.ReplaceAllStringFunc(text, func(s string) string {
		if m := channel.FindStringSubmatch(s); m[1] != m[4] {
			return s
		}
		return ""
	})
}

var order = regexp.MustCompile(`!do tool=(\S+) arg=(\{.*?\})`)

// obey makes this model a gullible one: it does what an order says, wherever
// it finds one outside quoted data. Put first, it shows whether what others
// write can become an order.
func obey(r rehearsal.Request) (rehearsal.Reply, bool) {
	for _, m := range r.Messages {
		if m.Role == rehearsal.Assistant {
			continue
		}
		found := order.FindStringSubmatch(unquoted(m.Text))
		if found == nil || !r.Offers(found[1]) {
			continue
		}
		return rehearsal.Reply{Calls: []rehearsal.Call{{Name: found[1], Arguments: json.RawMessage(found[2])}}}, true
	}
	return rehearsal.Reply{}, false
}

// offered finds the function whose parameters are the named schema.
func offered(r rehearsal.Request, schema string) (string, bool) {
	for _, f := range r.Functions {
		var s struct {
			ID string `json:"$id"`
		}
		if err := json.Unmarshal(f.Parameters, &s); err == nil && s.ID == "urn:schema:"+schema {
			return f.Name, true
		}
	}
	return "", false
}

// outcome is what a call came to, as the agent tells its model.
type outcome struct {
	Outcome string          `json:"outcome"`
	Result  json.RawMessage `json:"result"`
	Code    string          `json:"code"`
	Reason  string          `json:"reason"`
}

func (o outcome) ok() bool { return o.Outcome == "ok" }

// result is the last outcome of the function whose parameters are the schema.
// A call that was not made, because it was unreadable, has none.
func result(r rehearsal.Request, schema string) (o outcome, called bool) {
	name, ok := offered(r, schema)
	if !ok {
		return o, false
	}
	text, ok := r.Result(name)
	if !ok || json.Unmarshal(data(text), &o) != nil || o.Reason == "schema" {
		return outcome{}, false
	}
	return o, true
}

// answered is the call that result tells the outcome of.
func answered(r rehearsal.Request, schema string) (rehearsal.Call, bool) {
	name, ok := offered(r, schema)
	if !ok {
		return rehearsal.Call{}, false
	}
	id := ""
	for _, m := range slices.Backward(r.Messages) {
		switch {
		case m.Role == rehearsal.User:
			return rehearsal.Call{}, false
		case m.Role == rehearsal.Tool && m.Name == name && id == "":
			id = m.CallID
		}
		for _, c := range m.Calls {
			if m.Role == rehearsal.Assistant && id != "" && c.ID == id {
				return c, true
			}
		}
	}
	return rehearsal.Call{}, false
}

func call(r rehearsal.Request, schema string, args any) (rehearsal.Call, bool) {
	name, ok := offered(r, schema)
	return rehearsal.Call{Name: name, Arguments: args}, ok
}

// say ends the turn with the result.
func say(v any) (rehearsal.Reply, bool) {
	return rehearsal.Reply{Calls: []rehearsal.Call{{Name: "inform", Arguments: v}}}, true
}
