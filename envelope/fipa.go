package envelope

import (
	"bytes"
	"maps"
	"slices"
	"time"
)

// Parameters of a FIPA ACL message (FIPA SC00061, table 1) that an envelope has a counterpart for.
const (
	fipaSender         = "sender"
	fipaReceiver       = "receiver"
	fipaContent        = "content"
	fipaLanguage       = "language"
	fipaOntology       = "ontology"
	fipaProtocol       = "protocol"
	fipaConversationID = "conversation-id"
	fipaReplyWith      = "reply-with"
	fipaInReplyTo      = "in-reply-to"
	fipaReplyBy        = "reply-by"
)

// fipaJSON is the only content language there is.
const fipaJSON = "json"

// FIPA returns the message's parameters under their FIPA ACL names. The ontology is the schema, reply-with the message
// id; parameters that the message does not have are left out.
func (e *Envelope) FIPA() map[string]string {
	h := &e.header
	m := map[string]string{}
	set := func(name, value string) {
		if value != "" {
			m[name] = value
		}
	}
	set(fipaSender, h.Sender)
	set(fipaReceiver, h.Receiver)
	set(fipaProtocol, h.Protocol)
	set(fipaOntology, h.Schema)
	set(fipaConversationID, h.ConversationID)
	set(fipaReplyWith, h.MessageID)
	set(fipaInReplyTo, h.InReplyTo)
	if e.content != "" {
		m[fipaContent] = e.content
		m[fipaLanguage] = fipaJSON
	}
	if !h.ReplyBy.IsZero() {
		m[fipaReplyBy] = h.ReplyBy.UTC().Format(time.RFC3339Nano)
	}
	return m
}

// FromFIPA is the inverse of [Envelope.FIPA]: the members of a header that the parameters name, and the content, nil if
// there is none. It refuses parameters it does not know, a language other than json and a reply-by that is no RFC 3339
// time in UTC, with a *ShapeError; the rest is for Seal to check, once the caller has filled in what FIPA does not have.
func FromFIPA(parameters map[string]string) (Header, []byte, error) {
	f := &faults{}
	h := Header{}
	var content []byte
	texts := map[string]*string{
		fipaSender: &h.Sender, fipaReceiver: &h.Receiver, fipaProtocol: &h.Protocol, fipaOntology: &h.Schema,
		fipaConversationID: &h.ConversationID, fipaReplyWith: &h.MessageID, fipaInReplyTo: &h.InReplyTo,
	}
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		value := parameters[name]
		switch name {
		case fipaContent:
			content = bytes.Clone([]byte(value))
		case fipaLanguage:
			if value != fipaJSON {
				f.add("/language", RuleEnum, fipaJSON, quote(value))
			}
		case fipaReplyBy:
			t, ok := parseTime(value)
			if !ok {
				f.add("/reply-by", RuleGrammar, "an RFC 3339 time in UTC that ends in Z", quote(value))
			}
			h.ReplyBy = t
		default:
			member, known := texts[name]
			if !known {
				f.add(within("", name), RuleUnknown, "only FIPA parameters with a counterpart", quote(name))
				continue
			}
			*member = value
		}
	}
	if f.first != nil {
		return Header{}, nil, f.first
	}
	return h, content, nil
}
