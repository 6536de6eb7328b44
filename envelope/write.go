package envelope

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/parley-agents/parley/internal/strictjson"
)

// object is a canonical JSON object under construction: its members are written in
// the order of their names, and those that are absent are left out.
type object struct {
	out []byte
	// empty: no member was written yet.
	empty bool
}

func newObject(out []byte) object { return object{append(out, '{'), true} }

func (o *object) close() []byte { return append(o.out, '}') }

// name begins a member, whose name is our own or was checked.
func (o *object) name(name string) {
	if !o.empty {
		o.out = append(o.out, ',')
	}
	o.empty = false
	o.out = append(strictjson.AppendString(o.out, name), ':')
}

func (o *object) text(name, value string) {
	if value != "" {
		o.name(name)
		o.out = strictjson.AppendString(o.out, value)
	}
}

func (o *object) number(name string, n int64) {
	o.name(name)
	o.out = strconv.AppendInt(o.out, n, 10)
}

// count is a number that is left out when it is zero.
func (o *object) count(name string, n int64) {
	if n != 0 {
		o.number(name, n)
	}
}

func (o *object) boolean(name string, b bool) {
	o.name(name)
	o.out = strconv.AppendBool(o.out, b)
}

func (o *object) time(name string, t time.Time) {
	if !t.IsZero() {
		o.text(name, t.UTC().Format(time.RFC3339Nano))
	}
}

func (o *object) texts(name string, values []string) {
	if len(values) == 0 {
		return
	}
	o.name(name)
	o.out = append(o.out, '[')
	for i, value := range values {
		if i > 0 {
			o.out = append(o.out, ',')
		}
		o.out = strictjson.AppendString(o.out, value)
	}
	o.out = append(o.out, ']')
}

// raw is a value in its canonical form.
func (o *object) raw(name string, value []byte) {
	if value != nil {
		o.name(name)
		o.out = append(o.out, value...)
	}
}

// inner is a nested object.
func (o *object) inner(name string, write func(*object)) {
	o.name(name)
	in := newObject(o.out)
	write(&in)
	o.out = in.close()
}

// write returns the canonical bytes of a settled header and its content.
func (h *Header) write(content []byte) []byte {
	o := newObject(make([]byte, 0, 1<<10+len(content)))
	o.text("actor", h.Actor)
	o.number("attempt", int64(h.Attempt))
	o.text("auth", h.Auth)
	o.text("capability", h.Capability)
	o.text("causation_id", h.CausationID)
	o.raw("content", content)
	o.text("content_digest", h.ContentDigest)
	o.text("conversation_id", h.ConversationID)
	o.text("correlation_id", h.CorrelationID)
	if h.Error != nil {
		o.inner("error", h.Error.write)
	}
	if len(h.Extensions) > 0 {
		o.inner("extensions", h.writeExtensions)
	}
	if x := h.Fence; x != nil {
		o.inner("fence", func(o *object) {
			o.text("id", x.ID)
			o.text("proposed", x.Proposed)
		})
	}
	if g := h.Gather; g != nil {
		o.inner("gather", func(o *object) {
			o.text("id", g.ID)
			o.text("stance", g.Stance)
		})
	}
	if g := h.Group; g != nil {
		o.inner("group", func(o *object) {
			o.text("id", g.ID)
			o.text("members_digest", g.MembersDigest)
			o.number("size", int64(g.Size))
		})
	}
	o.number("hop", int64(h.Hop))
	o.text("idempotency_key", h.IdempotencyKey)
	o.text("in_reply_to", h.InReplyTo)
	o.inner("labels", func(o *object) {
		o.text("integrity", string(h.Labels.Integrity))
		o.texts("privacy", h.Labels.Privacy)
		o.texts("readers", h.Labels.Readers)
	})
	o.text("message_id", h.MessageID)
	o.text("performative", string(h.Performative))
	o.text("priority", h.Priority)
	o.text("protocol", h.Protocol)
	if h.Provenance != nil {
		o.inner("provenance", h.Provenance.write)
	}
	o.text("receipt", string(h.Receipt))
	o.text("receiver", h.Receiver)
	o.time("reply_by", h.ReplyBy)
	if p := h.RetryPolicy; p != nil {
		o.inner("retry_policy", func(o *object) {
			o.number("backoff", p.Backoff.Milliseconds())
			o.text("jitter", p.Jitter)
			o.number("max_attempts", int64(p.MaxAttempts))
		})
	}
	o.text("salt", base64.RawURLEncoding.EncodeToString(h.Salt))
	o.text("schema", h.Schema)
	o.text("sender", h.Sender)
	o.number("sender_generation", h.SenderGeneration)
	o.count("seq", h.Seq)
	h.writeSignatures(&o)
	o.text("status", string(h.Status))
	o.text("tenant", h.Tenant)
	o.time("timestamp", h.Timestamp)
	o.inner("trace", func(o *object) {
		o.text("traceparent", h.Trace.Traceparent)
		o.text("tracestate", h.Trace.Tracestate)
	})
	o.text("v", h.V)
	return o.close()
}

func (e *Error) write(o *object) {
	o.text("code", string(e.Code))
	if d := e.Detail; d != nil {
		o.inner("detail", func(o *object) {
			o.text("got", d.Got)
			o.text("incident", d.Incident)
			o.text("pointer", d.Pointer)
			o.text("rule", d.Rule)
			o.text("want", d.Want)
		})
	}
	o.text("reason", e.Reason)
	o.boolean("retriable", e.Retriable)
	o.count("retry_after", e.RetryAfter.Milliseconds())
}

func (p *Provenance) write(o *object) {
	o.count("input_tokens", int64(p.InputTokens))
	o.text("model", p.Model)
	o.count("output_tokens", int64(p.OutputTokens))
	o.text("prompt", p.Prompt)
	o.texts("tools", p.Tools)
}

func (h *Header) writeExtensions(o *object) {
	for _, uri := range slices.Sorted(maps.Keys(h.Extensions)) {
		o.inner(uri, func(o *object) {
			o.boolean("mandatory", h.Extensions[uri].Mandatory)
			o.raw("value", h.Extensions[uri].Value)
		})
	}
}

func (h *Header) writeSignatures(o *object) {
	if len(h.Signatures) == 0 {
		return
	}
	o.name("signatures")
	o.out = append(o.out, '[')
	for i, s := range h.Signatures {
		if i > 0 {
			o.out = append(o.out, ',')
		}
		in := newObject(o.out)
		in.raw("header", s.Header)
		in.text("protected", s.Protected)
		in.text("signature", s.Signature)
		o.out = in.close()
	}
	o.out = append(o.out, ']')
}
