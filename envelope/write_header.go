package envelope

import "github.com/parley-agents/parley/internal/strictjson"

// writeHead begins an envelope with what changes from one attempt to the next, and the actor before that.
func (h *Header) writeHead(o strictjson.Builder) strictjson.Builder {
	return o.Open().Text("actor", h.Actor).Number("attempt", int64(h.Attempt)).Text("auth", h.Auth)
}

// write appends the canonical form of a settled header and its content.
func (h *Header) write(o strictjson.Builder, content string) strictjson.Builder {
	o = h.writeHead(o).Text("capability", h.Capability).Text("causation_id", h.CausationID)
	o = o.Raw("content", content).Text("content_digest", h.ContentDigest)
	o = o.Text("conversation_id", h.ConversationID).Text("correlation_id", h.CorrelationID)
	if h.Error != nil {
		o = h.Error.write(o)
	}
	o = h.writeExtensions(o)
	if x := h.Fence; x != nil {
		o = o.Name("fence").Open().Text("id", x.ID).Text("proposed", x.Proposed).Shut()
	}
	if g := h.Gather; g != nil {
		o = o.Name("gather").Open().Text("id", g.ID).Text("stance", g.Stance).Shut()
	}
	if g := h.Group; g != nil {
		o = o.Name("group").Open().Text("id", g.ID).Text("members_digest", g.MembersDigest).Number("size", int64(g.Size)).Shut()
	}
	o = o.Number("hop", int64(h.Hop)).Text("idempotency_key", h.IdempotencyKey).Text("in_reply_to", h.InReplyTo)
	o = o.Name("labels").Open().Text("integrity", string(h.Labels.Integrity))
	o = o.Texts("privacy", h.Labels.Privacy).Texts("readers", h.Labels.Readers).Shut()
	o = o.Text("message_id", h.MessageID).Text("performative", string(h.Performative))
	o = o.Text("priority", h.Priority).Text("protocol", h.Protocol)
	if h.Provenance != nil {
		o = h.Provenance.write(o)
	}
	o = o.Text("receipt", string(h.Receipt)).Text("receiver", h.Receiver).Time("reply_by", h.ReplyBy)
	if p := h.RetryPolicy; p != nil {
		o = o.Name("retry_policy").Open().Number("backoff", p.Backoff.Milliseconds())
		o = o.Text("jitter", p.Jitter).Number("max_attempts", int64(p.MaxAttempts)).Shut()
	}
	o = o.Bytes("salt", h.Salt).Text("schema", h.Schema)
	o = o.Text("sender", h.Sender).Number("sender_generation", h.SenderGeneration).Count("seq", h.Seq)
	o = h.writeSignatures(o)
	o = o.Text("status", string(h.Status)).Text("tenant", h.Tenant).Time("timestamp", h.Timestamp)
	o = o.Name("trace").Open().Text("traceparent", h.Trace.Traceparent).Text("tracestate", h.Trace.Tracestate).Shut()
	return o.Text("v", h.V).Shut()
}

func (e *Error) write(o strictjson.Builder) strictjson.Builder {
	o = o.Name("error").Open().Text("code", string(e.Code))
	if d := e.Detail; d != nil {
		o = o.Name("detail").Open().Text("got", d.Got).Text("incident", d.Incident)
		o = o.Text("pointer", d.Pointer).Text("rule", d.Rule).Text("want", d.Want).Shut()
	}
	o = o.Text("reason", e.Reason).Boolean("retriable", e.Retriable)
	return o.Count("retry_after", e.RetryAfter.Milliseconds()).Shut()
}

func (p *Provenance) write(o strictjson.Builder) strictjson.Builder {
	o = o.Name("provenance").Open().Count("input_tokens", int64(p.InputTokens)).Text("model", p.Model)
	o = o.Count("output_tokens", int64(p.OutputTokens)).Text("prompt", p.Prompt)
	return o.Texts("tools", p.Tools).Shut()
}

func (h *Header) writeExtensions(o strictjson.Builder) strictjson.Builder {
	if len(h.Extensions) == 0 {
		return o
	}
	o = o.Name("extensions").Open()
	for _, uri := range h.extensionURIs(make([]string, 0, 8)) {
		x := h.Extensions[uri]
		o = o.Foreign(uri).Open().Boolean("mandatory", x.Mandatory)
		o = append(o.Name("value"), x.Value...).Shut()
	}
	return o.Shut()
}

func (h *Header) writeSignatures(o strictjson.Builder) strictjson.Builder {
	if len(h.Signatures) == 0 {
		return o
	}
	o = append(o.Name("signatures"), '[')
	for i, s := range h.Signatures {
		if i > 0 {
			o = append(o, ',')
		}
		o = o.Open()
		if s.Header != nil {
			o = append(o.Name("header"), s.Header...)
		}
		o = o.Text("protected", s.Protected).Text("signature", s.Signature).Shut()
	}
	return append(o, ']')
}
