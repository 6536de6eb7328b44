package envelope

// MessageType returns the message's type in the vocabulary of production message buses: request, response, error, event,
// cancel, advertise, ack or nack. It is derived, never stored, and several acts share a type: there is no way back.
func (e *Envelope) MessageType() string {
	h := &e.header
	switch h.Receipt {
	case Ack:
		return "ack"
	case Nack, NotUnderstood:
		return "nack"
	}
	switch h.Performative {
	case Request, CFP:
		return "request"
	case Propose:
		if h.under("propose") {
			return "request"
		}
		return "response"
	case Agree:
		if h.isAward() {
			return "request"
		}
		return "event"
	case Refuse, Failure:
		return "error"
	case Cancel:
		return "cancel"
	}
	switch { // informs
	case h.under("advertise"):
		return "advertise"
	case h.Status == Partial:
		return "event"
	}
	return "response"
}

// TraceKind returns the message's kind in the vocabulary of conversation traces: REQUEST, RESPONSE, CONTRIBUTION, DISSENT,
// GATHER_RESULT, CANCEL_REQUEST, TERMINAL_FENCE or ACK. A nack and a not-understood count as RESPONSE, although a trace
// holds none of them: what they answer was not accepted.
func (e *Envelope) TraceKind() string {
	h := &e.header
	gathered := h.Gather != nil
	switch {
	case h.Receipt == Ack:
		return "ACK"
	case h.is(Request, CFP), h.is(Propose) && h.under("propose"), h.isAward():
		return "REQUEST"
	case h.is(Cancel):
		return "CANCEL_REQUEST"
	case h.Fence != nil:
		return "TERMINAL_FENCE"
	case h.is(Inform, Refuse) && gathered && h.Gather.Stance == StanceDissent:
		return "DISSENT"
	case h.is(Inform) && gathered && h.Status == Partial:
		return "CONTRIBUTION"
	case h.is(Inform) && gathered && h.Status == Final:
		return "GATHER_RESULT"
	}
	return "RESPONSE"
}
