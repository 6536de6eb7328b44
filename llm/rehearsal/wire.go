package rehearsal

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// refused is a request that does not fit the wire, or a failure told in its form.
type refused struct {
	status               int
	message, param, code string
}

func (e *refused) Error() string { return e.message }

func invalid(param, format string, args ...any) *refused {
	return &refused{status: http.StatusBadRequest, param: param, message: fmt.Sprintf(format, args...)}
}

// body is the error object of the wire.
func (e *refused) body() any {
	kind := "invalid_request_error"
	switch {
	case e.status == http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case e.status >= 500:
		kind = "server_error"
	}
	optional := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	return map[string]any{"error": map[string]any{
		"message": e.message, "type": kind, "param": optional(e.param), "code": optional(e.code),
	}}
}

// wireRequest is the part of a request that is looked at; the rest is ignored.
type wireRequest struct {
	Model          string          `json:"model"`
	Messages       []wireMessage   `json:"messages"`
	Tools          []wireTool      `json:"tools"`
	ToolChoice     json.RawMessage `json:"tool_choice"`
	ResponseFormat *wireFormat     `json:"response_format"`
	Temperature    *float64        `json:"temperature"`
	MaxTokens      *int            `json:"max_tokens"`
	MaxCompletion  *int            `json:"max_completion_tokens"`
	N              *int            `json:"n"`
	Stream         bool            `json:"stream"`
	StreamOptions  struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type wireMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCalls  []wireCall      `json:"tool_calls"`
	ToolCallID string          `json:"tool_call_id"`
}

type wireCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string  `json:"name"`
		Arguments *string `json:"arguments"`
	} `json:"function"`
}

type wireTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

type wireFormat struct {
	Type       string `json:"type"`
	JSONSchema *struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

var functionName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// read checks a request as a strict endpoint would and returns the rules' view.
func (w *wireRequest) read() (Request, error) {
	r := Request{Model: w.Model, Temperature: w.Temperature, Choice: "auto"}
	switch {
	case w.Model == "":
		return r, invalid("model", "you must provide a model")
	case w.N != nil && *w.N != 1:
		return r, invalid("n", "n must be 1, got %d", *w.N)
	case w.Temperature != nil && (*w.Temperature < 0 || *w.Temperature > 2):
		return r, invalid("temperature", "temperature must be within 0 and 2, got %v", *w.Temperature)
	case w.MaxTokens != nil && w.MaxCompletion != nil:
		return r, invalid("max_tokens", "max_tokens and max_completion_tokens exclude each other")
	}
	for param, limit := range map[string]*int{"max_tokens": w.MaxTokens, "max_completion_tokens": w.MaxCompletion} {
		if limit == nil {
			continue
		}
		if *limit < 1 {
			return r, invalid(param, "%s must be at least 1, got %d", param, *limit)
		}
		r.MaxTokens = *limit
	}
	var err error
	if r.Messages, err = w.readMessages(); err != nil {
		return r, err
	}
	if err := w.readTools(&r); err != nil {
		return r, err
	}
	return r, w.readFormat(&r)
}

func (w *wireRequest) readMessages() ([]Message, error) {
	if len(w.Messages) == 0 {
		return nil, invalid("messages", "messages must not be empty")
	}
	var out []Message
	open := map[string]string{} // calls that await a result: id to name
	for i, m := range w.Messages {
		at := fmt.Sprintf("messages[%d]", i)
		if m.Role != Tool && len(open) > 0 {
			return nil, invalid(at+".role", "an assistant message with tool_calls must be followed by a tool message for each tool_call_id; %d missing", len(open))
		}
		said, ok := contentText(m.Content)
		if !ok {
			return nil, invalid(at+".content", "content must be a string or a list of text parts")
		}
		message := Message{Role: m.Role, Text: said}
		switch m.Role {
		case System, User:
		case "developer":
			message.Role = System
		case Assistant:
			for j, c := range m.ToolCalls {
				call, err := c.read(fmt.Sprintf("%s.tool_calls[%d]", at, j))
				if err != nil {
					return nil, err
				}
				if _, twice := open[c.ID]; twice {
					return nil, invalid(at+".tool_calls", "duplicate tool call id %q", c.ID)
				}
				open[c.ID] = c.Function.Name
				message.Calls = append(message.Calls, call)
			}
		case Tool:
			name, awaited := open[m.ToolCallID]
			if !awaited {
				return nil, invalid(at+".tool_call_id", "tool_call_id %q answers no call of the preceding assistant message", m.ToolCallID)
			}
			delete(open, m.ToolCallID)
			message.CallID, message.Name = m.ToolCallID, name
		default:
			return nil, invalid(at+".role", "unknown role %q", m.Role)
		}
		if (len(m.Content) == 0 || string(m.Content) == "null") && len(message.Calls) == 0 {
			return nil, invalid(at+".content", "content is missing")
		}
		out = append(out, message)
	}
	if len(open) > 0 {
		return nil, invalid("messages", "%d tool calls have no tool message", len(open))
	}
	return out, nil
}

func (c wireCall) read(at string) (Call, error) {
	arguments := c.Function.Arguments
	switch {
	case c.ID == "":
		return Call{}, invalid(at+".id", "id is missing")
	case c.Type != "function":
		return Call{}, invalid(at+".type", "type must be function, got %q", c.Type)
	case !functionName.MatchString(c.Function.Name):
		return Call{}, invalid(at+".function.name", "name %q does not match %s", c.Function.Name, functionName)
	case arguments == nil || !isObject([]byte(*arguments)):
		return Call{}, invalid(at+".function.arguments", "arguments must be the text of a JSON object")
	}
	return Call{ID: c.ID, Name: c.Function.Name, Arguments: json.RawMessage(*arguments)}, nil
}

// contentText returns the text of a message; missing and null count as empty.
func contentText(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) == nil {
		return s, true
	}
	var parts []struct{ Type, Text string }
	if json.Unmarshal(raw, &parts) != nil {
		return "", false
	}
	for _, p := range parts {
		if p.Type != "text" {
			return "", false
		}
		s += p.Text
	}
	return s, true
}

