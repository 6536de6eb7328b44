package guard

import (
	"errors"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/internal/mutant"
	"github.com/parley-agents/parley/protocol"
)

// The limits of the guard.
const (
	// HopLimit is the deepest delegation that is accepted.
	HopLimit = 8
	// Skew is how far a peer's clock may be behind.
	Skew = time.Second
	// MaxMessages bounds the messages of one exchange.
	MaxMessages = 1000
	// GapRetry is how long a sender should wait after a gap.
	GapRetry = 500 * time.Millisecond
	// lastWord is how long after the deadline acts that may still come late,
	// such as a failure, are heard: the cancel window and the ack window.
	lastWord = protocol.CancelWindow + 10*time.Second
)

// View is what Admit may know about the receiver when it judges a message.
type View struct {
	Now time.Time
	// Self is the receiving agent's URI.
	Self string
	// Caller is the sender as authenticated, "" when authentication failed.
	Caller string
	// Seen is the digest under which the message id was accepted before, nil
	// when it is new.
	Seen *envelope.Digest
	// Exchange is the exchange that the message belongs to, nil when there is
	// none.
	Exchange *protocol.Exchange
	// Messages is how many messages the conversation has on this side, and
	// MaxMessages how many it may have; 0 for MaxMessages in each exchange.
	Messages, MaxMessages int
	// HopLimit is the deepest delegation that is accepted, 0 for HopLimit.
	HopLimit int
	// MaxReplyBy is how far ahead a deadline may lie, 0 for however far.
	MaxReplyBy time.Duration
	// Contract resolves a capability, nil when the receiver does not have it.
	Contract func(capability string) *Contract
}

// Admit judges an envelope that Open has read, check by check in a fixed
// order: identity, duplicate, conversation, generation, sequence, budget,
// correlation, gathering, deadline, hops, legality, content. It returns nil when the
// message may be applied, else the *Violation of the first check that failed.
func Admit(v View, e *envelope.Envelope) error {
	for _, check := range []func(View, *envelope.Envelope) *Violation{
		identity, duplicate, conversation, generation, sequence, budget, correlation, gathering, deadline, hops, legality, content,
	} {
		if bad := check(v, e); bad != nil {
			return bad
		}
	}
	return nil
}

func identity(v View, e *envelope.Envelope) *Violation {
	var cause string
	switch {
	case v.Caller == "" || v.Caller != e.Sender():
		cause = "the sender is not who it says it is"
	case e.Receiver() != v.Self:
		cause = "the message is for another receiver"
	case tenant(e.Sender()) != tenant(v.Self):
		cause = "the sender belongs to another tenant"
	default:
		return nil
	}
	return &Violation{Rule: "identity", Answer: Deny, Code: envelope.CodeAuth, Err: errors.New(cause)}
}

func tenant(uri string) string {
	u, err := envelope.ParseURI(uri)
	if err != nil {
		return ""
	}
	return u.Authority
}

func duplicate(v View, e *envelope.Envelope) *Violation {
	if v.Seen == nil || mutant.Duplicate {
		return nil
	}
	if *v.Seen != e.Digest() {
		return equivocation("another message under the same id was accepted")
	}
	return &Violation{Rule: "duplicate", Answer: Repeat}
}

func equivocation(cause string) *Violation {
	return &Violation{Rule: "equivocation", Answer: Reject, Code: envelope.CodePermanent, Reason: ReasonEquivocation, Err: errors.New(cause)}
}

// conversation checks that the message belongs to an exchange, or may be the
// first of one. A cancel may: it can overtake the act that it cancels. So may a
// fence: what it closes may never have arrived.
func conversation(v View, e *envelope.Envelope) *Violation {
	x := v.Exchange
	switch {
	case e.InReplyTo() == "" || e.Act() == envelope.Cancel || x == nil && fences(e):
		return nil
	case x == nil:
		return mismatch(Deny, "/conversation_id", "a conversation with this sender", "")
	case x.Protocol != e.Protocol():
		return mismatch(Deny, "/protocol", x.Protocol, e.Protocol())
	}
	return nil
}

