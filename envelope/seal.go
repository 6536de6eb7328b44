package envelope

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"github.com/parley-agents/parley/internal/strictjson"
)

// Version is the envelope version that Seal writes.
const Version = "1.0"

// DefaultProtocol is what an absent protocol reads as.
const DefaultProtocol = "request/v1"

// Seal makes an envelope from a header and, on an act, a content: any strict JSON object, which is brought into canonical
// form. A receipt has a nil content. Seal fills V, Protocol, Actor (the sender), Tenant (the sender's authority) and
// Attempt where they are zero, and always ContentDigest; the rest is the caller's, ids, times and salt included. It
// keeps no reference to its arguments. Errors are *ShapeError: whatever Seal makes, Decode accepts.
func Seal(h Header, content []byte) (*Envelope, error) {
	h = h.clone()
	h.fill()
	if content != nil {
		var err *ShapeError
		if content, err = canonical("/content", content, strictjson.Limits{}); err != nil {
			return nil, err
		}
		if h.isAct() {
			h.ContentDigest = contentDigest(h.Salt, content)
		}
	}
	if err := h.check(content); err != nil {
		return nil, err
	}
	data, err := strictjson.Marshal(h.wire(content))
	if err != nil {
		var strict *strictjson.Error
		if errors.As(err, &strict) {
			return nil, fromStrict(strict)
		}
		return nil, &ShapeError{Rule: strictjson.RuleSyntax, Want: "strict JSON", Err: err}
	}
	return Decode(data)
}

func (h *Header) fill() {
	fill(&h.V, Version)
	fill(&h.Protocol, DefaultProtocol)
	fill(&h.Actor, h.Sender)
	if sender, err := ParseURI(h.Sender); err == nil {
		fill(&h.Tenant, sender.Authority)
	}
	fill(&h.Attempt, 1)
}

func fill[T comparable](member *T, value T) {
	var zero T
	if *member == zero {
		*member = value
	}
}

// object is a JSON object under construction; absent members are left out.
type object map[string]any

func (o object) text(name, value string) {
	if value != "" {
		o[name] = value
	}
}

func (o object) time(name string, t time.Time) {
	if !t.IsZero() {
		o[name] = t.UTC().Format(time.RFC3339Nano)
	}
}

func (o object) texts(name string, values []string) {
	if len(values) > 0 {
		o[name] = values
	}
}

func (o object) raw(name string, value []byte) {
	if value != nil {
		o[name] = json.RawMessage(value)
	}
}

// milliseconds rounds up, so that a short wait does not become none.
func milliseconds(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }

// wire returns the members of a header that passed check.
func (h *Header) wire(content []byte) object {
	o := object{
		"sender_generation": h.SenderGeneration, "hop": h.Hop, "attempt": h.Attempt,
		"labels": h.Labels.wire(), "trace": h.Trace.wire(),
	}
	for name, value := range map[string]string{
		"v": h.V, "performative": string(h.Performative), "receipt": string(h.Receipt), "protocol": h.Protocol,
		"schema": h.Schema, "content_digest": h.ContentDigest, "salt": base64.RawURLEncoding.EncodeToString(h.Salt),
		"status": string(h.Status), "sender": h.Sender, "receiver": h.Receiver, "actor": h.Actor, "tenant": h.Tenant,
		"auth": h.Auth, "capability": h.Capability, "message_id": h.MessageID, "conversation_id": h.ConversationID,
		"in_reply_to": h.InReplyTo, "causation_id": h.CausationID, "correlation_id": h.CorrelationID,
		"idempotency_key": h.IdempotencyKey, "priority": h.Priority,
	} {
		o.text(name, value)
	}
	o.raw("content", content)
	o.time("timestamp", h.Timestamp)
	o.time("reply_by", h.ReplyBy)
	if h.Seq != 0 {
		o["seq"] = h.Seq
	}
	if h.Error != nil {
		o["error"] = h.Error.wire()
	}
	if g := h.Group; g != nil {
		o["group"] = object{"id": g.ID, "size": g.Size, "members_digest": g.MembersDigest}
	}
	if p := h.RetryPolicy; p != nil {
		o["retry_policy"] = object{"max_attempts": p.MaxAttempts, "backoff": milliseconds(p.Backoff), "jitter": p.Jitter}
	}
	if g := h.Gather; g != nil {
		gather := object{"id": g.ID}
		gather.text("stance", g.Stance)
		o["gather"] = gather
	}
	if x := h.Fence; x != nil {
		o["fence"] = object{"id": x.ID, "proposed": x.Proposed}
	}
	if h.Provenance != nil {
		o["provenance"] = h.Provenance.wire()
	}
	if len(h.Signatures) > 0 {
		signatures := make([]object, len(h.Signatures))
		for i, s := range h.Signatures {
			signatures[i] = object{"protected": s.Protected, "signature": s.Signature}
			signatures[i].raw("header", s.Header)
		}
		o["signatures"] = signatures
	}
	if len(h.Extensions) > 0 {
		extensions := object{}
		for uri, x := range h.Extensions {
			extensions[uri] = object{"mandatory": x.Mandatory, "value": x.Value}
		}
		o["extensions"] = extensions
	}
	return o
}

func (e *Error) wire() object {
	o := object{"code": e.Code, "retriable": e.Retriable}
	o.text("reason", e.Reason)
	if e.RetryAfter > 0 {
		o["retry_after"] = milliseconds(e.RetryAfter)
	}
	if d := e.Detail; d != nil {
		detail := object{}
		detail.text("pointer", d.Pointer)
		detail.text("rule", d.Rule)
		detail.text("want", d.Want)
		detail.text("got", d.Got)
		detail.text("incident", d.Incident)
		o["detail"] = detail
	}
	return o
}

func (l Labels) wire() object {
	o := object{"integrity": l.Integrity}
	o.texts("readers", l.Readers)
	o.texts("privacy", l.Privacy)
	return o
}

func (t Trace) wire() object {
	o := object{"traceparent": t.Traceparent}
	o.text("tracestate", t.Tracestate)
	return o
}

func (p *Provenance) wire() object {
	o := object{}
	o.text("model", p.Model)
	o.text("prompt", p.Prompt)
	o.texts("tools", p.Tools)
	if p.InputTokens > 0 {
		o["input_tokens"] = p.InputTokens
	}
	if p.OutputTokens > 0 {
		o["output_tokens"] = p.OutputTokens
	}
	return o
}