func (w *wireRequest) readTools(r *Request) error {
	for i, t := range w.Tools {
		at := fmt.Sprintf("tools[%d]", i)
		f := t.Function
		switch {
		case t.Type != "function":
			return invalid(at+".type", "type must be function, got %q", t.Type)
		case !functionName.MatchString(f.Name):
			return invalid(at+".function.name", "name %q does not match %s", f.Name, functionName)
		case r.Offers(f.Name):
			return invalid(at+".function.name", "function %q is offered twice", f.Name)
		case len(f.Parameters) > 0 && !isObjectSchema(f.Parameters):
			return invalid(at+".function.parameters", `invalid schema for function %q: it must be an object with type "object"`, f.Name)
		}
		r.Functions = append(r.Functions, Function{Name: f.Name, Description: f.Description, Parameters: f.Parameters})
	}
	if len(w.ToolChoice) == 0 || string(w.ToolChoice) == "null" {
		return nil
	}
	var named struct {
		Type     string
		Function struct{ Name string }
	}
	switch {
	case json.Unmarshal(w.ToolChoice, &r.Choice) == nil:
		if r.Choice != "auto" && r.Choice != "required" && r.Choice != "none" {
			return invalid("tool_choice", "unknown tool_choice %q", r.Choice)
		}
	case json.Unmarshal(w.ToolChoice, &named) == nil && named.Type == "function" && r.Offers(named.Function.Name):
		r.Choice = named.Function.Name
	default:
		return invalid("tool_choice", "tool_choice must be auto, required, none or an offered function")
	}
	if len(r.Functions) == 0 {
		return invalid("tool_choice", "tool_choice is only allowed when tools are given")
	}
	return nil
}

func (w *wireRequest) readFormat(r *Request) error {
	f := w.ResponseFormat
	if f == nil {
		return nil
	}
	switch f.Type {
	case "text":
	case "json_object":
		for _, m := range r.Messages {
			if strings.Contains(strings.ToLower(m.Text), "json") {
				r.Output = &Output{}
				return nil
			}
		}
		return invalid("response_format", "with json_object the messages must contain the word json")
	case "json_schema":
		s := f.JSONSchema
		if s == nil || !functionName.MatchString(s.Name) || !isObject(s.Schema) {
			return invalid("response_format.json_schema", "json_schema needs a name that matches %s and a schema that is an object", functionName)
		}
		r.Output = &Output{Name: s.Name, Schema: s.Schema}
	default:
		return invalid("response_format.type", "unknown response_format type %q", f.Type)
	}
	return nil
}

func isObject(raw []byte) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal(raw, &m) == nil && m != nil
}

func isObjectSchema(raw []byte) bool {
	var s struct {
		Type string `json:"type"`
	}
	return isObject(raw) && json.Unmarshal(raw, &s) == nil && s.Type == "object"
}
