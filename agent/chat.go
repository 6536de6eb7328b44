package agent

import "github.com/parley-agents/parley/protocol"

// Chat lets the agent's model answer plain text with plain text, under the
// built-in contract protocol.Chat. Its tools and what it may ask (MayAsk) are
// offered to it as in Answer; text that it writes without calling anything is
// its answer. Text that the contract does not allow, because it is too long or
// has control characters, is failure(permanent, schema).
func Chat(prompt string) Option {
	return offering(protocol.Chat(), map[phase]answer{answering: modelAnswer{prompt: prompt, chat: true}})
}
