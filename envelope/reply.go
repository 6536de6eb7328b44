package envelope

// Reply returns the header of an answer with the given performative: the parties are swapped, in_reply_to names e, and
// conversation, correlation, protocol, capability, trace and hop are e's. The answer is made on behalf of the one who
// answers, so actor and tenant are the new sender's. What the answer says, and its own id, number and times, are left to
// the caller.
func (e *Envelope) Reply(p Performative) Header {
	h := Header{
		V:              Version,
		Performative:   p,
		Protocol:       e.header.Protocol,
		Sender:         e.header.Receiver,
		Receiver:       e.header.Sender,
		Actor:          e.header.Receiver,
		Capability:     e.header.Capability,
		ConversationID: e.header.ConversationID,
		InReplyTo:      e.header.MessageID,
		CorrelationID:  e.header.CorrelationID,
		Hop:            e.header.Hop,
		Trace:          e.header.Trace,
	}
	if sender, err := ParseURI(h.Sender); err == nil {
		h.Tenant = sender.Authority
	}
	return h
}

// Receipt returns the header of a receipt for e, made like that of a [Envelope.Reply]. Its error is nil on an ack.
func (e *Envelope) Receipt(r Receipt, err *Error) Header {
	h := e.Reply("")
	h.Receipt = r
	h.Error = err
	return h
}
