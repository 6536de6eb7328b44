package envelope

import "slices"

// Performative says what a message does in its conversation. The set is closed.
type Performative string

// The eight performatives.
const (
	Request Performative = "request" // do this, or tell me this
	CFP     Performative = "cfp"     // who would do this, and how
	Propose Performative = "propose" // I would do this, so
	Agree   Performative = "agree"   // I will; in reply to a proposal: you shall
	Refuse  Performative = "refuse"  // I will not; in reply to a proposal: you need not
	Inform  Performative = "inform"  // this is so
	Failure Performative = "failure" // I tried and could not
	Cancel  Performative = "cancel"  // stop
)

var performatives = [...]Performative{Request, CFP, Propose, Agree, Refuse, Inform, Failure, Cancel}

// Each performative is something that every agent must understand in every state, so there are never more than eight.
const _ = uint(8 - len(performatives))

// Performatives returns all of them, in the order of the constants.
func Performatives() []Performative { return slices.Clone(performatives[:]) }

// Receipt says what became of a message on its way in. Only a runtime makes receipts. The set is closed.
type Receipt string

// The three receipts.
const (
	Ack           Receipt = "ack"            // it is in
	Nack          Receipt = "nack"           // it is not in; the error says why, and whether to send it again
	NotUnderstood Receipt = "not-understood" // it could not be read; the error's detail points at the place
)

var receipts = [...]Receipt{Ack, Nack, NotUnderstood}

// Receipts returns all of them, in the order of the constants.
func Receipts() []Receipt { return slices.Clone(receipts[:]) }

// Status tells the three uses of an inform apart.
type Status string

// The statuses of an inform.
const (
	Final     Status = "final"     // the result
	Partial   Status = "partial"   // an item, progress or a contribution; more may come
	Cancelled Status = "cancelled" // a cancel took effect
)

var statuses = [...]Status{Final, Partial, Cancelled}

// Code is the class of an error, by what the other side can do about it. The set is closed.
type Code string

// The error codes.
const (
	CodeValidation Code = "validation" // the message is wrong
	CodeAuth       Code = "auth"       // the sender may not
	CodeDeadline   Code = "deadline"   // it is too late
	CodeCapacity   Code = "capacity"   // not now: too much to do
	CodeTransient  Code = "transient"  // not now: something is down
	CodePermanent  Code = "permanent"  // not now and not later
	CodeCancelled  Code = "cancelled"  // somebody cancelled it
)

var codes = [...]Code{
	CodeValidation, CodeAuth, CodeDeadline, CodeCapacity, CodeTransient, CodePermanent, CodeCancelled,
}

// Retriable says whether the same message may succeed later.
func (c Code) Retriable() bool { return c == CodeCapacity || c == CodeTransient }

// Integrity says how far the origin of a value is trusted. A value made from several is as trusted as the least of them.
type Integrity string

// The integrity levels, from the most to the least trusted.
const (
	System   Integrity = "system"   // this program
	Operator Integrity = "operator" // who configured it
	User     Integrity = "user"     // the person it works for
	Peer     Integrity = "peer"     // another agent
	Tool     Integrity = "tool"     // what a tool returned
	Web      Integrity = "web"      // anybody
)

var integrities = [...]Integrity{System, Operator, User, Peer, Tool, Web}

// rank grows with distrust; a word outside the set is the least trusted of all.
func (i Integrity) rank() int {
	if r := slices.Index(integrities[:], i); r >= 0 {
		return r
	}
	return len(integrities)
}

// Less reports whether i is less trusted than other.
func (i Integrity) Less(other Integrity) bool { return i.rank() > other.rank() }

// Min returns the less trusted of the two.
func (i Integrity) Min(other Integrity) Integrity {
	if other.Less(i) {
		return other
	}
	return i
}

// Values of the remaining closed members.
var (
	privacyTags = [...]string{"public", "internal", "confidential", "personal", "sensitive", "secret"}
	priorities  = [...]string{"low", "normal", "high"}
	jitters     = [...]string{"none", "full"}
	terminals   = [...]string{"COMPLETED", "BLOCKED", "TIMED_OUT", "CANCELLED", "DISSENT_RECORDED"}
)
