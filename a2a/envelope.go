package a2a

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/internal/strictjson"
)

// ExtensionURI names the extension of A2A under which agents of Parley speak
// to each other: a message, or an artifact, whose metadata has a member of this
// name is an envelope. The member holds the envelope's header, which is all of
// it but the content; the content is the one data part.
const ExtensionURI = "https://github.com/parley-agents/parley/extensions/envelope/v1"

// messageExtension names the extension of an envelope that holds the A2A message
// of a client that speaks no Parley, as it came.
const messageExtension = "https://github.com/parley-agents/parley/extensions/message/v1"

// envelopeLimits are those of envelope.Decode.
var envelopeLimits = strictjson.Limits{Bytes: envelope.MaxContent + 64<<10, Depth: 33, Nodes: 11_000}

// carriesEnvelope reports whether the metadata is of a message or an artifact
// that is an envelope.
func carriesEnvelope(m wire.Metadata) bool { return m[ExtensionURI] != nil }

// messageOf is an envelope as a message. A token takes the place of the one in
// the envelope; with "" that one stays. The message has no task and no context
// yet.
func messageOf(data []byte, token string, role wire.Role) (*wire.Message, error) {
	p, err := parted(data, token)
	if err != nil {
		return nil, err
	}
	return &wire.Message{MessageID: p.id, Role: role, Parts: p.parts(), Metadata: p.metadata(), Extensions: []string{ExtensionURI}}, nil
}

// artifactOf is an envelope as an artifact, whose id is that of the message.
func artifactOf(data []byte, token string) (*wire.Artifact, error) {
	p, err := parted(data, token)
	if err != nil {
		return nil, err
	}
	return &wire.Artifact{ArtifactID: p.id, Parts: p.parts(), Metadata: p.metadata(), Extensions: []string{ExtensionURI}}, nil
}

// envelopeOf is the envelope that a message carries, unread: whoever takes it
// holds it to its rules. The error is a *wire.Error.
func envelopeOf(m *wire.Message) ([]byte, error) { return whole("message", m.Metadata, m.Parts) }

// envelopeOfArtifact is the envelope that an artifact carries, unread.
func envelopeOfArtifact(a *wire.Artifact) ([]byte, error) {
	return whole("artifact", a.Metadata, a.Parts)
}

// parcel is an envelope in two: its header and its content, each as canonical
// JSON. A receipt's content is null.
type parcel struct {
	id              string
	header, content json.RawMessage
}

// parted takes an envelope apart. Nothing is encoded anew, so that the digest
// of what is put together again is that of the envelope.
func parted(data []byte, token string) (parcel, error) {
	members, err := strictjson.Object(data, envelopeLimits)
	if err != nil {
		return parcel{}, fmt.Errorf("taking an envelope apart: %w", err)
	}
	p := parcel{content: json.RawMessage("null")}
	header := make([]strictjson.Member, 0, len(members)+1)
	for _, m := range members {
		switch {
		case m.Name == "content":
			p.content = json.RawMessage(m.Value)
			continue
		case m.Name == "auth" && token != "":
			continue
		case m.Name == "message_id":
			if err := json.Unmarshal([]byte(m.Value), &p.id); err != nil {
				return parcel{}, fmt.Errorf("taking an envelope apart: message_id: %w", err)
			}
		}
		header = append(header, m)
	}
	if token != "" {
		auth, err := strictjson.Marshal(token)
		if err != nil {
			return parcel{}, fmt.Errorf("taking envelope %s apart: its token: %w", p.id, err)
		}
		header = append(header, strictjson.Member{Name: "auth", Value: string(auth)})
	}
	p.header = strictjson.Join(header)
	return p, nil
}

func (p parcel) parts() []wire.Part { return []wire.Part{{Data: p.content}} }

func (p parcel) metadata() wire.Metadata { return wire.Metadata{ExtensionURI: p.header} }

// whole puts an envelope together from the bytes that came.
func whole(of string, metadata wire.Metadata, parts []wire.Part) ([]byte, error) {
	if len(parts) != 1 || parts[0].Data == nil {
		return nil, misplaced(of+".parts", "one data part, which is the content of the envelope")
	}
	data, err := joined(metadata[ExtensionURI], parts[0].Data)
	if err != nil {
		return nil, misplaced(of+".metadata", "the header of an envelope under "+ExtensionURI)
	}
	return data, nil
}

// errNoHeader: what should be the header of an envelope is no JSON object.
var errNoHeader = errors.New("the header of an envelope is a JSON object")

// joined is the envelope that has the header and the content, each as it came; a
// content of null is none. The error is errNoHeader.
func joined(header, content json.RawMessage) ([]byte, error) {
	members, opened := bytes.CutPrefix(bytes.TrimSpace(header), []byte("{"))
	members, closed := bytes.CutSuffix(members, []byte("}"))
	if !opened || !closed {
		return nil, errNoHeader
	}
	data := append([]byte("{"), bytes.TrimSpace(members)...)
	if content = bytes.TrimSpace(content); string(content) != "null" {
		if len(data) > 1 {
			data = append(data, ',')
		}
		data = append(append(data, `"content":`...), content...)
	}
	return append(data, '}'), nil
}

func misplaced(field, want string) error {
	err := wire.Errorf(wire.InvalidParams, "want %s", want)
	err.Field = field
	return err
}
