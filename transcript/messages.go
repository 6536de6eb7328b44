package transcript

import (
	"fmt"
	"slices"
)

// message is one that is an object, whatever else is wrong with it.
type message struct {
	object
	index int
	path  string
}

// log is what the messages so far came to.
type log struct {
	ids       set             // of all of them, also of those at fault
	sequences map[any]float64 // the last correct number, by sender
	messages  []message
	fence     *message // the first one
	fences    int
}

func (c *checker) checkMessages(most float64) {
	c.log = log{ids: set{}, sequences: map[any]float64{}}
	list, ok := c.trace.at("messages").([]any)
	if !ok {
		c.fault(CodeMessages, "$.messages")
	}
	if float64(len(list)) > most {
		c.fault(CodeMessageLimit, "$.messages")
	}
	for i, value := range list {
		path := fmt.Sprintf("$.messages[%d]", i)
		o, ok := c.object(value, path, messageShape)
		if !ok {
			continue
		}
		m := message{o, i, path}
		c.checkID(m)
		c.checkBinding(m)
		c.checkSender(m)
		c.checkAudience(m)
		c.checkTimes(m)
		c.checkCause(m)
		c.checkContribution(m)
		if !among(m.at("kind"), Request, Response, Contribution, Dissent, GatherResult, CancelRequest, TerminalFence, Ack) {
			c.fault(CodeKind, path+".kind")
		}
		if among(m.at("kind"), TerminalFence) {
			if c.log.fences++; c.log.fences == 1 {
				c.log.fence = &m
			}
		}
		c.log.messages = append(c.log.messages, m)
	}
}

func (c *checker) checkID(m message) {
	id := m.at("messageId")
	if text(id) != "" {
		return
	}
	if c.log.ids.has(id) {
		c.fault(CodeDuplicateMessage, m.path+".messageId")
	}
	c.log.ids.add(id)
}

func (c *checker) checkBinding(m message) {
	if !c.likeTrace(m, "protocolId") || !c.likeTrace(m, "conversationId") {
		c.fault(CodeProtocolBinding, m.path)
	}
	if !c.likeTrace(m, "epoch") {
		c.fault(CodeStaleEpoch, m.path+".epoch") // also one to come
	}
}

func (c *checker) likeTrace(m message, name string) bool { return same(m.at(name), c.trace.at(name)) }

func (c *checker) checkSender(m message) {
	sender := m.at("senderPrincipalRef")
	if !c.known(sender) {
		c.fault(CodeUnknownSender, m.path+".senderPrincipalRef")
	} else if !same(m.at("senderBodyGeneration"), c.participants[sender.(string)].generation) {
		c.fault(CodeStaleGeneration, m.path+".senderBodyGeneration")
	}
	next := 1.0
	if scalar(sender) {
		next += c.log.sequences[sender]
	}
	switch {
	case m.at("senderSequence") != any(next):
		c.fault(CodeSequenceGap, m.path+".senderSequence") // until the expected number comes
	case scalar(sender):
		c.log.sequences[sender] = next
	}
}

func (c *checker) checkAudience(m message) {
	audience, _ := m.at("audience").([]any)
	stranger := func(ref any) bool { return !c.known(ref) }
	if someTexts(m.at("audience")) != "" || slices.ContainsFunc(audience, stranger) || !c.likeTrace(m, "scope") {
		c.fault(CodeAudienceScope, m.path)
		return
	}
	if someTexts(m.at("audienceLabels")) != "" {
		return
	}
	labels := m.at("audienceLabels").([]any)
	for _, ref := range audience {
		accepted := c.participants[ref.(string)].labels
		if len(labels) > len(accepted) || slices.ContainsFunc(labels, func(l any) bool { return !accepted.has(l) }) {
			c.fault(CodeAudienceLabel, m.path+".audienceLabels")
			return
		}
	}
}

// checkTimes takes a date that is none for one that has passed, except the deadline of the conversation.
func (c *checker) checkTimes(m message) {
	observed, expires := millis(m.at("observedAt")), millis(m.at("expiresAt"))
	inTime := observed < expires
	if !inTime || observed > c.deadline {
		c.fault(CodeExpired, m.path+".expiresAt")
	}
}

// checkCause goes by the order of the messages; clocks do not count.
func (c *checker) checkCause(m message) {
	cause := m.at("causationId")
	switch {
	case cause == nil:
	case same(cause, m.at("messageId")):
		c.fault(CodeSelfCausation, m.path+".causationId")
	case !c.log.ids.has(cause):
		c.fault(CodeCausationGap, m.path+".causationId")
	}
}
