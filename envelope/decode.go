package envelope

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/parley-agents/parley/internal/strictjson"
)

// MaxContent is the greatest length of a content in its canonical form, in bytes.
const MaxContent = 256 << 10

// limits leave room for a header around a content that is itself within the limits of one document.
var limits = strictjson.Limits{Bytes: MaxContent + 64<<10, Depth: 33, Nodes: 11_000}

// memberNames are all members of an envelope, in the order in which they are looked at.
var memberNames = [...]string{
	"v", "performative", "receipt", "protocol", "schema", "content", "content_digest", "salt", "status", "error",
	"sender", "sender_generation", "receiver", "group", "actor", "tenant", "auth", "capability",
	"message_id", "conversation_id", "in_reply_to", "causation_id", "correlation_id", "seq", "hop",
	"timestamp", "reply_by", "attempt", "idempotency_key", "priority", "retry_policy", "gather", "fence",
	"labels", "provenance", "trace", "signatures", "extensions",
}

// Decode reads an envelope from received bytes. It is strict: what it accepts is strict JSON of at most 320 KiB with only
// the members of an envelope, each of its exact name, type and form, and a content that its digest is of. The content
// must be an object; it is not held to any schema. Errors are *ShapeError, which wrap a *strictjson.Error if the bytes
// are not strict JSON. The version and the kind of message are looked at before anything else.
func Decode(data []byte) (*Envelope, error) {
	text, members, err := strictjson.Split(string(data), limits)
	if err != nil {
		return nil, strictShape("", err)
	}
	f := &faults{}
	r := newReader(f, "", members)
	e := &Envelope{text: text}
	h := &e.header
	h.readKind(r)
	r.closed(memberNames[:]...)
	h.readWhat(r)
	h.readWho(r)
	h.readThread(r)
	h.readRest(r)
	e.content = r.get("content", "{", "an object")
	if f.first == nil {
		f.first = h.check(e.content, contentDigest(h.Salt, e.content))
	}
	if f.first != nil {
		return nil, f.first
	}
	var room [3 << 9]byte
	d := newDigesting(room[:0])
	for _, m := range members {
		d = d.add(m)
	}
	e.digest = d.sum()
	return e, nil
}

func (h *Header) readKind(r reader) {
	h.V = r.text("v")
	h.Performative = Performative(r.text("performative"))
	h.Receipt = Receipt(r.text("receipt"))
	h.checkKind(r.faults)
}

func (h *Header) readWhat(r reader) {
	h.Protocol = r.text("protocol")
	if h.Protocol == "" {
		h.Protocol = DefaultProtocol
	}
	h.Schema = r.text("schema")
	h.ContentDigest = r.text("content_digest")
	h.Salt = r.salt("salt")
	h.Status = Status(r.text("status"))
	if e, ok := r.object("error"); ok {
		e.closed("code", "reason", "detail", "retriable", "retry_after")
		e.need("code", "retriable")
		h.Error = &Error{
			Code: Code(e.text("code")), Reason: e.text("reason"), Retriable: e.boolean("retriable"),
			RetryAfter: e.duration("retry_after"),
		}
		if d, ok := e.object("detail"); ok {
			d.closed("pointer", "rule", "want", "got", "incident")
			h.Error.Detail = &Detail{
				Pointer: d.text("pointer"), Rule: d.text("rule"), Want: d.text("want"), Got: d.text("got"),
				Incident: d.text("incident"),
			}
		}
	}
}

func (h *Header) readWho(r reader) {
	h.Sender = r.text("sender")
	h.SenderGeneration = r.integer("sender_generation", 1)
	h.Receiver = r.text("receiver")
	if g, ok := r.object("group"); ok {
		g.closed("id", "size", "members_digest")
		g.need("id", "size", "members_digest")
		h.Group = &Group{ID: g.text("id"), Size: g.count("size", 1), MembersDigest: g.text("members_digest")}
	}
	h.Actor = r.text("actor")
	h.Tenant = r.text("tenant")
	h.Auth = r.text("auth")
	h.Capability = r.text("capability")
}

