// Package rehearsal is an endpoint with the OpenAI chat-completions wire that
// answers by rules: it is not a language model. Programs and tests talk to it over
// loopback HTTP with the client they use for a real one.
//
// It is as strict as the strictest endpoint about requests, counts usage, streams,
// and has accidents on demand (see Accident). Everything it says follows from the
// rules, the seed and the request, so the same conversation gets the same bytes,
// whatever runs beside it. It knows no domain: what it can say is in the rules.
package rehearsal

import (
	"encoding/json"
	"fmt"
)

// Rule answers a request or passes. Rules are asked in the order given, and the
// first that returns true answers. A rule is called from several goroutines at once
// and must depend on nothing but the request.
type Rule func(Request) (Reply, bool)

// The roles of messages.
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
	Tool      = "tool"
)

// Request is what a rule sees of a request: nothing of the wire is left.
type Request struct {
	Model       string
	Messages    []Message
	Functions   []Function
	Choice      string  // "auto", "required", "none" or the function that must be called
	Output      *Output // the structured output asked for; nil means free text
	Temperature *float64
	MaxTokens   int // 0 means no limit
}

// Message is one entry of the conversation.
type Message struct {
	Role   string
	Text   string
	Name   string // Tool: the function that answered, found by the call's id
	CallID string // Tool: the call that is answered
	Calls  []Call // Assistant: what was called
}

// Call is a function call: in a Reply one to make, in a Message one made before.
type Call struct {
	ID   string // only in messages; replies get ids from the server
	Name string
	// Arguments is any value that encodes as a JSON object; nil means {}. In a
	// message it is the json.RawMessage that was sent.
	Arguments any
}

// Decode stores the call's arguments in the value v points to.
func (c Call) Decode(v any) error {
	raw, err := c.encode()
	if err == nil {
		err = json.Unmarshal(raw, v)
	}
	if err != nil {
		return fmt.Errorf("call %q: arguments: %w", c.Name, err)
	}
	return nil
}

func (c Call) encode() (json.RawMessage, error) {
	if c.Arguments == nil {
		return json.RawMessage("{}"), nil
	}
	return json.Marshal(c.Arguments)
}

// Function is something the request offers to call.
type Function struct {
	Name, Description string
	Parameters        json.RawMessage // JSON Schema
}

// Output is the structured output a request asks for.
type Output struct {
	Name   string
	Schema json.RawMessage // empty means any JSON object
}

// Reply is what a rule says: text, calls, both, or a refusal alone.
type Reply struct {
	Text    string
	Calls   []Call
	Refusal string
}

// Offers reports whether the request offers a function of that name.
func (r Request) Offers(name string) bool {
	for _, f := range r.Functions {
		if f.Name == name {
			return true
		}
	}
	return false
}

// Last returns the latest message of a role; the zero Message if there is none.
func (r Request) Last(role string) Message {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == role {
			return r.Messages[i]
		}
	}
	return Message{}
}

// Result returns what the latest call of a function returned since the last user
// message, and whether there was one.
func (r Request) Result(name string) (string, bool) {
	for i := len(r.Messages) - 1; i >= 0 && r.Messages[i].Role != User; i-- {
		if m := r.Messages[i]; m.Role == Tool && m.Name == name {
			return m.Text, true
		}
	}
	return "", false
}

// noRule is the reply when no rule fits.
var noRule = Reply{Text: "Rehearsal: no rule fits this request."}

// answer asks the rules in order.
func answer(rules []Rule, r Request) (reply Reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a rule panicked: %v", p)
		}
	}()
	for _, rule := range rules {
		if reply, ok := rule(r); ok {
			return reply, nil
		}
	}
	return noRule, nil
}
