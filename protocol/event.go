package protocol

import (
	"strings"
	"sync"

	"github.com/parley-agents/parley/envelope"
)

// Event is what can happen to an exchange, in the notation of the tables:
// "!act" is sent, "?act" is received, "#timer" fires. An inform with status
// partial is written "inform~", one with status cancelled "inform.c", one that
// carries a fence "fence"; "ack" is the receipt that closes a fence, and
// "?nack!" a final nack of the opening act.
type Event string

// Sending is the event of sending e.
func Sending(e *envelope.Envelope) Event { return eventsOf(word(e)).sent }

// Receiving is the event of receiving e. A nack counts as an event only when
// it is final and answers the opening act; see Nacked.
func Receiving(e *envelope.Envelope) Event { return eventsOf(word(e)).received }

// The events of receipts that end an exchange by refusing its opening act.
const (
	// Nacked is a final nack of the opening act.
	Nacked Event = "?nack!"
	// Misunderstood is a not-understood that answers the opening act.
	Misunderstood Event = "?not-understood"
)

func word(e *envelope.Envelope) string {
	if r := e.ReceiptKind(); r != "" {
		return string(r)
	}
	if e.Act() == envelope.Inform && e.Fences() {
		return fence
	}
	return Utterance{Performative: e.Act(), Status: e.Status()}.word()
}

// bothWays are the events of sending and of receiving the same thing.
type bothWays struct{ sent, received Event }

// known are the events of all that can be sent, by its word.
var known = sync.OnceValue(func() map[string]bothWays {
	words := []string{fence, "inform~", "inform.c"}
	for _, p := range envelope.Performatives() {
		words = append(words, string(p))
	}
	for _, r := range envelope.Receipts() {
		words = append(words, string(r))
	}
	all := make(map[string]bothWays, len(words))
	for _, w := range words {
		all[w] = bothWays{Event("!" + w), Event("?" + w)}
	}
	return all
})

func eventsOf(word string) bothWays { return known()[word] }

const (
	fence        = "fence"
	fenced Event = "?" + fence
	acked  Event = "?ack"
)

// Utterance is an act as the tables know it: its performative and, for an
// inform, its status.
type Utterance struct {
	Performative envelope.Performative
	Status       envelope.Status
}

// sent is the event of sending it.
func (u Utterance) sent() Event { return eventsOf(u.word()).sent }

func (u Utterance) word() string {
	switch {
	case u.Performative != envelope.Inform:
		return string(u.Performative)
	case u.Status == envelope.Partial:
		return "inform~"
	case u.Status == envelope.Cancelled:
		return "inform.c"
	}
	return "inform"
}

func utterance(word string) Utterance {
	switch word {
	case "inform":
		return Utterance{envelope.Inform, envelope.Final}
	case "inform~":
		return Utterance{envelope.Inform, envelope.Partial}
	case "inform.c":
		return Utterance{envelope.Inform, envelope.Cancelled}
	}
	return Utterance{Performative: envelope.Performative(word)}
}

// Sends reports whether the event is an act of the exchange's owner.
func (e Event) Sends() bool { return strings.HasPrefix(string(e), "!") }

// Receives reports whether the event is an act or receipt of the peer.
func (e Event) Receives() bool { return strings.HasPrefix(string(e), "?") }

// Fires reports whether the event is a timer.
func (e Event) Fires() bool { return strings.HasPrefix(string(e), "#") }

// Timer names a timer of an exchange.
type Timer string

// The timers of the shipped protocols.
const (
	// TimerAgree fires when the handler has run long enough that the peer
	// should learn that work has started.
	TimerAgree Timer = "agree"
	// TimerReplyBy fires when the exchange's deadline has passed.
	TimerReplyBy Timer = "reply-by"
	// TimerCancelBy ends the wait for the answer to a cancel.
	TimerCancelBy Timer = "cancel-by"
	// TimerGrace ends the wait for what may still be under way when the
	// deadline of a call or a proposal passes.
	TimerGrace Timer = "grace"
	// TimerLease ends what a participant does for a peer that shows no sign of
	// life.
	TimerLease Timer = "lease"
	// TimerGatherBy fires when the deadline of the gather has passed.
	TimerGatherBy Timer = "gather-by"
	// TimerAckBy ends the wait for the receipt of a fence.
	TimerAckBy Timer = "ack-by"
)

// Firing is the event of the timer firing.
func (t Timer) Firing() Event { return Event("#" + string(t)) }
