package protocol

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/parley-agents/parley/envelope"
)

// Contribution is what one member answered to a gather's opening act.
type Contribution struct {
	Sender  string
	Seq     int64
	Message string // message id
	Digest  envelope.Digest
	// Dissents says that the member disagrees; Abstains that it refused, failed
	// or did not understand instead of contributing.
	Dissents, Abstains bool
	// Value is the content in canonical JSON (RFC 8785), as an envelope has it.
	Value json.RawMessage
}

// Contribute is the contribution that a member's answer makes.
func Contribute(e *envelope.Envelope) Contribution {
	g, _ := e.Gather()
	return Contribution{
		Sender: e.Sender(), Seq: e.Seq(), Message: e.ID(), Digest: e.Digest(), Value: e.Content(),
		Dissents: g.Stance == envelope.StanceDissent,
		Abstains: e.Act() != envelope.Inform,
	}
}

// canonically orders messages by sender URI bytes, then number.
func canonically(a, b Contribution) int {
	return cmp.Or(strings.Compare(a.Sender, b.Sender), cmp.Compare(a.Seq, b.Seq), strings.Compare(a.Message, b.Message))
}

// Admit judges a contribution that arrives now, beside those accepted before:
// it must come from a member, be that member's first, and not be late. Its
// errors are *GatherError with the rule "member", "twice" or "late".
func (g Gather) Admit(accepted []Contribution, c Contribution, now time.Time) error {
	switch {
	case !g.member(c.Sender):
		return g.fault("member", "a member", c.Sender)
	case now.After(g.Deadline):
		return g.fault("late", "an answer by "+g.Deadline.UTC().Format(time.RFC3339Nano), now.UTC().Format(time.RFC3339Nano))
	case slices.ContainsFunc(accepted, func(a Contribution) bool { return a.Sender == c.Sender }):
		return g.fault("twice", "one answer of each member", "another of "+c.Sender)
	}
	return nil
}

// Standing is how far a gather has come.
type Standing string

// The standings of a gather.
const (
	// StandingOpen: it waits for more.
	StandingOpen Standing = "OPEN"
	// StandingSatisfied: its policy is met.
	StandingSatisfied Standing = "SATISFIED"
	// StandingPartial: its policy was not met, and nothing more is awaited.
	StandingPartial Standing = "PARTIAL"
)

// Decision is what a gather came to. Silence is not assent: a member from whom
// nothing was accepted is missing and nothing else.
type Decision struct {
	Gather   string
	Standing Standing
	// Inputs are the contributions and Dissent the disagreements, each in
	// canonical order; Abstained and Missing are sorted URIs.
	Inputs, Dissent    []Contribution
	Abstained, Missing []string
	// KeepsDissent says that dissent is part of what the gather is for.
	KeepsDissent bool
	// TimedOut says that the deadline passed before every member answered.
	TimedOut bool
}

// Decide looks at what was accepted up to now. It is pure and the order of
// accepted does not matter. Under QUORUM and FIRST_SUCCESS the decision
// depends on what had arrived when it was made: whoever makes it records it.
// Dissent counts where the policy is ALL and the gather keeps it.
func (g Gather) Decide(accepted []Contribution, now time.Time) Decision {
	d := Decision{Gather: g.ID, KeepsDissent: g.keepsDissent()}
	heard := map[string]bool{}
	for _, c := range slices.SortedFunc(slices.Values(accepted), canonically) {
		if heard[c.Sender] || !g.member(c.Sender) {
			continue
		}
		heard[c.Sender] = true
		switch {
		case c.Dissents:
			d.Dissent = append(d.Dissent, c)
		case c.Abstains:
			d.Abstained = append(d.Abstained, c.Sender)
		default:
			d.Inputs = append(d.Inputs, c)
		}
	}
	for _, m := range g.Members {
		if !heard[m] {
			d.Missing = append(d.Missing, m)
		}
	}
	passed := !now.Before(g.Deadline)
	switch {
	case g.met(d):
		d.Standing = StandingSatisfied
	case passed || len(d.Missing) == 0:
		d.Standing, d.TimedOut = StandingPartial, len(d.Missing) > 0
	default:
		d.Standing = StandingOpen
	}
	return d
}

func (g Gather) met(d Decision) bool {
	switch g.Policy {
	case PolicyAll:
		n := len(d.Inputs)
		if d.KeepsDissent {
			n += len(d.Dissent)
		}
		return n == len(g.Members)
	case PolicyQuorum:
		return len(d.Inputs) >= g.Quorum
	}
	return len(d.Inputs) > 0
}

// Answered are the members whose contribution, dissent or abstention was
// accepted, sorted: those that must acknowledge the fence.
func (d Decision) Answered() []string {
	list := slices.Clone(d.Abstained)
	for _, c := range slices.Concat(d.Inputs, d.Dissent) {
		list = append(list, c.Sender)
	}
	slices.Sort(list)
	return list
}

// Unresolved are the members that the gather still needed when it ended.
func (d Decision) Unresolved() []string {
	if d.Standing == StandingSatisfied {
		return nil
	}
	return slices.Clone(d.Missing)
}

// Reduction is what the decision came to, for the record: its result, and how
// the fence proposes that the gather ended.
func (d Decision) Reduction(r Result, cancelAsked bool) Reduction {
	proposed := d.Proposed(cancelAsked)
	if proposed == "" {
		proposed = TerminalBlocked
	}
	return Reduction{Result: r, Proposed: proposed, Answered: append([]string{}, d.Answered()...)}
}

// Proposed is the terminal that the fence proposes, before its receipts are
// in; "" while the gather is open and nobody asked for a cancel.
func (d Decision) Proposed(cancelAsked bool) Terminal {
	switch {
	case d.Standing == StandingSatisfied && d.KeepsDissent && len(d.Dissent) > 0:
		return TerminalDissentRecorded
	case d.Standing == StandingSatisfied:
		return TerminalCompleted
	case cancelAsked:
		return TerminalCancelled
	case d.TimedOut:
		return TerminalTimedOut
	case d.Standing == StandingPartial:
		return TerminalBlocked
	}
	return ""
}
