package a2a

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/envelope"
)

// anyEnvelope is an act or a receipt with members of every kind.
func anyEnvelope() *rapid.Generator[*envelope.Envelope] {
	return rapid.Custom(func(t *rapid.T) *envelope.Envelope {
		id := func(name string) string {
			return fmt.Sprintf("019535d9-3df7-79fb-b466-%012x", rapid.IntRange(1, 1<<40).Draw(t, name))
		}
		h := envelope.Header{
			Sender: "agent://acme/planner", SenderGeneration: 1_700_000_000_000, Receiver: "agent://skyline/flights",
			MessageID: id("message"), ConversationID: id("conversation"), CorrelationID: rapid.StringMatching(`[ -~]{1,20}`).Draw(t, "correlation"),
			Timestamp: time.UnixMilli(rapid.Int64Range(0, 1<<41).Draw(t, "timestamp")).UTC(),
			Labels:    envelope.Labels{Integrity: envelope.Peer, Readers: []string{"agent://skyline/flights"}},
			Trace:     envelope.Trace{Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
			Hop:       rapid.IntRange(0, 8).Draw(t, "hop"), Attempt: rapid.IntRange(1, 9).Draw(t, "attempt"),
		}
		if rapid.Bool().Draw(t, "extended") {
			h.Extensions = map[string]envelope.Extension{messageExtension: {Value: json.RawMessage(anyJSON().Draw(t, "extension"))}}
		}
		var content []byte
		switch kind := rapid.SampledFrom([]string{"request", "inform", "failure", "ack", "not-understood"}).Draw(t, "kind"); kind {
		case "ack", "not-understood":
			h.Receipt, h.InReplyTo = envelope.Receipt(kind), id("answered")
			if h.Receipt == envelope.NotUnderstood {
				h.Error = envelope.NewError(envelope.CodeValidation, "schema")
			}
		default:
			h.Performative, h.Schema, h.Seq = envelope.Performative(kind), "acme.flight.book/v1", rapid.Int64Range(1, 1<<50).Draw(t, "seq")
			h.Salt = bytes.Repeat([]byte{7}, 16)
			content = []byte(fmt.Sprintf(`{"it":%s}`, anyJSON().Draw(t, "content")))
			switch h.Performative {
			case envelope.Request:
				h.Capability, h.IdempotencyKey, h.ReplyBy = "urn:cap:acme.flight.book/v1", "k", h.Timestamp.Add(time.Minute)
			case envelope.Inform:
				h.Status, h.InReplyTo = envelope.Final, id("answered")
			case envelope.Failure:
				h.Error, h.InReplyTo = envelope.NewError(envelope.CodePermanent, "handler"), id("answered")
			}
		}
		e, err := envelope.Seal(h, content)
		if err != nil {
			t.Fatalf("seal: %v", err)
		}
		return e
	})
}

// anyJSON is a value with what JSON encoders write differently.
func anyJSON() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{`null`, `{}`, `[]`, `"<&>\u2028é\ud83d\ude00"`, `9007199254740991`, `-0.1e-7`, `1e15`,
		`{"b":[1,{"c":null}],"a":{"z":"","y":true}}`, `"content"`, `{"content":{"auth":"x"}}`})
}

func TestAnEnvelopeThatCrossesTheWireKeepsItsDigest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyEnvelope().Draw(t, "envelope")
		data := e.Bytes()
		m, err := messageOf(data, "", wire.User)
		if err != nil {
			t.Fatal(err)
		}
		a, err := artifactOf(data, "")
		if err != nil {
			t.Fatal(err)
		}
		if m.MessageID != e.ID() || a.ArtifactID != e.ID() {
			t.Fatalf("message %s and artifact %s, want %s", m.MessageID, a.ArtifactID, e.ID())
		}
		// A carrier may indent what it carries.
		indent(t, m.Metadata, m.Parts)
		back, err := envelopeOf(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := envelope.Decode(back)
		if err != nil {
			t.Fatalf("%v in %s", err, back)
		}
		if got.Digest() != e.Digest() || !bytes.Equal(got.Bytes(), data) {
			t.Fatalf("came as\n%s\nwant\n%s", got.Bytes(), data)
		}
		if back, err = envelopeOfArtifact(a); err != nil || !bytes.Equal(must(envelope.Decode(back)).Bytes(), data) {
			t.Fatalf("the artifact came as %s, %v", back, err)
		}
	})
}

func indent(t *rapid.T, m wire.Metadata, parts []wire.Part) {
	if !rapid.Bool().Draw(t, "indented") {
		return
	}
	var header, content bytes.Buffer
	if err := errors.Join(json.Indent(&header, m[ExtensionURI], " ", "\t"), json.Indent(&content, parts[0].Data, "", "  ")); err != nil {
		t.Fatal(err)
	}
	m[ExtensionURI], parts[0].Data = header.Bytes(), content.Bytes()
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestATokenForTheReaderTakesThePlaceOfTheOneBefore(t *testing.T) {
	const token, fresh = "eyJhbGciOiJFZERTQSJ9.e30.c2ln", "eyJhbGciOiJFZERTQSJ9.e30.c2ln2"
	rapid.Check(t, func(t *rapid.T) {
		e := anyEnvelope().Draw(t, "envelope")
		for _, data := range [][]byte{e.Bytes(), e.Resend(1, token).Bytes()} {
			m := must(messageOf(data, fresh, wire.Agent))
			got := must(envelope.Decode(must(envelopeOf(m))))
			if got.Auth() != fresh || got.Digest() != e.Digest() {
				t.Fatalf("token %q and digest %s, want %q and %s", got.Auth(), got.Digest(), fresh, e.Digest())
			}
		}
	})
}

func TestAMessageThatIsNoEnvelopeSaysWhatIsMissing(t *testing.T) {
	text := "hello"
	header := wire.Metadata{ExtensionURI: json.RawMessage(`{"v":"1.0"}`)}
	data := []wire.Part{{Data: json.RawMessage(`{}`)}}
	for name, tt := range map[string]struct {
		message wire.Message
		field   string
	}{
		"no header":          {wire.Message{Parts: data}, "message.metadata"},
		"a header of text":   {wire.Message{Metadata: wire.Metadata{ExtensionURI: json.RawMessage(`"{}"`)}, Parts: data}, "message.metadata"},
		"no part":            {wire.Message{Metadata: header}, "message.parts"},
		"text":               {wire.Message{Metadata: header, Parts: []wire.Part{{Text: &text}}}, "message.parts"},
		"two data parts":     {wire.Message{Metadata: header, Parts: append(data, data...)}, "message.parts"},
		"an empty header":    {wire.Message{Metadata: wire.Metadata{ExtensionURI: json.RawMessage(`{}`)}, Parts: data}, ""},
		"no content at all":  {wire.Message{Metadata: header, Parts: []wire.Part{{Data: json.RawMessage(`null`)}}}, ""},
		"a content up there": {wire.Message{Metadata: wire.Metadata{ExtensionURI: json.RawMessage(`{"content":{}}`)}, Parts: data}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := envelopeOf(&tt.message)
			if tt.field == "" { // the envelope's own rules say what is wrong
				if _, bad := envelope.Decode(got); err != nil || bad == nil {
					t.Errorf("%s, %v: taken for an envelope", got, err)
				}
				return
			}
			if e, ok := errors.AsType[*wire.Error](err); !ok || e.Kind != wire.InvalidParams || e.Field != tt.field {
				t.Errorf("%v, want a fault at %s", err, tt.field)
			}
		})
	}
}
