package rehearsal

import (
	"encoding/json"
	"math/rand/v2"
)

// completion is a reply on its way to the wire, where accidents can strike it.
type completion struct {
	id, model     string
	text, refusal string
	calls         []outCall
	finish        string
	input         int
}

type outCall struct {
	id, name, arguments string
	asObject            bool // send the arguments as an object
}

// identify draws the ids.
func (c *completion) identify(draw *rand.Rand) {
	c.id = randomID(draw, "chatcmpl-", 24)
	for i := range c.calls {
		c.calls[i].id = randomID(draw, "call_", 24)
	}
}

// output counts the tokens of the reply.
func (c *completion) output() int {
	n := tokens(c.text) + tokens(c.refusal)
	for _, call := range c.calls {
		n += tokens(call.name) + tokens(call.arguments)
	}
	return n
}

// limit cuts the reply to a number of tokens.
func (c *completion) limit(most int) {
	if c.output() <= most {
		return
	}
	c.finish = "length"
	left := most
	c.text, left = keep(c.text, left)
	for i := range c.calls {
		call := &c.calls[i]
		left -= tokens(call.name)
		if left < 0 {
			c.calls = c.calls[:i]
			return
		}
		call.arguments, left = keep(call.arguments, left)
	}
}

// keep returns the part of s that fits into left tokens, and how many remain.
func keep(s string, left int) (string, int) {
	if n := tokens(s); n <= left {
		return s, left - n
	}
	return string([]rune(s)[:4*left]), 0
}

func (c *completion) usage() map[string]any {
	out := c.output()
	return map[string]any{"prompt_tokens": c.input, "completion_tokens": out, "total_tokens": c.input + out}
}

// body is the whole completion. Its creation time is 0: a clock would make the
// bytes of two runs differ.
func (c *completion) body() any {
	message := map[string]any{"role": "assistant", "content": c.text}
	if c.refusal != "" {
		message["content"], message["refusal"] = nil, c.refusal
	}
	if len(c.calls) > 0 {
		if c.text == "" {
			message["content"] = nil
		}
		var calls []any
		for _, call := range c.calls {
			calls = append(calls, map[string]any{"id": call.id, "type": "function", "function": call.function()})
		}
		message["tool_calls"] = calls
	}
	return map[string]any{
		"id": c.id, "object": "chat.completion", "created": 0, "model": c.model, "usage": c.usage(),
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": c.finish}},
	}
}

func (c outCall) function() map[string]any {
	if c.asObject && json.Valid([]byte(c.arguments)) {
		return map[string]any{"name": c.name, "arguments": json.RawMessage(c.arguments)}
	}
	return map[string]any{"name": c.name, "arguments": c.arguments}
}
