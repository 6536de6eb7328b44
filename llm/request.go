package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// encode turns r into the wire's request, within what the profile allows.
func (c *Client) encode(r Request) (openai.ChatCompletionRequest, error) {
	p := c.config.Profile
	out := openai.ChatCompletionRequest{Model: c.config.Model, ReasoningEffort: c.config.ReasoningEffort}
	reasoner := reasons(c.config.Model)
	if r.MaxTokens < 0 {
		return out, fmt.Errorf("max tokens: %d is negative", r.MaxTokens)
	}
	if p.MaxCompletionTokens || reasoner {
		out.MaxCompletionTokens = r.MaxTokens
	} else {
		//lint:ignore SA1019 most endpoints beside OpenAI's know no other name
		out.MaxTokens = r.MaxTokens
	}
	if t := r.Temperature; t != nil && !p.FixedTemperature && !reasoner {
		if math.IsNaN(*t) || *t < 0 || *t > 2 {
			return out, fmt.Errorf("temperature: %v is not within 0 and 2", *t)
		}
		out.Temperature = max(float32(*t), zeroTemperature)
	}
	if err := c.encodeFunctions(r, &out); err != nil {
		return out, err
	}
	instruction, err := c.encodeOutput(r, &out)
	if err != nil {
		return out, err
	}
	out.Messages, err = c.encodeMessages(r.Messages, instruction)
	return out, err
}

// reasons reports whether the model is one of those that refuse a temperature and
// take their limit as max_completion_tokens, whoever serves it.
func reasons(model string) bool {
	for _, family := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(model, family) {
			return true
		}
	}
	return false
}

// encodeMessages writes the conversation. What the model wrote wrongly before is
// not sent back to it: names are sanitised, unusable arguments become {}.
func (c *Client) encodeMessages(messages []Message, instruction string) ([]openai.ChatCompletionMessage, error) {
	p := c.config.Profile
	var system, rest []openai.ChatCompletionMessage
	for i, m := range messages {
		wire := openai.ChatCompletionMessage{Role: string(m.Role), Content: m.Text}
		switch m.Role {
		case RoleSystem:
			if p.SystemHoisted || len(rest) == 0 {
				system = append(system, wire)
				continue
			}
		case RoleUser:
			if m.Name != "" {
				wire.Name = wireName(m.Name)
			}
		case RoleAssistant:
			if p.ReplayReasoning {
				wire.ReasoningContent = m.Reasoning
			}
			for _, call := range m.Calls {
				wire.ToolCalls = append(wire.ToolCalls, openai.ToolCall{
					ID: wireID(call.ID), Type: openai.ToolTypeFunction,
					Function: openai.FunctionCall{Name: wireName(call.Name), Arguments: replayable(call.Arguments)},
				})
			}
		case RoleTool:
			wire.ToolCallID = wireID(m.CallID)
			if p.ToolResultName && m.Name != "" {
				wire.Name = wireName(m.Name)
			}
		default:
			return nil, fmt.Errorf("message %d: role %q is not one of system, user, assistant, tool", i, m.Role)
		}
		rest = append(rest, wire)
	}
	if instruction != "" {
		system = append(system, openai.ChatCompletionMessage{Role: string(RoleSystem), Content: instruction})
	}
	if p.SystemHoisted && len(system) > 1 {
		texts := make([]string, len(system))
		for i, m := range system {
			texts[i] = m.Content
		}
		system = []openai.ChatCompletionMessage{{Role: string(RoleSystem), Content: strings.Join(texts, "\n\n")}}
	}
	return append(system, rest...), nil
}

// replayable returns arguments if they are a JSON object and {} otherwise.
func replayable(arguments string) string {
	if s := strings.TrimSpace(arguments); strings.HasPrefix(s, "{") && json.Valid([]byte(s)) {
		return arguments
	}
	return "{}"
}

