package transcript

import "slices"

func (c *checker) checkTerminal() {
	t, ok := c.object(c.trace.at("terminal"), "$.terminal", terminalShape)
	if !ok {
		return
	}
	if !among(t.at("state"), Completed, Blocked, TimedOut, Cancelled, DissentRecorded) {
		c.fault(CodeTerminal, "$.terminal.state")
	}
	required := readRefs(t.at("requiredAcknowledgements"))
	received := readRefs(t.at("receivedAcknowledgements"))
	unresolved := readRefs(t.at("unresolvedParticipants"))
	for _, list := range []refs{required, received, unresolved} {
		c.checkRefs(list)
	}
	if !received.within(required) {
		c.fault(CodeAckDeclaration, "$.terminal.receivedAcknowledgements")
	}
	c.checkFence(t)
	c.checkEvidence(received, c.checkAcks(t))
	if among(t.at("state"), Completed) {
		c.checkCompleted(required, received, unresolved)
	}
}

// refs is a list of the terminal. What is missing or empty in any way (null, false, 0, "") names nobody. A text names
// nobody either, but each character of it is a ref that nobody has. Of anything else nothing can be said.
type refs struct {
	list   []any
	spread string
	broken bool
}

func readRefs(value any) refs {
	switch v := value.(type) {
	case []any:
		return refs{list: v}
	case string:
		return refs{spread: v}
	case nil, absent:
		return refs{}
	}
	return refs{broken: value != false && value != 0.0}
}

// within tells whether r names nobody whom other does not, as far as that can be said.
func (r refs) within(other refs) bool {
	if r.broken || other.broken {
		return true
	}
	known := newSet(other.list...)
	return !slices.ContainsFunc(r.list, func(ref any) bool { return !known.has(ref) })
}

// checkRefs reports each ref that is no participant's, all at one place.
func (c *checker) checkRefs(r refs) {
	unknown := 0
	for _, ref := range r.list {
		if !c.known(ref) {
			unknown++
		}
	}
	for _, char := range r.spread {
		if !c.known(string(char)) {
			unknown++
		}
	}
	for range unknown {
		c.fault(CodeUnknownParticipantRef, "$.terminal")
	}
}

func (c *checker) checkFence(t object) {
	if c.log.fences != 1 {
		c.fault(CodeTerminalFence, "$.messages")
	}
	if c.log.fence == nil || !same(c.log.fence.at("messageId"), t.at("fenceMessageId")) {
		c.fault(CodeTerminalFence, "$.terminal.fenceMessageId")
	}
}

// checkAcks judges what comes after the first fence, and every ACK. It returns who acknowledged the fence. Without a
// fence nothing comes before or after it.
func (c *checker) checkAcks(t object) set {
	acknowledged := set{}
	for _, m := range c.log.messages {
		after := c.log.fence == nil || m.index > c.log.fence.index
		switch {
		case !among(m.at("kind"), Ack):
			if after && c.log.fence != nil {
				c.fault(CodePostTerminalMessage, m.path)
			}
		case !after || !same(m.at("causationId"), t.at("fenceMessageId")):
			c.fault(CodeAckBinding, m.path)
		default:
			acknowledged.add(m.at("senderPrincipalRef"))
		}
	}
	return acknowledged
}

func (c *checker) checkEvidence(received refs, acknowledged set) {
	for _, ref := range received.list {
		if !acknowledged.has(ref) {
			c.fault(CodeAckEvidence, "$.terminal.receivedAcknowledgements")
		}
	}
}

// checkCompleted goes by the acknowledgements that the terminal declares, not by those in the messages.
func (c *checker) checkCompleted(required, received, unresolved refs) {
	if len(unresolved.list) > 0 || unresolved.spread != "" {
		c.fault(CodeUnresolvedCompleted, "$.terminal.unresolvedParticipants")
	}
	if !required.within(received) {
		c.fault(CodeAckRequired, "$.terminal.receivedAcknowledgements")
	}
	for id, g := range c.gathers {
		if !g.complete() {
			c.fault(CodeGatherIncomplete, "$.gathers."+id)
		}
	}
}
