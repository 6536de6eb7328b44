package main

import (
	"encoding/json"
	"strings"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/protocol"
)

// Turn is what the kit's message asks for: the scenario that its id names, and
// its text.
type Turn struct {
	Scenario string        `json:"scenario,omitempty"`
	Text     protocol.Text `json:"text"`
}

// Made is what an artifact is made of: a text, data, or a file that lies here or
// elsewhere.
type Made struct {
	Text protocol.Text `json:"text,omitempty"`
	Data *Counted      `json:"data,omitempty"`
	File string        `json:"file,omitempty"`
	URL  string        `json:"url,omitempty"`
}

// Counted is the kit's data.
type Counted struct {
	Key   string `json:"key"`
	Count int    `json:"count"`
}

const (
	contract = "tck.scenario.play/v1"
	// answering is the contract of the scenario whose answer is a message.
	answering = "tck.scenario.answer/v1"
)

func play() protocol.Contract[Turn, Made] { return protocol.Request[Turn, Made](contract) }

func answer() protocol.Contract[Turn, Made] { return protocol.Query[Turn, Made](answering) }

// direct says whose finished answer is a message.
func direct(contract string) bool { return contract == answering }

// read makes a turn of a message that is text. Anything else is read as by every
// agent.
func read(_ string, m *wire.Message) (string, json.RawMessage, bool) {
	if len(m.Parts) != 1 || m.Parts[0].Text == nil {
		return "", nil, false
	}
	turn := Turn{Scenario: scenario(m.MessageID), Text: protocol.Text(*m.Parts[0].Text)}
	content, err := json.Marshal(turn)
	if turn.Scenario == "tck-message-response" {
		return answering, content, err == nil
	}
	return contract, content, err == nil
}

// show shows what was made as the part of A2A that it is.
func show(_ string, content json.RawMessage) []wire.Part {
	var made struct {
		Made
		Data json.RawMessage `json:"data"`
	}
	if json.Unmarshal(content, &made) != nil {
		return nil
	}
	const name, plain = "output.txt", "text/plain"
	switch text := string(made.Text); {
	case made.Data != nil:
		return []wire.Part{{Data: made.Data}}
	case made.File != "":
		return []wire.Part{{Raw: []byte(made.File), Filename: name, MediaType: plain}}
	case made.URL != "":
		return []wire.Part{{URL: &made.URL, Filename: name, MediaType: plain}}
	default:
		return []wire.Part{{Text: &text}}
	}
}

// scenario is the one whose name the kit puts before what makes a message id
// unique, "" for none.
func scenario(id string) string {
	best := ""
	for _, s := range []string{
		"tck-complete-task", "tck-artifact-text", "tck-artifact-file", "tck-artifact-file-url", "tck-artifact-data", "tck-message-response",
		"tck-input-required", "tck-reject-task", "tck-stream-001", "tck-stream-002", "tck-stream-003", "tck-stream-ordering-001",
		"tck-stream-artifact-text", "tck-stream-artifact-file", "tck-stream-artifact-chunked", "test-resubscribe-message-id",
	} {
		if strings.HasPrefix(id, s) && len(s) > len(best) {
			best = s
		}
	}
	return best
}
