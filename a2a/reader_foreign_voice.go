package a2a

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/internal/strictjson"
	"github.com/parley-agents/parley/protocol"
)

// voice speaks for an agent that knows no envelopes: it makes those that the
// agent would have sent in one exchange. What it makes follows from the exchange
// and from what the agent showed alone, so that reading a thing twice gives the
// same envelope twice.
type voice struct {
	// opening is the act that our agent opened the exchange with.
	opening *envelope.Envelope
}

// salt are the 16 bytes of a salt that follow from the id of its message.
func salt(id string) []byte {
	sum := sha256.Sum256([]byte("salt\x00" + id))
	return sum[:16]
}

// header completes what the voice says by what nobody chooses; kind tells it from
// everything else that is said in the conversation.
func (v voice) header(h envelope.Header, kind string, at time.Time) envelope.Header {
	h.SenderGeneration = foreignGeneration
	h.MessageID = envelope.DerivedID(h.Sender, h.Receiver, h.ConversationID, kind)
	if h.Receipt == "" {
		h.Salt = salt(h.MessageID)
	}
	if h.Timestamp = at; at.IsZero() {
		h.Timestamp = v.opening.Timestamp()
	}
	h.Labels = envelope.Labels{Integrity: envelope.Peer, Readers: []string{h.Receiver}}
	return h
}

// receipt answers an act of our agent at once.
func (v voice) receipt(of *envelope.Envelope, r envelope.Receipt, why *envelope.Error) ([]byte, error) {
	h := v.header(of.Receipt(r, why), "receipt "+of.ID(), of.Timestamp())
	e, err := envelope.Seal(h, nil)
	if err != nil {
		return nil, fmt.Errorf("answering %s for %s: %w", of.ID(), of.Receiver(), err)
	}
	return e.Bytes(), nil
}

// says is an act with the number; kind names what it says.
func (v voice) says(seq int64, kind string, p envelope.Performative, at time.Time, more func(*envelope.Header), content []byte) ([]byte, error) {
	h := v.opening.Reply(p)
	h.Seq = seq
	more(&h)
	e, err := envelope.Seal(v.header(h, fmt.Sprintf("%d %s", seq, kind), at), content)
	if err != nil {
		return nil, err
	}
	return e.Bytes(), nil
}

// empty is the content of an act that says nothing beyond itself.
var empty = []byte("{}")

func (v voice) agree(seq int64) ([]byte, error) {
	return v.says(seq, "agree", envelope.Agree, time.Time{}, func(h *envelope.Header) { h.Schema = protocol.AgreeSchema }, empty)
}

// cannot is a failure or, before the agent has agreed, a refusal.
func (v voice) cannot(seq int64, p envelope.Performative, at time.Time, why *envelope.Error) ([]byte, error) {
	return v.says(seq, string(p), p, at, func(h *envelope.Header) {
		h.Error = why
		if h.Schema = protocol.FailureSchema; p == envelope.Refuse {
			h.Schema = protocol.RefusalSchema
		}
	}, empty)
}

func (v voice) cancelled(seq int64, at time.Time) ([]byte, error) {
	return v.says(seq, "cancelled", envelope.Inform, at, func(h *envelope.Header) {
		h.Status, h.Schema = envelope.Cancelled, protocol.CancelSchema
	}, empty)
}

// result is the inform that ends the exchange. What no result can be made of is a
// failure that says so.
func (v voice) result(seq int64, parts []wire.Part, at time.Time) ([]byte, error) {
	name, err := protocol.ParseName(strings.TrimPrefix(v.opening.Capability(), "urn:cap:"))
	if err != nil {
		return nil, err
	}
	content, want := contentOf(name, parts)
	if want == "" {
		data, err := v.says(seq, "result", envelope.Inform, at, func(h *envelope.Header) {
			h.Status, h.Schema = envelope.Final, name.Result()
		}, content)
		if err == nil {
			return data, nil
		}
		want = "a result that an envelope can carry"
	}
	why := envelope.NewError(envelope.CodeValidation, "schema")
	why.Detail = &envelope.Detail{Pointer: "/content", Want: want}
	return v.cannot(seq, envelope.Failure, at, why)
}

// contentOf is the content that parts are under a contract: for a chat their
// text, else the one data part or, without one, a text that is strict JSON. want
// says what should have been there, if it is none.
func contentOf(name protocol.Name, parts []wire.Part) (content []byte, want string) {
	var texts strings.Builder
	var data []json.RawMessage
	for _, p := range parts {
		switch {
		case p.Text != nil:
			texts.WriteString(*p.Text)
		case p.Data != nil:
			data = append(data, p.Data)
		}
	}
	if name.String() == protocol.ChatName {
		if texts.Len() == 0 && len(data) == 1 {
			texts.Write(data[0])
		}
		said, err := strictjson.Marshal(protocol.Said{Text: protocol.Text(texts.String())})
		if err != nil || texts.Len() == 0 {
			return nil, "a text part"
		}
		return said, ""
	}
	switch len(data) {
	case 0:
		content = []byte(texts.String())
	case 1:
		content = data[0]
	default:
		return nil, "one data part"
	}
	if _, err := strictjson.Object(content, strictjson.Limits{}); err != nil {
		return nil, "one data part, or a text, that is a JSON object"
	}
	return content, ""
}

// asks is the question that the agent waits for an answer to.
func (v voice) asks(status wire.TaskStatus, by time.Time) ([]byte, error) {
	said, id := "", status.Timestamp.String()
	if m := status.Message; m != nil {
		said = textOf(m.Parts)
		if id = m.MessageID; id == "" {
			id = said
		}
	}
	if said == "" {
		said = "The agent waits for more input."
	}
	content, err := strictjson.Marshal(protocol.QuestionAsked{Text: protocol.Text(cut(said, 4096))})
	if err != nil {
		return nil, err
	}
	of := v.opening.Header()
	e, err := envelope.Seal(v.header(envelope.Header{
		Performative: envelope.Request, Protocol: protocol.QueryV1, Schema: protocol.QuestionName,
		Capability: protocol.Question.Name().Capability(), Sender: of.Receiver, Receiver: of.Sender,
		ConversationID: envelope.DerivedID("question", of.ConversationID, of.Receiver, id), CausationID: of.MessageID,
		CorrelationID: of.CorrelationID, Seq: 1, Hop: of.Hop + 1, ReplyBy: by, Trace: of.Trace,
	}, "question", status.Timestamp), content)
	if err != nil {
		return nil, err
	}
	return e.Bytes(), nil
}

// textOf is what parts say to a person.
func textOf(parts []wire.Part) string {
	var b strings.Builder
	for _, p := range parts {
		switch {
		case p.Text != nil:
			b.WriteString(*p.Text)
		case p.Data != nil:
			b.Write(p.Data)
		}
	}
	return b.String()
}

// cut keeps the first characters of a text.
func cut(s string, characters int) string {
	for i := range s {
		if characters == 0 {
			return s[:i]
		}
		characters--
	}
	return s
}
