package rehearsal

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Generic is the rule for an agent that nobody wrote rules for. It calls the
// first function whose required parameters it can fill from what was said: a
// string with a quoted piece, else with the last run of capitalised words,
// else with the whole text; a number with the first number; a choice with the
// one that occurs. When nothing can be filled it asks for the first parameter
// that is missing. After a result it tells its members in one sentence.
//
// Functions that end a turn, which are named after acts, are only called when
// the request insists on a call; their parameters are filled from the last
// result by name.
func Generic(r Request) (Reply, bool) {
	said := lastSaid(r)
	if result, ok := lastResult(r); ok {
		return conclude(r, said, result), true
	}
	missing := ""
	for _, f := range r.Functions {
		if ends(f.Name) {
			continue
		}
		args, lacks := fill(f.Parameters, func(name string, p property) (any, bool) { return p.from(said) })
		if lacks == "" {
			return Reply{Calls: []Call{{Name: f.Name, Arguments: args}}}, true
		}
		if missing == "" {
			missing = lacks
		}
	}
	if missing == "" {
		return endWith(r, said, nil, "I heard: "+said), true
	}
	return endWith(r, said, nil, "Which "+strings.ReplaceAll(missing, "_", " ")+"?"), true
}

// acts are the names of functions that end a turn.
var acts = [...]string{"inform", "refuse", "failure", "agree", "propose", "cfp", "cancel", "request"}

func ends(name string) bool { return slices.Contains(acts[:], name) }

// conclude tells what the last call came to.
func conclude(r Request, said string, result map[string]any) Reply {
	inner := result
	if v, ok := result["result"].(map[string]any); ok {
		inner = v
	}
	return endWith(r, said, inner, sentence(result, inner))
}

// endWith ends the turn: in plain text, or by the function that gives a result
// if the request insists on a call.
func endWith(r Request, said string, known map[string]any, text string) Reply {
	if r.Choice != "required" {
		return Reply{Text: text}
	}
	for _, f := range r.Functions {
		if f.Name != "inform" {
			continue
		}
		args, lacks := fill(f.Parameters, func(name string, p property) (any, bool) {
			if v, ok := known[name]; ok {
				return v, true
			}
			if p.Type == "string" && len(p.Enum) == 0 {
				return text, true
			}
			return p.from(said)
		})
		if lacks == "" {
			return Reply{Calls: []Call{{Name: f.Name, Arguments: args}}}
		}
	}
	return Reply{Calls: []Call{{Name: "failure", Arguments: map[string]any{"code": "permanent", "reason": "no-rule"}}}}
}

// sentence tells the members of a result in the order of their names.
func sentence(result, inner map[string]any) string {
	if hint, ok := result["hint"].(string); ok {
		return hint
	}
	if outcome, ok := result["outcome"].(string); ok && outcome != "ok" {
		return fmt.Sprintf("That did not work: %s %v.", outcome, result["reason"])
	}
	var parts []string
	for name, v := range inner {
		switch v.(type) {
		case map[string]any, []any, nil:
		default:
			parts = append(parts, fmt.Sprintf("%s is %v", strings.ReplaceAll(name, "_", " "), v))
		}
	}
	if len(parts) == 0 {
		return "Done."
	}
	slices.Sort(parts)
	text := strings.Join(parts, ", ")
	if n := len(parts); n > 1 {
		text = strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// quoted is data in a prompt, between marks that carry a nonce.
var quoted = regexp.MustCompile(`(?s)<data ([0-9a-f]{32})[^>\n]*>\n([^\n]*)\n</data ([0-9a-f]{32})>`)

// payload is the JSON that a message quotes, or the message itself.
func payload(text string) string {
	if m := quoted.FindStringSubmatch(text); m != nil && m[1] == m[3] {
		return m[2]
	}
	return text
}

// lastSaid is what was asked: the text in the last message of the user.
func lastSaid(r Request) string {
	text := payload(r.Last(User).Text)
	var v map[string]any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	var parts []string
	for _, m := range v {
		if s, ok := m.(string); ok {
			parts = append(parts, s)
		} else if data, err := json.Marshal(m); err == nil {
			parts = append(parts, string(data))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// lastResult is what the latest call since the user spoke returned.
func lastResult(r Request) (map[string]any, bool) {
	for i := len(r.Messages) - 1; i >= 0 && r.Messages[i].Role != User; i-- {
		if r.Messages[i].Role != Tool {
			continue
		}
		var v map[string]any
		if json.Unmarshal([]byte(payload(r.Messages[i].Text)), &v) != nil {
			v = map[string]any{"answer": r.Messages[i].Text}
		}
		return v, true
	}
	return nil, false
}

// property is what Generic reads of a parameter's schema.
type property struct {
	Type string `json:"type"`
	Enum []any  `json:"enum"`
}

// fill makes arguments of the required parameters, or names the first one
// that value cannot give.
func fill(schema json.RawMessage, value func(name string, p property) (any, bool)) (args map[string]any, missing string) {
	var s struct {
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}
	args = map[string]any{}
	if len(schema) > 0 && json.Unmarshal(schema, &s) != nil {
		return nil, "parameters"
	}
	for _, name := range s.Required {
		v, ok := value(name, s.Properties[name])
		if !ok {
			return nil, name
		}
		args[name] = v
	}
	return args, ""
}

var (
	inQuotes    = regexp.MustCompile(`["“”«»']([^"“”«»']+)["“”«»']`)
	capitalised = regexp.MustCompile(`\p{Lu}[\p{L}\p{M}'’-]*(?: \p{Lu}[\p{L}\p{M}'’-]*)*`)
	number      = regexp.MustCompile(`-?[0-9]+(?:\.[0-9]+)?`)
)

// from finds a value for the parameter in a text.
func (p property) from(text string) (any, bool) {
	if len(p.Enum) > 0 {
		lower := strings.ToLower(text)
		for _, v := range p.Enum {
			if s, ok := v.(string); ok && strings.Contains(lower, strings.ToLower(s)) {
				return v, true
			}
		}
		return nil, false
	}
	switch p.Type {
	case "string":
		return stringFrom(text)
	case "integer", "number":
		found := number.FindString(text)
		if found == "" || p.Type == "integer" && strings.Contains(found, ".") {
			return nil, false
		}
		return json.Number(found), true
	}
	return nil, false
}

// openers begin a sentence and are capitalised for that alone.
var openers = [...]string{"what", "whats", "what's", "how", "which", "who", "when", "where", "is", "are", "do", "does", "can", "could", "will",
	"would", "tell", "give", "show", "find", "please", "the", "a", "an", "i", "i'm", "my", "hello", "hi"}

// stringFrom takes a quoted piece, else the last run of capitalised words,
// else the whole text.
func stringFrom(text string) (any, bool) {
	if m := inQuotes.FindStringSubmatch(text); m != nil {
		return strings.TrimSpace(m[1]), true
	}
	runs := capitalised.FindAllString(text, -1)
	for i := len(runs) - 1; i >= 0; i-- {
		words := strings.Fields(runs[i])
		for len(words) > 0 && slices.Contains(openers[:], strings.ToLower(words[0])) {
			words = words[1:]
		}
		if len(words) > 0 {
			return strings.Join(words, " "), true
		}
	}
	whole := strings.TrimSpace(text)
	return whole, whole != ""
}
