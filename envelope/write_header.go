package envelope

// writeHead begins an envelope with what changes from one attempt to the next, and the actor before that.
func (h *Header) writeHead(o object) object {
	return o.open().text("actor", h.Actor).number("attempt", int64(h.Attempt)).text("auth", h.Auth)
}

// write appends the canonical form of a settled header and its content.
func (h *Header) write(o object, content string) object {
	o = h.writeHead(o).text("capability", h.Capability).text("causation_id", h.CausationID)
	o = o.raw("content", content).text("content_digest", h.ContentDigest)
	o = o.text("conversation_id", h.ConversationID).text("correlation_id", h.CorrelationID)
	if h.Error != nil {
		o = h.Error.write(o)
	}
	o = h.writeExtensions(o)
	if x := h.Fence; x != nil {
		o = o.name("fence").open().text("id", x.ID).text("proposed", x.Proposed).shut()
	}
	if g := h.Gather; g != nil {
		o = o.name("gather").open().text("id", g.ID).text("stance", g.Stance).shut()
	}
	if g := h.Group; g != nil {
		o = o.name("group").open().text("id", g.ID).text("members_digest", g.MembersDigest).number("size", int64(g.Size)).shut()
	}
	o = o.number("hop", int64(h.Hop)).text("idempotency_key", h.IdempotencyKey).text("in_reply_to", h.InReplyTo)
	o = o.name("labels").open().text("integrity", string(h.Labels.Integrity))
	o = o.texts("privacy", h.Labels.Privacy).texts("readers", h.Labels.Readers).shut()
	o = o.text("message_id", h.MessageID).text("performative", string(h.Performative))
	o = o.text("priority", h.Priority).text("protocol", h.Protocol)
	if h.Provenance != nil {
		o = h.Provenance.write(o)
	}
	o = o.text("receipt", string(h.Receipt)).text("receiver", h.Receiver).time("reply_by", h.ReplyBy)
	if p := h.RetryPolicy; p != nil {
		o = o.name("retry_policy").open().number("backoff", p.Backoff.Milliseconds())
		o = o.text("jitter", p.Jitter).number("max_attempts", int64(p.MaxAttempts)).shut()
	}
	o = o.bytes("salt", h.Salt).text("schema", h.Schema)
	o = o.text("sender", h.Sender).number("sender_generation", h.SenderGeneration).count("seq", h.Seq)
	o = h.writeSignatures(o)
	o = o.text("status", string(h.Status)).text("tenant", h.Tenant).time("timestamp", h.Timestamp)
	o = o.name("trace").open().text("traceparent", h.Trace.Traceparent).text("tracestate", h.Trace.Tracestate).shut()
	return o.text("v", h.V).shut()
}

func (e *Error) write(o object) object {
	o = o.name("error").open().text("code", string(e.Code))
	if d := e.Detail; d != nil {
		o = o.name("detail").open().text("got", d.Got).text("incident", d.Incident)
		o = o.text("pointer", d.Pointer).text("rule", d.Rule).text("want", d.Want).shut()
	}
	o = o.text("reason", e.Reason).boolean("retriable", e.Retriable)
	return o.count("retry_after", e.RetryAfter.Milliseconds()).shut()
}

func (p *Provenance) write(o object) object {
	o = o.name("provenance").open().count("input_tokens", int64(p.InputTokens)).text("model", p.Model)
	o = o.count("output_tokens", int64(p.OutputTokens)).text("prompt", p.Prompt)
	return o.texts("tools", p.Tools).shut()
}

func (h *Header) writeExtensions(o object) object {
	if len(h.Extensions) == 0 {
		return o
	}
	o = o.name("extensions").open()
	for _, uri := range h.extensionURIs(make([]string, 0, 8)) {
		x := h.Extensions[uri]
		o = o.foreign(uri).open().boolean("mandatory", x.Mandatory)
		o = append(o.name("value"), x.Value...).shut()
	}
	return o.shut()
}

func (h *Header) writeSignatures(o object) object {
	if len(h.Signatures) == 0 {
		return o
	}
	o = append(o.name("signatures"), '[')
	for i, s := range h.Signatures {
		if i > 0 {
			o = append(o, ',')
		}
		o = o.open()
		if s.Header != nil {
			o = append(o.name("header"), s.Header...)
		}
		o = o.text("protected", s.Protected).text("signature", s.Signature).shut()
	}
	return append(o, ']')
}
