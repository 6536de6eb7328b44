package llm

import (
	"encoding/json"
	"errors"
	"math"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// normalise rewrites the body of a successful answer into the shape the client
// library decodes. Endpoints send call arguments as objects, times as fractions,
// reasoning under three names, content as parts, or an error with status 200. Only
// the first choice is kept. It returns an *Error when the body is no answer.
func normalise(body []byte) ([]byte, error) {
	root := members(body)
	if root == nil {
		return nil, &Error{Kind: ErrorUnavailable, Text: clip(strings.ToValidUTF8(string(body), "�"), 300),
			Err: errors.New("the answer is not a JSON object")}
	}
	if given(root["error"]) {
		return nil, classify(0, body, 0)
	}
	choices := elements(root["choices"])
	var first map[string]json.RawMessage
	if len(choices) > 0 {
		first = members(choices[0])
	}
	if first == nil {
		return nil, &Error{Kind: ErrorUnavailable, Err: errors.New("the answer has no choice")}
	}
	if given(first["error"]) {
		return nil, classify(0, choices[0], 0)
	}
	return json.Marshal(openai.ChatCompletionResponse{
		ID:      text(root["id"]),
		Object:  "chat.completion",
		Created: int64(whole(root["created"])),
		Model:   text(root["model"]),
		Choices: []openai.ChatCompletionChoice{{
			Message:      message(members(first["message"])),
			FinishReason: finishReason(text(first["finish_reason"])),
		}},
		Usage: counted(members(root["usage"])),
	})
}

func counted(usage map[string]json.RawMessage) openai.Usage {
	return openai.Usage{
		PromptTokens:     whole(usage["prompt_tokens"]),
		CompletionTokens: whole(usage["completion_tokens"]),
		TotalTokens:      whole(usage["total_tokens"]),
	}
}

func message(m map[string]json.RawMessage) openai.ChatCompletionMessage {
	out := openai.ChatCompletionMessage{Role: "assistant", Refusal: text(m["refusal"])}
	var thoughts string
	out.Content, thoughts = content(m["content"])
	for _, name := range []string{"reasoning_content", "reasoning"} {
		if s := text(m[name]); s != "" {
			thoughts = s
			break
		}
	}
	out.ReasoningContent = thoughts
	for _, raw := range elements(m["tool_calls"]) {
		if call := members(raw); call != nil {
			out.ToolCalls = append(out.ToolCalls, openai.ToolCall{
				Index: place(call["index"]), ID: text(call["id"]), Type: openai.ToolTypeFunction, Function: function(call["function"]),
			})
		}
	}
	if len(out.ToolCalls) == 0 && given(m["function_call"]) {
		out.ToolCalls = []openai.ToolCall{{Type: openai.ToolTypeFunction, Function: function(m["function_call"])}}
	}
	return out
}

func function(raw json.RawMessage) openai.FunctionCall {
	m := members(raw)
	out := openai.FunctionCall{Name: text(m["name"])}
	switch arguments := m["arguments"]; {
	case !given(arguments):
	case arguments[0] == '"':
		out.Arguments = text(arguments)
	default: // an object, or another value whose text is the argument
		out.Arguments = string(arguments)
	}
	return out
}

// content returns the text of a message's content, which is a string or a list of
// parts, and the reasoning that some endpoints put among the parts.
func content(raw json.RawMessage) (said, thought string) {
	if s := text(raw); s != "" {
		return s, ""
	}
	for _, part := range elements(raw) {
		m := members(part)
		said += text(m["text"])
		inner := m["thinking"]
		thought += text(inner)
		for _, piece := range elements(inner) {
			thought += text(members(piece)["text"])
		}
	}
	return said, thought
}

// finishReason maps the words endpoints use to those of the wire.
func finishReason(s string) openai.FinishReason {
	switch strings.ToLower(s) {
	case "length", "max_tokens", "model_length", "max_output_tokens":
		return openai.FinishReasonLength
	case "content_filter", "safety", "recitation", "prohibited_content":
		return openai.FinishReasonContentFilter
	case "tool_calls", "function_call", "tool_use":
		return openai.FinishReasonToolCalls
	}
	return openai.FinishReasonStop
}

func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// members returns the members of a JSON object, nil for anything else.
func members(raw json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// elements returns the elements of a JSON array, nil for anything else.
func elements(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// text returns a JSON string, or a number as it is written, and "" for the rest.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

// place returns the endpoint's number of a call, nil when it gave none.
func place(raw json.RawMessage) *int {
	var f *float64
	if json.Unmarshal(raw, &f) != nil || f == nil {
		return nil
	}
	n := whole(raw)
	return &n
}

// whole returns a JSON number without its fraction, and 0 for anything else.
func whole(raw json.RawMessage) int {
	var f float64
	if json.Unmarshal(raw, &f) != nil || math.Abs(f) > 1<<53 {
		return 0
	}
	return int(f)
}
