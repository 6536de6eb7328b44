package llm

import (
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// decode turns a normalised answer to r into a Response.
func (c *Client) decode(r Request, reply openai.ChatCompletionResponse) *Response {
	choice := reply.Choices[0]
	out := &Response{
		Model: reply.Model,
		Usage: Usage{InputTokens: reply.Usage.PromptTokens, OutputTokens: reply.Usage.CompletionTokens},
	}
	if out.Model == "" {
		out.Model = c.config.Model
	}
	thoughts, said := splitThinking(choice.Message.Content)
	out.Text, out.Reasoning = said, choice.Message.ReasoningContent
	if out.Reasoning == "" {
		out.Reasoning = thoughts
	}
	for _, call := range choice.Message.ToolCalls {
		out.Calls = append(out.Calls, Call{ID: call.ID, Name: call.Function.Name, Arguments: call.Function.Arguments})
	}
	nameCalls(out.Calls, r.Messages)
	out.Finish = finish(r, choice, out)
	if out.Finish == FinishRefusal {
		out.Text = choice.Message.Refusal
	}
	return out
}

// finish decides why a reply ended. The endpoint's word is only one of the signs:
// gateways relabel cut replies, and calls come with any reason.
func finish(r Request, choice openai.ChatCompletionChoice, out *Response) Finish {
	cut := choice.FinishReason == openai.FinishReasonLength ||
		r.MaxTokens > 0 && out.Usage.OutputTokens >= r.MaxTokens ||
		len(out.Calls) > 0 && cutShort(out.Calls[len(out.Calls)-1].Arguments)
	switch {
	case choice.Message.Refusal != "":
		return FinishRefusal
	case choice.FinishReason == openai.FinishReasonContentFilter:
		return FinishFilter
	case cut:
		return FinishLength
	case len(out.Calls) > 0:
		return FinishCalls
	}
	return FinishStop
}

// cutShort reports whether an object's text ends inside a string, a number or a
// member. Brackets that are only not closed do not count: a model forgets these.
func cutShort(arguments string) bool {
	s := strings.TrimSpace(arguments)
	if !strings.HasPrefix(s, "{") || strings.HasSuffix(s, "}") {
		return false
	}
	var o outline
	if o.add(s); o.quoted {
		return true
	}
	switch s[len(s)-1] {
	case '"', ']':
		return false
	}
	for _, literal := range []string{"true", "false", "null"} {
		if strings.HasSuffix(s, literal) {
			return false
		}
	}
	return s != "{"
}
