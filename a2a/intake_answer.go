package a2a

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// answer answers the question in the client's name: agree and inform. An answer
// that is none leaves the question open.
func (s *service) answer(ctx context.Context, c wire.Call, q store.Exchange, id string, m *wire.Message, kept original) error {
	entry, err := s.host.Store().Message(ctx, q.Key, store.Sent, q.State.Opening)
	if err != nil {
		return err
	}
	asking, err := s.host.Envelope(entry)
	if err != nil {
		return err
	}
	var asked protocol.QuestionAsked
	if err := json.Unmarshal(asking.Content(), &asked); err != nil {
		return err
	}
	content, err := answerTo(asked, m)
	if err != nil {
		return err
	}
	of := asking.Header()
	h := s.foreignHeader(q.Peer, q.Conversation, of.Timestamp, c)
	h.Protocol, h.Capability, h.CorrelationID, h.InReplyTo, h.Hop = of.Protocol, of.Capability, of.CorrelationID, of.MessageID, of.Hop
	h.Trace = of.Trace
	how := agent.Mail{Caller: q.Peer, Task: q.Task, Mailbox: true}
	agree := h
	agree.Performative, agree.Schema = envelope.Agree, protocol.AgreeSchema
	agree.MessageID, agree.Seq = envelope.DerivedID("agree", q.Conversation), 1
	if err := s.accept(ctx, agree, []byte("{}"), how); err != nil {
		return err
	}
	h.Performative, h.Status, h.Schema = envelope.Inform, envelope.Final, protocol.Question.Name().Result()
	h.MessageID, h.Seq = id, 2
	keep(&h, kept)
	return s.accept(ctx, h, content, how)
}

// answerTo is the content of the answer to a question that a message gives. One
// that the question's asker would refuse is none.
func answerTo(q protocol.QuestionAsked, m *wire.Message) ([]byte, error) {
	var data json.RawMessage
	var text []string
	for _, p := range m.Parts {
		switch {
		case p.Data != nil && data == nil:
			data = p.Data
		case p.Text != nil:
			text = append(text, *p.Text)
		default:
			return nil, wire.Errorf(wire.ContentTypeNotSupported, "an answer is text, or one data part")
		}
	}
	said := strings.Join(text, "\n")
	var a protocol.QuestionAnswered
	want := ""
	fits := true
	switch {
	case len(q.Choices) > 0:
		a.Choice, want = chosen(q.Choices, data, said), "one of the choices: "+strings.Join(q.Choices, ", ")
	case q.Schema != "":
		if data == nil {
			data = json.RawMessage(said)
		}
		s, err := schema.Parse([]byte(q.Schema))
		fits = err == nil && s.Validate(data) == nil
		a.Value, want = string(data), "a value that fits the schema of the question, of at most 65536 bytes"
	default:
		fits = data == nil
		a.Text, want = protocol.Text(said), "text of 1 to 16384 characters"
	}
	content, err := schema.Encode(answerSchema(), a)
	if !fits || err != nil || q.Admits(a) != nil {
		return nil, invalid("message.parts", "must be "+want)
	}
	return content, nil
}

// answerSchema is what an answer is held to by who asked.
var answerSchema = sync.OnceValue(func() *schema.Schema {
	s, err := schema.For[protocol.QuestionAnswered](protocol.Question.Name().Result())
	if err != nil {
		panic(err) // a type of the module's own
	}
	return s
})

// chosen is the choice that the client means, "" if none.
func chosen(choices []string, data json.RawMessage, said string) string {
	if data != nil {
		var pick struct {
			Choice string `json:"choice"`
		}
		if json.Unmarshal(data, &pick) != nil && json.Unmarshal(data, &said) != nil {
			return ""
		}
		if pick.Choice != "" {
			said = pick.Choice
		}
	}
	for _, c := range choices {
		if strings.EqualFold(strings.TrimSpace(said), c) {
			return c
		}
	}
	return ""
}
