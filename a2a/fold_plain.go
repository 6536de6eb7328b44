package a2a

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// What a client sees that speaks A2A and no Parley: texts and data, without a
// header.

// plain is what an act of the agent shows to such a client.
func (f *fold) plain(entry store.Entry, told bool) (said, error) {
	e, err := f.host.Envelope(entry)
	if err != nil {
		return said{}, err
	}
	if told {
		return said{artifact: &wire.Artifact{ArtifactID: e.ID(), Parts: f.result(e)}}, nil
	}
	parts, err := spoken(e)
	if err != nil || parts == nil {
		return said{}, err
	}
	return said{agent: f.here(&wire.Message{MessageID: e.ID(), Role: wire.Agent, Parts: parts})}, nil
}

// plainUser is what an act of the client shows: the message that it was made of
// or, of a client of Parley, what it asks for.
func (f *fold) plainUser(entry store.Entry) (*wire.Message, error) {
	e, err := f.host.Envelope(entry)
	if err != nil {
		return nil, err
	}
	if kept, err := keptIn(e); err != nil || kept != nil {
		if err != nil {
			return nil, fmt.Errorf("message %s in the log of %s: %w", entry.MessageID, entry.Owner, err)
		}
		return f.original(kept, func() []wire.Part { return plainContent(e) })
	}
	if e.InReplyTo() != "" || e.Act() == envelope.Cancel {
		return nil, nil
	}
	return f.here(&wire.Message{MessageID: e.ID(), Role: wire.User, Parts: plainContent(e)}), nil
}

// original is a client's message as it came; content are the parts of one that was
// too long.
func (f *fold) original(kept *original, content func() []wire.Part) (*wire.Message, error) {
	m, err := kept.message(content)
	if err != nil {
		return nil, fmt.Errorf("in the log of %s: %w", f.x.Owner, err)
	}
	return f.here(m), nil
}

// result is what the agent made, as such a client sees it.
func (f *fold) result(e *envelope.Envelope) []wire.Part {
	if f.show != nil {
		if parts := f.show(strings.TrimPrefix(e.Capability(), "urn:cap:"), e.Content()); len(parts) > 0 {
			return parts
		}
	}
	return plainContent(e)
}

// chatCapability is that of a chat.
const chatCapability = "urn:cap:" + protocol.ChatName

// plainContent is a content as text, if it is that of a chat, else as data.
func plainContent(e *envelope.Envelope) []wire.Part {
	if e.Capability() == chatCapability {
		var chat protocol.Said
		if err := json.Unmarshal(e.Content(), &chat); err == nil {
			return []wire.Part{{Text: (*string)(&chat.Text)}}
		}
	}
	return []wire.Part{{Data: e.Content()}}
}

// spoken is what an act that is no result says about a task, nil for nothing
// beyond the task's state.
func spoken(e *envelope.Envelope) ([]wire.Part, error) {
	switch {
	case e.ReceiptKind() == envelope.NotUnderstood:
		return fault("not understood", e.Header().Error)
	case e.Act() == envelope.Refuse:
		return fault("refused", e.Header().Error)
	case e.Act() == envelope.Failure:
		return fault("failed", e.Header().Error)
	case e.Act() == envelope.Propose:
		return plainContent(e), nil
	case e.Act() == envelope.Request && e.Capability() == protocol.Question.Name().Capability():
		return asked(e.Content())
	}
	return nil, nil
}

// fault says why there is no result, in words and as data: the code, the reason
// and the place, and nothing of what is behind them.
func fault(what string, told *envelope.Error) ([]wire.Part, error) {
	if told == nil {
		return []wire.Part{text(what)}, nil
	}
	shown := struct {
		Code       envelope.Code `json:"code"`
		Reason     string        `json:"reason,omitempty"`
		Pointer    string        `json:"pointer,omitempty"`
		Retriable  bool          `json:"retriable"`
		RetryAfter int64         `json:"retryAfter,omitempty"` // in milliseconds
	}{Code: told.Code, Reason: told.Reason, Retriable: told.Retriable, RetryAfter: told.RetryAfter.Milliseconds()}
	words := what + ": " + string(told.Code)
	if told.Reason != "" {
		words += " (" + told.Reason + ")"
	}
	if told.Detail != nil && told.Detail.Pointer != "" {
		shown.Pointer = told.Detail.Pointer
		words += " at " + shown.Pointer
	}
	data, err := json.Marshal(shown)
	return []wire.Part{text(words), {Data: data}}, err
}

// asked is a question in words and, if it says what the answer may be, that as
// data.
func asked(content []byte) ([]wire.Part, error) {
	var q protocol.QuestionAsked
	if err := json.Unmarshal(content, &q); err != nil {
		return nil, fmt.Errorf("a question: %w", err)
	}
	parts := []wire.Part{text(string(q.Text))}
	if len(q.Choices) == 0 && q.Schema == "" {
		return parts, nil
	}
	answer := struct {
		Choices []string        `json:"choices,omitempty"`
		Schema  json.RawMessage `json:"schema,omitempty"`
	}{Choices: q.Choices}
	if q.Schema != "" {
		answer.Schema = json.RawMessage(strings.TrimSpace(q.Schema))
	}
	data, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("a question's answer: %w", err)
	}
	return append(parts, wire.Part{Data: data}), nil
}

func text(s string) wire.Part { return wire.Part{Text: &s} }
