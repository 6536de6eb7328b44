package transcript

import "fmt"

// participant is what messages are judged by.
type participant struct {
	generation any
	labels     set
}

func (c *checker) checkParticipants() {
	c.participants = map[string]participant{}
	list, ok := c.trace.at("participants").([]any)
	if !ok || len(list) == 0 {
		c.fault(CodeParticipants, "$.participants")
		return
	}
	for i, value := range list {
		path := fmt.Sprintf("$.participants[%d]", i)
		p, ok := c.object(value, path, participantShape)
		if !ok {
			continue
		}
		ref := p.at("principalRef")
		switch {
		case text(ref) != "":
		case c.known(ref):
			c.fault(CodeDuplicateParticipant, path+".principalRef") // the first one counts
		default:
			labels, _ := p.at("audiences").([]any)
			c.participants[ref.(string)] = participant{p.at("bodyGeneration"), newSet(labels...)}
		}
	}
}

// known tells whether a value is the ref of a participant.
func (c *checker) known(ref any) bool {
	s, ok := ref.(string)
	if !ok {
		return false
	}
	_, ok = c.participants[s]
	return ok
}