// correlation checks that an answer answers something. Being in sequence, a
// message that does not still consumes its number.
// A fence closes whatever stands, and answers nothing in particular.
func correlation(v View, e *envelope.Envelope) *Violation {
	if x := v.Exchange; x != nil && x.State == "fencing" && e.ReceiptKind() == envelope.Ack && e.InReplyTo() != x.Fence {
		return mismatch(Reject, "/in_reply_to", "the id of the fence", "")
	}
	if x := v.Exchange; x != nil && overtaken(*x, e) {
		return mismatch(Reject, "/in_reply_to", "the id of the proposal that stands", "")
	}
	if e.InReplyTo() == "" || e.Act() == envelope.Cancel || fences(e) || v.Exchange.Answerable(e.InReplyTo()) {
		return nil
	}
	return mismatch(Reject, "/in_reply_to", "the id of an act of this exchange", "")
}

// overtaken reports whether the message awards a proposal that a later call has
// rejected: only the bidder's latest stands.
func overtaken(x protocol.Exchange, e *envelope.Envelope) bool {
	return x.Protocol == protocol.ContractNetV1 && x.Role == protocol.Participant && !x.Done() &&
		e.Act() == envelope.Agree && len(x.Asked) > 0 && e.InReplyTo() != x.Asked[len(x.Asked)-1]
}

// fences reports whether the message is the fence of a gather.
func fences(e *envelope.Envelope) bool { return e.Act() == envelope.Inform && e.Fences() }

// gathering checks that what a member contributes, and the fence, name the
// gather that the exchange is part of.
func gathering(v View, e *envelope.Envelope) *Violation {
	if v.Exchange == nil || v.Exchange.Gather == "" || e.Act() != envelope.Inform || e.Status() == envelope.Cancelled {
		return nil
	}
	if g, ok := e.Gather(); ok && g.ID == v.Exchange.Gather {
		return nil
	}
	return mismatch(Reject, "/gather/id", "the gather of this exchange", "")
}

func mismatch(a Answer, pointer, want, got string) *Violation {
	return &Violation{Rule: "correlation", Answer: a, Code: envelope.CodePermanent, Reason: ReasonMismatch,
		Pointer: pointer, Want: want, Got: got}
}

func generation(v View, e *envelope.Envelope) *Violation {
	x := v.Exchange
	if x == nil || x.PeerGeneration == 0 || e.SenderGeneration() == x.PeerGeneration {
		return nil
	}
	return &Violation{Rule: "generation", Answer: Deny, Code: envelope.CodePermanent, Reason: ReasonStaleGeneration,
		Pointer: "/sender_generation"}
}

// sequence takes numbers without a gap. A cancel is exempt, and so is what
// comes after one: a cancel closes its sender's sequence. A fence may come
// although what it closes was lost.
func sequence(v View, e *envelope.Envelope) *Violation {
	var received int64
	if v.Exchange != nil {
		received = v.Exchange.Received
	}
	switch {
	case e.ReceiptKind() != "" || e.Act() == envelope.Cancel || v.Exchange != nil && v.Exchange.Closed:
		return nil
	case e.Seq() <= received:
		return equivocation("another message with the same number was accepted")
	case e.Seq() > received+1 && !fences(e):
		return &Violation{Rule: "sequence", Answer: Again, Code: envelope.CodeTransient, Reason: ReasonSequenceGap,
			Pointer: "/seq", RetryAfter: GapRetry}
	}
	return nil
}

// budget bounds what a conversation may cost. There is always room for a cancel
// and a fence.
func budget(v View, e *envelope.Envelope) *Violation {
	have, may := v.Messages, v.MaxMessages
	if may == 0 {
		have, may = 0, MaxMessages
		if v.Exchange != nil {
			have = v.Exchange.Messages
		}
	}
	if have < may || e.ReceiptKind() != "" || e.Act() == envelope.Cancel || fences(e) {
		return nil
	}
	return &Violation{Rule: "budget", Answer: Again, Code: envelope.CodeCapacity, Reason: ReasonBudget, RetryAfter: GapRetry}
}

// opens reports whether the message would open an exchange: what has none and
// cannot open one is left to legality, since there is nothing to decline.
func opens(v View, e *envelope.Envelope) bool {
	p, err := protocol.Lookup(e.Protocol())
	return err == nil && v.Exchange == nil && p.Opens(e.Act())
}

