package agent

import "github.com/parley-agents/parley/protocol"

// Text is free text in a contract: what a person or a peer wrote in its own
// words. It is data wherever it goes; its only way into a prompt is quoted.
type Text = protocol.Text
