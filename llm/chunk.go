package llm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// teller hands parts to a consumer until one of them is refused.
type teller struct {
	each    func(Part) error
	told    bool  // a part was told: the call cannot be repeated unnoticed
	stopped error // what the consumer refused a part with
}

func (t *teller) tell(p Part) error {
	if t.each == nil || p == (Part{}) {
		return nil
	}
	t.told = true
	t.stopped = t.each(p)
	return t.stopped
}

// assembly is a reply that is put together from the chunks of a stream.
type assembly struct {
	*teller
	model                   string
	said, reasoned, refused strings.Builder
	thinking                thinkSplitter
	deltas                  []Delta
	ended                   openai.FinishReason
	usage                   openai.Usage
	choice                  *int // the one choice that is read, as the endpoint numbers it
	begun                   bool // the choice is known
	done                    bool // the endpoint said that nothing follows
}

// read takes the events of a stream until the endpoint says that it is done, or ends
// a stream whose reply is whole: many leave the last event out.
func (a *assembly) read(ctx context.Context, source *bufio.Reader) error {
	events := &eventReader{source: source}
	for !a.done {
		name, data, err := events.next()
		if end := ctx.Err(); end != nil {
			return &Error{Kind: ErrorUnavailable, Err: end}
		}
		var cut *Error
		switch {
		case err == nil:
			if err := a.event(name, data); err != nil {
				return err
			}
		case a.ended != "" && !errors.As(err, &cut):
			return nil
		case err == io.EOF:
			return &Error{Kind: ErrorUnavailable, Err: fmt.Errorf("the stream ended before the reply: %w", io.ErrUnexpectedEOF)}
		default:
			return readFailure(err)
		}
	}
	return nil
}

// readFailure is the error for a body that cannot be read to its end.
func readFailure(err error) error {
	if failed := asError(err); failed != nil {
		return failed
	}
	return &Error{Kind: ErrorUnavailable, Err: fmt.Errorf("read answer: %w", err)}
}

// event takes the data of one event: a chunk, an error or the mark of the end. Where
// an endpoint does not part its events by blank lines there are several.
func (a *assembly) event(name string, data []byte) error {
	for data = bytes.TrimSpace(data); len(data) > 0 && !a.done; data = bytes.TrimSpace(data) {
		if rest, ok := bytes.CutPrefix(data, []byte("[DONE]")); ok {
			a.done, data = true, rest
			continue
		}
		var raw json.RawMessage
		d := json.NewDecoder(bytes.NewReader(data))
		if err := d.Decode(&raw); err != nil {
			return &Error{Kind: ErrorUnavailable, Text: clip(strings.ToValidUTF8(string(data), "�"), 300),
				Err: errors.New("an event of the stream is not JSON")}
		}
		if name == "error" {
			return classify(0, raw, 0)
		}
		if err := a.chunk(raw); err != nil {
			return err
		}
		data = data[d.InputOffset():]
	}
	return nil
}

// chunk takes one chunk. Its shape is as doubtful as that of a whole answer, so it
// goes through the same normalisation.
func (a *assembly) chunk(raw json.RawMessage) error {
	root := members(raw)
	if given(root["error"]) {
		return classify(0, raw, 0)
	}
	if a.model == "" {
		a.model = text(root["model"])
	}
	for _, usage := range []json.RawMessage{root["usage"], members(root["x_groq"])["usage"]} {
		if given(usage) {
			a.usage = counted(members(usage)) // where it comes more than once it counts from the start
		}
	}
	for _, choice := range elements(root["choices"]) {
		first := members(choice)
		if given(first["error"]) {
			return classify(0, choice, 0)
		}
		if !a.mine(place(first["index"])) {
			continue
		}
		if word := text(first["finish_reason"]); word != "" {
			a.ended = finishReason(word)
		}
		if err := a.take(message(members(first["delta"]))); err != nil {
			return err
		}
	}
	return nil
}

// mine reports whether a choice is the one that is read: the first that came.
func (a *assembly) mine(index *int) bool {
	if !a.begun {
		a.begun, a.choice = true, index
	}
	return index == nil || a.choice == nil || *index == *a.choice
}

// take adds a piece of the message and tells it.
func (a *assembly) take(m openai.ChatCompletionMessage) error {
	a.reasoned.WriteString(m.ReasoningContent)
	a.said.WriteString(m.Content)
	a.refused.WriteString(m.Refusal)
	answer, thought := a.thinking.add(m.Content)
	for _, p := range []Part{{Reasoning: m.ReasoningContent}, {Reasoning: thought}, {Text: answer}, {Text: m.Refusal}} {
		if err := a.tell(p); err != nil {
			return err
		}
	}
	for i, call := range m.ToolCalls {
		d := Delta{Index: call.Index, Position: i, ID: call.ID, Name: call.Function.Name, Arguments: call.Function.Arguments}
		a.deltas = append(a.deltas, d)
		if d == (Delta{Index: d.Index, Position: i}) {
			continue
		}
		if err := a.tell(Part{Call: &d}); err != nil {
			return err
		}
	}
	return nil
}

// finish tells what was held back and turned out to be text.
func (a *assembly) finish() error {
	return a.tell(Part{Text: a.thinking.rest(a.said.String())})
}

// reply is the whole answer, as an endpoint that does not stream sends it.
func (a *assembly) reply() openai.ChatCompletionResponse {
	m := openai.ChatCompletionMessage{
		Role: "assistant", Content: a.said.String(), Refusal: a.refused.String(), ReasoningContent: a.reasoned.String(),
	}
	for _, call := range assemble(a.deltas) {
		m.ToolCalls = append(m.ToolCalls, openai.ToolCall{
			ID: call.ID, Type: openai.ToolTypeFunction, Function: openai.FunctionCall{Name: call.Name, Arguments: call.Arguments},
		})
	}
	return openai.ChatCompletionResponse{
		Model: a.model, Usage: a.usage,
		Choices: []openai.ChatCompletionChoice{{Message: m, FinishReason: a.ended}},
	}
}