func (c *Client) encodeFunctions(r Request, out *openai.ChatCompletionRequest) error {
	p := c.config.Profile
	offered := r.Functions
	switch r.Choice {
	case "", ChoiceAuto:
	case ChoiceNone:
		if len(offered) > 0 {
			out.ToolChoice = string(ChoiceNone)
		}
	default:
		if r.Choice != ChoiceRequired {
			named := offered[:0:0]
			for _, f := range offered {
				if f.Name == string(r.Choice) {
					named = append(named, f)
				}
			}
			if !p.ToolChoiceNamed {
				offered = named // alone, "required" means the same
			}
			if len(named) == 0 {
				return fmt.Errorf("choice: function %q is not offered", r.Choice)
			}
		}
		switch {
		case len(offered) == 0:
			return fmt.Errorf("choice: a call is required and no function is offered")
		case r.Choice != ChoiceRequired && p.ToolChoiceNamed:
			out.ToolChoice = openai.ToolChoice{Type: openai.ToolTypeFunction, Function: openai.ToolFunction{Name: string(r.Choice)}}
		case p.ToolChoiceRequired:
			out.ToolChoice = string(ChoiceRequired)
		}
	}
	seen := map[string]bool{}
	for _, f := range offered {
		if f.Name == "" || wireName(f.Name) != f.Name || seen[f.Name] {
			return fmt.Errorf("function %q: name is not unique, or not of 1 to 64 letters, digits, _ and -", f.Name)
		}
		seen[f.Name] = true
		parameters := f.Parameters
		if len(parameters) == 0 {
			parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		schema, err := p.schema(parameters)
		if err != nil {
			return fmt.Errorf("function %q: parameters: %w", f.Name, err)
		}
		out.Tools = append(out.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: f.Name, Description: f.Description, Parameters: schema, Strict: f.Strict && p.StrictTools,
		}})
	}
	if r.OneCall && p.ParallelCalls && len(offered) > 0 {
		out.ParallelToolCalls = false
	}
	return nil
}

// encodeOutput asks for structured output and returns what the instructions must
// add where the endpoint has no mode for it.
func (c *Client) encodeOutput(r Request, out *openai.ChatCompletionRequest) (instruction string, err error) {
	p, o := c.config.Profile, r.Output
	if o == nil {
		return "", nil
	}
	schema := o.Schema
	instruction = "Reply with one JSON object and nothing else."
	if len(schema) > 0 {
		if schema, err = p.schema(schema); err != nil {
			return "", fmt.Errorf("output %q: schema: %w", o.Name, err)
		}
		instruction = "Reply with one JSON document and nothing else. It must satisfy this JSON Schema:\n" + string(schema)
	}
	switch free := len(r.Functions) == 0 || p.OutputWithTools; {
	case free && p.StructuredOutput == OutputSchema && (len(schema) > 0 || !p.JSONObject):
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		out.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type: openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{
				Name: wireName(o.Name), Schema: schema, Strict: o.Strict && len(o.Schema) > 0,
			},
		}
		return "", nil
	case free && p.JSONObject && p.StructuredOutput != OutputNone:
		out.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	}
	return instruction, nil
}

// schema returns document compact and without the keywords the endpoint refuses.
func (p *Profile) schema(document json.RawMessage) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if _, ok := tree.(map[string]any); !ok || d.More() {
		return nil, fmt.Errorf("not one JSON object")
	}
	if len(p.DropKeywords) == 0 {
		var out bytes.Buffer
		err := json.Compact(&out, document) // keeps the order of properties, which models follow
		return out.Bytes(), err
	}
	dropKeywords(tree, p.DropKeywords)
	return json.Marshal(tree)
}

// dropKeywords removes keywords from a schema and the schemas inside it, but not
// the properties, definitions or values that happen to have such a name.
func dropKeywords(schema any, keywords []string) {
	switch schema := schema.(type) {
	case []any:
		for _, each := range schema {
			dropKeywords(each, keywords)
		}
	case map[string]any:
		for _, k := range keywords {
			delete(schema, k)
		}
		for k, v := range schema {
			switch k {
			case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
				named, _ := v.(map[string]any)
				for _, each := range named {
					dropKeywords(each, keywords)
				}
			case "const", "enum", "default", "examples":
			default:
				dropKeywords(v, keywords)
			}
		}
	}
}