// deadline refuses what comes too late. An act that only says how things
// stand, such as a failure, is heard until the last word, and a fence always.
// What a contract net negotiates brings a deadline of its own; nothing else can
// put off the exchange's.
func deadline(v View, e *envelope.Envelope) *Violation {
	by := e.ReplyBy()
	if v.Exchange == nil {
		switch {
		case !opens(v, e):
			return nil
		case passed(v.Now, by, 0):
			return late(Decline)
		}
		return remote(v, e, Decline)
	}
	if negotiates(e) {
		if far := remote(v, e, Reject); far != nil {
			return far
		}
	}
	if fences(e) {
		return nil
	}
	if x := v.Exchange.ReplyBy; by.IsZero() || !negotiates(e) && !x.IsZero() && x.Before(by) {
		by = x
	}
	grace := lastWord
	if e.Act() == envelope.Agree || e.Act() == envelope.Inform && e.Status() != envelope.Cancelled {
		grace = 0
	}
	if passed(v.Now, by, grace) {
		return late(Reject)
	}
	return nil
}

func late(a Answer) *Violation {
	return &Violation{Rule: "deadline", Answer: a, Code: envelope.CodeDeadline, Reason: ReasonLate, Pointer: "/reply_by"}
}

// remote refuses a deadline that lies too far ahead: whoever sets it would hold
// what stands behind it for as long. It is this receiver's rule and not a matter
// of time, so its code is not deadline, and no message of that deadline will do.
func remote(v View, e *envelope.Envelope, a Answer) *Violation {
	if v.MaxReplyBy == 0 || !e.ReplyBy().After(v.Now.Add(v.MaxReplyBy+Skew)) {
		return nil
	}
	return &Violation{Rule: "deadline", Answer: a, Code: envelope.CodePermanent, Reason: ReasonPolicy, Pointer: "/reply_by",
		Want: "no more than " + v.MaxReplyBy.String() + " ahead"}
}

// negotiates reports whether the act sets a deadline anew: a cfp, a proposal or
// an award of a contract net.
func negotiates(e *envelope.Envelope) bool {
	return e.Protocol() == protocol.ContractNetV1 &&
		(e.Act() == envelope.CFP || e.Act() == envelope.Propose || e.Act() == envelope.Agree)
}

// passed reports whether the deadline lies in the past by more than grace and
// what clocks may differ. A zero deadline never passes.
func passed(now, by time.Time, grace time.Duration) bool {
	return !by.IsZero() && now.After(by.Add(grace+Skew))
}

func hops(v View, e *envelope.Envelope) *Violation {
	limit := v.HopLimit
	if limit == 0 {
		limit = HopLimit
	}
	if !opens(v, e) || e.Hop() <= limit {
		return nil
	}
	return &Violation{Rule: "hop", Answer: Decline, Code: envelope.CodePermanent, Reason: ReasonHopLimit, Pointer: "/hop"}
}

func legality(v View, e *envelope.Envelope) *Violation {
	if mutant.Legality {
		return nil
	}
	x := protocol.Open(e.Protocol(), e.Conversation(), v.Self, e.Sender(), protocol.Participant)
	if v.Exchange != nil {
		x = *v.Exchange
	}
	p, err := protocol.Lookup(x.Protocol)
	if err != nil {
		answer := Misread
		if e.Act() == envelope.Cancel {
			answer = Deny
		}
		return &Violation{Rule: "protocol", Answer: answer, Code: envelope.CodeValidation, Reason: ReasonUnsupportedProtocol,
			Pointer: "/protocol", Got: x.Protocol}
	}
	code := envelope.CodePermanent
	if x.Closed {
		code = envelope.CodeCancelled // it came after its sender's cancel
	}
	if x.Done() && e.ReceiptKind() == "" && e.Act() != envelope.Cancel && !fences(e) {
		reason := ReasonPostTerminal
		if x.Barred() { // its sender was told that it had never come
			code, reason = envelope.CodePermanent, ReasonLapsed
		}
		return &Violation{Rule: "legality", Answer: Reject, Code: code, Reason: reason, Pointer: "/performative"}
	}
	bad := p.Table(x.Role).Judge(x, protocol.Receiving(e))
	if bad == nil {
		return nil
	}
	answer := Reject
	if v.Exchange == nil {
		answer = Deny
	}
	return &Violation{Rule: "legality", Answer: answer, Code: code, Reason: bad.Reason,
		Pointer: "/performative", Got: string(e.Act()), Err: bad}
}
