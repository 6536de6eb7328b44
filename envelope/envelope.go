package envelope

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/parley-agents/parley/internal/strictjson"
)

// Envelope is one message. It never changes, and is safe for concurrent use.
type Envelope struct {
	header  Header
	text    string // the whole as received, in canonical form
	content string // of it; empty on a receipt
	digest  Digest
}

// Digest identifies a message: sha256 over its canonical form without the members that differ from one attempt or carrier
// to the next (attempt, auth, trace), without the signatures made over it, and without content and salt, for which
// content_digest stands, so that it can still be verified when a content was erased.
type Digest [sha256.Size]byte

// String returns the digest in lower hex.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// ParseDigest reads what String writes.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	if !isHexDigest(s) {
		return d, fmt.Errorf("digest %s: want %s", quote(s), hexForm)
	}
	_, err := hex.Decode(d[:], []byte(s))
	return d, err
}

// digesting is what a digest is over, under construction. It is made of the members that came, in canonical order, never
// of a header written anew.
type digesting strictjson.Builder

func newDigesting(room []byte) digesting { return digesting(strictjson.Builder(room).Open()) }

func (d digesting) add(m strictjson.Member) digesting {
	switch m.Name {
	case "attempt", "auth", "trace", "signatures", "content", "salt":
		return d
	}
	return digesting(strictjson.Builder(d).Raw(m.Name, m.Value))
}

func (d digesting) sum() Digest { return sha256.Sum256(strictjson.Builder(d).Shut()) }

// Header returns a deep copy of every member but the content. An absent protocol reads as [DefaultProtocol].
func (e *Envelope) Header() Header { return e.header.clone() }

// Content returns a copy of the content in canonical form, nil on a receipt.
func (e *Envelope) Content() []byte { return raw(e.content) }

// Bytes returns the whole envelope in canonical form, auth included: what a carrier sends.
func (e *Envelope) Bytes() []byte { return []byte(e.text) }

// Digest returns the message's digest. It is the same for every attempt.
func (e *Envelope) Digest() Digest { return e.digest }

// Resend returns the same message for another attempt, from 1, with a fresh token. The digest stays. An auth that is not
// a compact JWS counts as none.
func (e *Envelope) Resend(attempt int, auth string) *Envelope {
	if !isJWS(auth) {
		auth = ""
	}
	again := *e
	again.header.Attempt = max(attempt, 1)
	again.header.Auth = auth
	var room [1 << 10]byte
	rest := e.text[len(e.header.writeHead(room[:0])):]
	again.text = string(append(again.header.writeHead(room[:0]), rest...))
	return &again
}

// WithoutAuth returns the same message without its token: what a log may keep.
func (e *Envelope) WithoutAuth() *Envelope {
	if e.header.Auth == "" {
		return e
	}
	return e.Resend(e.header.Attempt, "")
}

// ID returns the message id.
func (e *Envelope) ID() string { return e.header.MessageID }

// Sender returns the sender's agent URI.
func (e *Envelope) Sender() string { return e.header.Sender }

// Receiver returns the receiver's agent URI.
func (e *Envelope) Receiver() string { return e.header.Receiver }

// Conversation returns the conversation id.
func (e *Envelope) Conversation() string { return e.header.ConversationID }

// Correlation returns the correlation id.
func (e *Envelope) Correlation() string { return e.header.CorrelationID }

// Protocol returns the protocol's name and version.
func (e *Envelope) Protocol() string { return e.header.Protocol }

// Schema returns the content's schema, empty on a receipt.
func (e *Envelope) Schema() string { return e.header.Schema }

// Capability returns the capability, empty if there is none.
func (e *Envelope) Capability() string { return e.header.Capability }

// Act returns the performative, empty on a receipt.
func (e *Envelope) Act() Performative { return e.header.Performative }

// ReceiptKind returns the kind of receipt, empty on an act.
func (e *Envelope) ReceiptKind() Receipt { return e.header.Receipt }

// Status returns the status of an inform, else nothing.
func (e *Envelope) Status() Status { return e.header.Status }

// Seq returns the sequence number of an act, 0 on a receipt.
func (e *Envelope) Seq() int64 { return e.header.Seq }

// InReplyTo returns the message id of the direct trigger, empty if there is none.
func (e *Envelope) InReplyTo() string { return e.header.InReplyTo }

// Timestamp returns when the message was made.
func (e *Envelope) Timestamp() time.Time { return e.header.Timestamp }

// ReplyBy returns the deadline, the zero time if there is none.
func (e *Envelope) ReplyBy() time.Time { return e.header.ReplyBy }

// Attempt returns the attempt, from 1.
func (e *Envelope) Attempt() int { return e.header.Attempt }

// SenderGeneration returns when the sender's store was made or restored.
func (e *Envelope) SenderGeneration() int64 { return e.header.SenderGeneration }

// Hop returns the depth of delegation.
func (e *Envelope) Hop() int { return e.header.Hop }

// IdempotencyKey returns the key of the effect, empty if there is none.
func (e *Envelope) IdempotencyKey() string { return e.header.IdempotencyKey }

// Priority returns the hint of how urgent the message is, empty if there is none.
func (e *Envelope) Priority() string { return e.header.Priority }

// Trace returns the trace context.
func (e *Envelope) Trace() Trace { return e.header.Trace }

// Err returns a copy of the error of a failure, a refusal, a nack or a not-understood, nil if there is none.
func (e *Envelope) Err() *Error {
	err := copied(e.header.Error)
	if err != nil {
		err.Detail = copied(err.Detail)
	}
	return err
}

// Gather returns the gather that the message is part of, and whether it is part of one.
func (e *Envelope) Gather() (Gather, bool) {
	if e.header.Gather == nil {
		return Gather{}, false
	}
	return *e.header.Gather, true
}

// Fences reports whether the message is the fence of a gather.
func (e *Envelope) Fences() bool { return e.header.Fence != nil }

// Extension returns a copy of an extension's value, and whether the message has it.
func (e *Envelope) Extension(uri string) (value []byte, ok bool) {
	x, ok := e.header.Extensions[uri]
	return bytes.Clone(x.Value), ok
}

// Version returns the version of the envelope.
func (e *Envelope) Version() string { return e.header.V }

// Actor returns on whose behalf the message is.
func (e *Envelope) Actor() string { return e.header.Actor }

// Auth returns the token, empty if there is none.
func (e *Envelope) Auth() string { return e.header.Auth }

// strictShape is an error of strict JSON that points into the envelope.
func strictShape(pointer string, err error) *ShapeError {
	shape := &ShapeError{Pointer: pointer, Rule: strictjson.RuleSyntax, Want: "strict JSON", Err: err}
	var strict *strictjson.Error
	if errors.As(err, &strict) {
		shape = fromStrict(strict)
		shape.Pointer = pointer + strict.Pointer
	}
	return shape
}
