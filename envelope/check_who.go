package envelope

import "math"

const (
	agentForm = "agent://authority/name in lower case"
	uuidForm  = "a UUID in lower case"
	wordForm  = "1 to 128 printable ASCII characters"
	hexForm   = "64 lower-case hexadecimal digits"
)

func (h *Header) checkWho(f *faults) {
	f.must("/sender", h.Sender, isAgent, agentForm)
	if h.SenderGeneration == 0 {
		f.need("/sender_generation", false, "every message")
	}
	f.between("/sender_generation", h.SenderGeneration, 1, maxInteger)
	f.must("/receiver", h.Receiver, isAgent, agentForm)
	if g := h.Group; g != nil {
		f.need("/group/id", g.ID != "", "every group")
		f.form("/group/id", g.ID, isWord, wordForm)
		f.between("/group/size", int64(g.Size), 1, math.MaxInt32)
		f.need("/group/members_digest", g.MembersDigest != "", "every group")
		f.form("/group/members_digest", g.MembersDigest, isHexDigest, hexForm)
	}
	f.must("/actor", h.Actor, isActor, "an agent URI or user:<id>")
	f.must("/tenant", h.Tenant, isPart, "an authority")
	if sender, err := ParseURI(h.Sender); err == nil && h.Tenant != sender.Authority {
		f.add("/tenant", RuleMismatch, "the sender's authority", quote(h.Tenant))
	}
	f.form("/auth", h.Auth, isJWS, "a compact JWS of at most 4 KiB")
	if h.is(Request, CFP, Propose) {
		f.need("/capability", h.Capability != "", "request, cfp and propose")
	}
	f.form("/capability", h.Capability, isCapability, "urn:cap:org.path.verb/vM")
}

// maxInteger is the greatest integer that strict JSON carries.
const maxInteger = 1<<53 - 1

func (h *Header) checkThread(f *faults) {
	f.must("/message_id", h.MessageID, isUUID, uuidForm)
	f.must("/conversation_id", h.ConversationID, isUUID, uuidForm)
	if !h.isAct() || h.is(Agree, Refuse, Inform, Failure) && !(h.is(Inform) && h.under("advertise")) {
		f.need("/in_reply_to", h.InReplyTo != "", "answers and receipts")
	}
	f.form("/in_reply_to", h.InReplyTo, isUUID, uuidForm)
	f.form("/causation_id", h.CausationID, isUUID, uuidForm)
	f.must("/correlation_id", h.CorrelationID, isWord, wordForm)
	f.only("/seq", h.Seq != 0, h.isAct(), "acts")
	if h.isAct() {
		f.between("/seq", h.Seq, 1, maxInteger)
	}
	f.between("/hop", int64(h.Hop), 0, math.MaxInt32)
}
