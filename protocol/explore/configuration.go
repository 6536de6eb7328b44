package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-agents/parley/protocol"
)

// Configuration is what one exchange looks like from above.
type Configuration struct {
	// Initiator and Participant are the states of the two sides.
	Initiator, Participant protocol.State
	// ToParticipant and ToInitiator are the messages under way, the oldest
	// first, with a blank between them.
	ToParticipant, ToInitiator string
}

func (c Configuration) String() string {
	return fmt.Sprintf("%s | %s, under way [%s] and [%s]", c.Initiator, c.Participant, c.ToParticipant, c.ToInitiator)
}

// final reports whether nothing is left to happen: both sides have ended, or
// the participant never heard of the exchange.
func (c Configuration) final() bool {
	ended := c.Participant.Done() || c.Participant == protocol.Start
	return c.Initiator.Done() && ended && c.ToParticipant == "" && c.ToInitiator == ""
}

// side is the state of the role, and what it has under way to the other side
// and the other side to it.
func (c Configuration) side(r protocol.Role) (state protocol.State, out, in string) {
	if r == protocol.Initiator {
		return c.Initiator, c.ToParticipant, c.ToInitiator
	}
	return c.Participant, c.ToInitiator, c.ToParticipant
}

// config is a configuration and what tells two endings of it apart.
type config struct {
	Configuration
	by     protocol.Event
	gave   protocol.Event
	fenced protocol.State
}

// joint is how both sides of a final configuration ended.
func (c config) joint() Joint {
	return Joint{Initiator: c.Initiator, By: c.by, Gave: c.gave, Fenced: c.fenced, Participant: c.Participant}
}

// with is c after the role took a row and has these messages under way.
func (c config) with(r protocol.Role, row protocol.Row, out string) config {
	if r == protocol.Participant {
		c.Participant, c.ToInitiator = row.To, out
		return c
	}
	switch {
	case row.From == "open":
		c.gave = row.On
	case row.On == "!fence":
		c.fenced = row.From
	}
	c.Initiator, c.ToParticipant = row.To, out
	if row.To.Done() {
		c.by = row.On
	}
	return c
}

// without is c without the i-th message for the role.
func (c config) without(r protocol.Role, i int) config {
	_, _, in := c.side(r)
	in = strings.Join(slices.Delete(words(in), i, i+1), " ")
	if r == protocol.Initiator {
		c.ToInitiator = in
	} else {
		c.ToParticipant = in
	}
	return c
}

func words(channel string) []string { return strings.Fields(channel) }

func push(channel, word string) string { return strings.TrimSpace(channel + " " + word) }

// Fate is what became of a message instead of being received.
type Fate string

// What can become of a message.
const (
	// Lost: the channel dropped it.
	Lost Fate = "lost"
	// TurnedDown: the receiver's guard refused an opening act for good, before
	// there was an exchange, and answered with a final nack.
	TurnedDown Fate = "turned down"
)

// Step is one thing that happens: a role sends, receives, or has a timer fire,
// or a message meets another fate.
type Step struct {
	Role  protocol.Role
	Event protocol.Event
	// Fate is empty where the event happened.
	Fate Fate
	// Place is where in its channel the message stood, 0 being the oldest.
	Place int
}

func (s Step) String() string {
	text := fmt.Sprintf("%s %s", s.Role, s.Event)
	if s.Fate != "" {
		text += " (" + string(s.Fate) + ")"
	}
	return text
}