func (h *Header) readThread(r reader) {
	h.MessageID = r.text("message_id")
	h.ConversationID = r.text("conversation_id")
	h.InReplyTo = r.text("in_reply_to")
	h.CausationID = r.text("causation_id")
	h.CorrelationID = r.text("correlation_id")
	h.Seq = r.integer("seq", 1)
	r.need("hop") // a zero hop is a value
	h.Hop = r.count("hop", 0)
	h.Timestamp = r.time("timestamp")
	h.ReplyBy = r.time("reply_by")
	h.Attempt = r.count("attempt", 1)
	h.IdempotencyKey = r.text("idempotency_key")
	h.Priority = r.text("priority")
	if p, ok := r.object("retry_policy"); ok {
		p.closed("max_attempts", "backoff", "jitter")
		p.need("max_attempts", "backoff", "jitter")
		h.RetryPolicy = &RetryPolicy{
			MaxAttempts: p.count("max_attempts", 1), Backoff: p.duration("backoff"), Jitter: p.text("jitter"),
		}
	}
}

func (h *Header) readRest(r reader) {
	if g, ok := r.object("gather"); ok {
		g.closed("id", "stance")
		g.need("id")
		h.Gather = &Gather{ID: g.text("id"), Stance: g.text("stance")}
	}
	if x, ok := r.object("fence"); ok {
		x.closed("id", "proposed")
		x.need("id", "proposed")
		h.Fence = &Fence{ID: x.text("id"), Proposed: x.text("proposed")}
	}
	if l, ok := r.object("labels"); ok {
		l.closed("integrity", "readers", "privacy")
		l.need("integrity")
		h.Labels = Labels{Integrity: Integrity(l.text("integrity")), Readers: l.texts("readers"), Privacy: l.texts("privacy")}
	}
	if p, ok := r.object("provenance"); ok {
		p.closed("model", "prompt", "tools", "input_tokens", "output_tokens")
		h.Provenance = &Provenance{
			Model: p.text("model"), Prompt: p.text("prompt"), Tools: p.texts("tools"),
			InputTokens: p.count("input_tokens", 0), OutputTokens: p.count("output_tokens", 0),
		}
	}
	if t, ok := r.object("trace"); ok {
		t.closed("traceparent", "tracestate")
		t.need("traceparent")
		h.Trace = Trace{Traceparent: t.text("traceparent"), Tracestate: t.text("tracestate")}
	}
	for i, value := range r.list("signatures") {
		if value[0] != '{' {
			r.add("/signatures/"+strconv.Itoa(i), RuleType, "an object", kindOf(value))
			return
		}
		s := newReader(r.faults, "/signatures/"+strconv.Itoa(i), membersOf(value))
		s.closed("protected", "signature", "header")
		s.need("protected", "signature")
		h.Signatures = append(h.Signatures, Signature{
			Protected: s.text("protected"), Signature: s.text("signature"),
			Header: raw(s.get("header", "{", "an object")),
		})
	}
	h.readExtensions(r)
}

func (h *Header) readExtensions(r reader) {
	all, ok := r.object("extensions")
	if !ok || len(all.members) == 0 {
		return
	}
	h.Extensions = make(map[string]Extension, len(all.members))
	for _, m := range all.members {
		uri := m.Name
		x, ok := all.object(uri)
		if !ok {
			return
		}
		x.closed("mandatory", "value")
		x.need("mandatory", "value")
		h.Extensions[uri] = Extension{Mandatory: x.boolean("mandatory"), Value: raw(x.find("value"))}
	}
}

// raw is a value of its own, nil if it is absent.
func raw(value string) json.RawMessage {
	if value == "" {
		return nil
	}
	return json.RawMessage(value)
}

// count reads an integer that fits into an int on every machine.
func (r reader) count(name string, least int64) int {
	n := r.integer(name, least)
	if n > math.MaxInt32 {
		r.add(r.at(name), RuleRange, "at most "+strconv.Itoa(math.MaxInt32), strconv.FormatInt(n, 10))
		return 0
	}
	return int(n)
}

// duration reads whole milliseconds.
func (r reader) duration(name string) time.Duration {
	n := r.integer(name, 0)
	if n > maxDuration.Milliseconds() {
		r.add(r.at(name), RuleRange, "at most a year in milliseconds", strconv.FormatInt(n, 10))
		return 0
	}
	return time.Duration(n) * time.Millisecond
}

func (r reader) time(name string) time.Time {
	s := r.text(name)
	if s == "" {
		return time.Time{}
	}
	t, ok := parseTime(s)
	if !ok {
		r.add(r.at(name), RuleGrammar, "an RFC 3339 time in UTC that ends in Z", quote(s))
	}
	return t
}

func (r reader) salt(name string) []byte {
	s := r.text(name)
	if s == "" {
		return nil
	}
	salt, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || slices.ContainsFunc([]byte(s), func(c byte) bool { return c == '\n' || c == '\r' }) {
		r.add(r.at(name), RuleGrammar, "base64url without padding", quote(s))
	}
	return salt
}
