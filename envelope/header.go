package envelope

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// Header is every member of an envelope except its content. Authors fill almost none of it: the runtime does.
// The zero value of a field means that the member is absent, except for Hop.
type Header struct {
	V            string       // envelope version, 1.x; Seal fills "1.0"
	Performative Performative // exactly one of Performative and Receipt is set
	Receipt      Receipt
	Protocol     string // which transition table, name/vN; absent reads as request/v1
	Schema       string // of the content, org.path.verb/vM; acts
	// ContentDigest is the lower hex sha256 over Salt and then the canonical content. Seal fills it.
	ContentDigest string
	Salt          []byte // 16 random bytes; acts
	Status        Status // informs
	Error         *Error // failures, refusals, nacks and not-understoods

	Sender           string // agent URI
	SenderGeneration int64  // when the sender's store was made or restored, in Unix milliseconds
	Receiver         string // agent URI
	Group            *Group // which other messages are copies of this one
	Actor            string // on whose behalf: an agent URI or user:<id>; Seal fills the sender
	Tenant           string // the sender's authority; Seal fills it
	Auth             string // a compact JWS, good for one hop; never logged
	Capability       string // urn:cap: and a contract's name

	MessageID      string // lower-case UUID, the same on every attempt
	ConversationID string // lower-case UUID
	InReplyTo      string // message id of the direct trigger
	CausationID    string // id of the message elsewhere that caused this conversation
	CorrelationID  string // of the business exchange, across conversations
	Seq            int64  // from 1, contiguous per conversation, sender and receiver; acts
	Hop            int    // depth of delegation

	Timestamp time.Time // UTC; for the record, never for order
	ReplyBy   time.Time // UTC; nobody answers or acts on the message after it
	Attempt   int       // from 1; Seal fills 1

	IdempotencyKey string       // of the effect, the same across message ids
	Priority       string       // low, normal or high; a hint
	RetryPolicy    *RetryPolicy // a hint

	Gather *Gather // the gather that the message is part of
	Fence  *Fence  // set on the inform that ends a gather

	Labels     Labels
	Provenance *Provenance // of what a model made
	Trace      Trace
	Signatures []Signature
	Extensions map[string]Extension // by absolute URI
}

// Error is the machine-readable part of a failure, a refusal, a nack or a not-understood.
type Error struct {
	Code       Code
	Reason     string // a lower-case word, open to additions
	Detail     *Detail
	Retriable  bool          // follows from Code
	RetryAfter time.Duration // not before; whole milliseconds on the wire, rounded up
}

// NewError returns an error whose Retriable follows from its code.
func NewError(code Code, reason string) *Error {
	return &Error{Code: code, Reason: reason, Retriable: code.Retriable()}
}

// Detail points at what was wrong, without quoting it.
type Detail struct {
	Pointer   string // RFC 6901, into the refused message
	Rule      string
	Want, Got string
	Incident  string // under which the sender of the error finds it in its own log
}

// Group ties the copies of one multi-party act together.
type Group struct {
	ID            string
	Size          int    // how many copies there are
	MembersDigest string // lower hex sha256 over the member list, which stays with the coordinator
}

// Labels say how a content may be used.
type Labels struct {
	Integrity Integrity
	Readers   []string // agent URIs, user:<id> or *
	Privacy   []string // public, internal, confidential, personal, sensitive, secret
}

// Trace is a W3C trace context.
type Trace struct{ Traceparent, Tracestate string }

// Provenance says what made a content.
type Provenance struct {
	Model, Prompt             string   // each with its version
	Tools                     []string // each with its version
	InputTokens, OutputTokens int
}

// RetryPolicy hints how the sender will try again.
type RetryPolicy struct {
	MaxAttempts int
	Backoff     time.Duration // before the second attempt; whole milliseconds on the wire, rounded up
	Jitter      string        // none or full
}

// Gather names the gather that a message is part of, and the stance of a contribution to it.
type Gather struct{ ID, Stance string }

// StanceDissent is the stance of a contribution that disagrees.
const StanceDissent = "dissent"

// Fence proposes how a gather ended: COMPLETED, BLOCKED, TIMED_OUT, CANCELLED or DISSENT_RECORDED.
type Fence struct{ ID, Proposed string }

// Signature is a flattened JWS (RFC 7515 section 7.2.2) with a detached payload, the digest's bytes. Only its shape is
// checked here.
type Signature struct {
	Protected, Signature string
	Header               json.RawMessage // unprotected; an object or absent
}

// Extension is a member outside the closed set. A receiver that does not know it ignores and keeps it, unless it is
// mandatory: then the whole message is refused.
type Extension struct {
	Mandatory bool
	Value     json.RawMessage // any JSON value
}

// clone returns a copy that shares nothing with h.
func (h Header) clone() Header {
	h.unshare()
	return h
}

// unshare replaces what is shared by reference with copies.
func (h *Header) unshare() {
	h.Salt = bytes.Clone(h.Salt)
	h.Error = copied(h.Error)
	if h.Error != nil {
		h.Error.Detail = copied(h.Error.Detail)
	}
	h.Group = copied(h.Group)
	h.RetryPolicy = copied(h.RetryPolicy)
	h.Gather = copied(h.Gather)
	h.Fence = copied(h.Fence)
	h.Labels = h.Labels.clone()
	h.Provenance = copied(h.Provenance)
	if h.Provenance != nil {
		h.Provenance.Tools = slices.Clone(h.Provenance.Tools)
	}
	h.Signatures = slices.Clone(h.Signatures)
	for i := range h.Signatures {
		h.Signatures[i].Header = bytes.Clone(h.Signatures[i].Header)
	}
	h.Extensions = maps.Clone(h.Extensions)
	for uri, x := range h.Extensions {
		x.Value = bytes.Clone(x.Value)
		h.Extensions[uri] = x
	}
}

func (l Labels) clone() Labels {
	l.Readers = slices.Clone(l.Readers)
	l.Privacy = slices.Clone(l.Privacy)
	return l
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}
