package protocol

import (
	"slices"

	"github.com/parley-agents/parley/envelope"
)

// Terminal is how a conversation ended. It says whether what was declared was
// met, and nothing about truth, authority or effects outside.
type Terminal string

// The terminals of a conversation. The set is closed.
const (
	TerminalCompleted       Terminal = "COMPLETED"
	TerminalBlocked         Terminal = "BLOCKED"
	TerminalTimedOut        Terminal = "TIMED_OUT"
	TerminalCancelled       Terminal = "CANCELLED"
	TerminalDissentRecorded Terminal = "DISSENT_RECORDED"
)

// Conclusion is all that the terminal of a conversation follows from.
type Conclusion struct {
	// Exchanges are those of the conversation's initiator.
	Exchanges []Exchange
	// Awards is how many awards a contract net asks for, 0 meaning one.
	Awards int
	// Reduction is what a gather was fenced with; nil in other protocols.
	Reduction *Reduction
}

// Terminal is how the conversation ended; false while an exchange is live. What
// was declared comes first, then a cancel that was asked for, then the clock.
func (c Conclusion) Terminal() (Terminal, bool) {
	if len(c.Exchanges) == 0 || slices.ContainsFunc(c.Exchanges, func(x Exchange) bool { return !x.Done() }) {
		return "", false
	}
	switch {
	case c.Reduction != nil:
		return c.gathered(), true
	case c.met():
		return TerminalCompleted, true
	case slices.ContainsFunc(c.Exchanges, func(x Exchange) bool { return x.CancelAsked }):
		return TerminalCancelled, true
	case slices.ContainsFunc(c.Exchanges, late):
		return TerminalTimedOut, true
	}
	return TerminalBlocked, true
}

// gathered is what the fence proposed, unless a receipt that it needs is
// missing.
func (c Conclusion) gathered() Terminal {
	proposed := c.Reduction.Proposed
	silent := slices.ContainsFunc(c.Exchanges, func(x Exchange) bool {
		_, needed := slices.BinarySearch(c.Reduction.Answered, x.Peer)
		return needed && x.Outcome() != Closed
	})
	if proposed == "" || silent && (proposed == TerminalCompleted || proposed == TerminalDissentRecorded) {
		return TerminalBlocked
	}
	return proposed
}

// met reports whether the exchanges did what the conversation was opened for.
func (c Conclusion) met() bool {
	done, need := 0, len(c.Exchanges)
	for _, x := range c.Exchanges {
		if x.Outcome().OK() {
			done++
		}
		if x.Protocol == ContractNetV1 {
			need = max(1, c.Awards)
		}
	}
	return done >= need
}

// late reports whether time ended the exchange.
func late(x Exchange) bool {
	switch x.Outcome() {
	case Expired, TimedOut, Unknown:
		return true
	}
	return x.Lapsed || x.Error != nil && x.Error.Code == envelope.CodeDeadline
}
