package protocol

import (
	"time"

	"github.com/parley-agents/parley/envelope"
)

// OutcomeName is the name of the built-in contract under which every agent
// tells what became of an exchange that the asker opened with it. It reads, and
// the runtime answers it: no handler and no model ever sees the question.
const OutcomeName = "parley.outcome/v1"

// OutcomeAsked is that question. It names no sender: an agent tells what became
// of exchanges that the asker itself opened, and of no other.
type OutcomeAsked struct {
	Conversation string `json:"conversation" jsonschema:"format=uuid"`
	// Protocol is the one that the exchange follows.
	Protocol string `json:"protocol" jsonschema:"pattern=^[a-z0-9-]+/v[1-9][0-9]*$,maxLength=72"`
	// Opened is when its opening act was written, and ReplyBy the deadline of
	// that: an agent that forgets conversations tells by them whether it may have
	// forgotten this one.
	Opened  time.Time `json:"opened,omitzero"`
	ReplyBy time.Time `json:"reply_by,omitzero"`
}

// OutcomeAnswered is what the agent knows. C is how the result is carried, as it
// was sent: any JSON object.
type OutcomeAnswered[C any] struct {
	Status OutcomeStatus `json:"status" jsonschema:"enum=done,enum=failed,enum=in-progress,enum=never-seen"`
	// Outcome is how the exchange ended on the agent's side, "" unless it did.
	Outcome Outcome `json:"outcome,omitempty" jsonschema:"enum=ok,enum=accepted,enum=ended,enum=closed,enum=refused,enum=rejected,enum=withdrawn,enum=failed,enum=cancelled,enum=expired,enum=orphaned"`
	// Result is what its last inform said, where that says anything.
	Result C `json:"result,omitempty"`
	// TooLarge says that the result does not fit into this answer.
	TooLarge bool `json:"too_large,omitempty"`
	// Misread says that the opening act was not understood.
	Misread bool `json:"misread,omitempty"`
	// Error is what the agent gave as its reason.
	Error *OutcomeFault `json:"error,omitempty"`
	// At is when the agent looked, by its own clock.
	At time.Time `json:"at"`
}

// OutcomeStatus is how an exchange stands on the side of the agent that was
// asked.
type OutcomeStatus string

// The standings of an exchange. The set is closed.
const (
	// OutcomeDone: it ended and did what it was opened for.
	OutcomeDone OutcomeStatus = "done"
	// OutcomeFailed: it ended otherwise.
	OutcomeFailed OutcomeStatus = "failed"
	// OutcomeInProgress: it has not ended.
	OutcomeInProgress OutcomeStatus = "in-progress"
	// OutcomeNeverSeen: its opening act never came, and will be refused if it
	// comes now.
	OutcomeNeverSeen OutcomeStatus = "never-seen"
)

// OutcomeFault is why an exchange ended as it did, as its envelopes tell it.
type OutcomeFault struct {
	Code    envelope.Code `json:"code" jsonschema:"enum=validation,enum=auth,enum=deadline,enum=capacity,enum=transient,enum=permanent,enum=cancelled"`
	Reason  string        `json:"reason,omitempty" jsonschema:"maxLength=64"`
	Pointer string        `json:"pointer,omitempty" jsonschema:"maxLength=1024"`
	Want    string        `json:"want,omitempty" jsonschema:"maxLength=1024"`
	Got     string        `json:"got,omitempty" jsonschema:"maxLength=1024"`
}

// Fault is what an answer says of an error; nil for none.
func Fault(e *envelope.Error) *OutcomeFault {
	if e == nil {
		return nil
	}
	f := &OutcomeFault{Code: e.Code, Reason: e.Reason}
	if d := e.Detail; d != nil {
		f.Pointer, f.Want, f.Got = d.Pointer, d.Want, d.Got
	}
	return f
}

// Told is the error that the fault tells of; nil for none.
func (f *OutcomeFault) Told() *envelope.Error {
	if f == nil {
		return nil
	}
	e := envelope.NewError(f.Code, f.Reason)
	if f.Pointer != "" || f.Want != "" || f.Got != "" {
		e.Detail = &envelope.Detail{Pointer: f.Pointer, Want: f.Want, Got: f.Got}
	}
	return e
}

// InProgressError: the exchange had not ended when it was looked at.
type InProgressError struct {
	Ending
	// At is when that was, by the clock of whoever looked.
	At time.Time
}

// NeverSeenError: the participant never got the opening act and refuses it from
// now on. Nothing was done, and the key of the effect may be used again, in a
// new conversation.
type NeverSeenError struct{ Ending }

// TooLargeError: the exchange ended ok, but its result does not fit into the
// answer that tells of it.
type TooLargeError struct{ Ending }

func (e *InProgressError) Error() string {
	return e.text("had not ended it at " + e.At.UTC().Format(time.RFC3339))
}
func (e *NeverSeenError) Error() string { return e.text("has never seen it and will refuse it") }
func (e *TooLargeError) Error() string {
	return e.text("did it, but the result is too large to be told again")
}

// lapsed is the reason of what is refused because it comes too late.
const lapsed = "lapsed"

// Tombstone ends a fresh exchange of a participant that told its peer that
// nothing of it had come: whatever still comes is refused. An exchange that has
// begun is left as it is.
func Tombstone(x Exchange) Exchange {
	if x.State == Start && x.Role == Participant {
		x.State = Over(Refused)
		x.Error = envelope.NewError(envelope.CodePermanent, lapsed)
	}
	return x
}

// Barred reports whether the exchange ended as a Tombstone does. A cancel that
// came since changes nothing.
func (x Exchange) Barred() bool { return x.Opening == "" && x.Outcome() == Refused }

// Absence is the record of that.
type Absence struct {
	// Asked is the conversation in which the peer asked, Correlation its
	// business exchange.
	Asked       string `json:"asked"`
	Correlation string `json:"correlation"`
}
