package protocol

import (
	"errors"
	"fmt"
	"strings"

	"github.com/parley-agents/parley/envelope"
)

// Outcome is how an exchange ended.
type Outcome string

// The outcomes of an exchange. Unknown is honest: the initiator stopped
// waiting and cannot say what the participant did.
const (
	OK        Outcome = "ok"
	Refused   Outcome = "refused"
	Rejected  Outcome = "rejected"
	Withdrawn Outcome = "withdrawn"
	Failed    Outcome = "failed"
	Cancelled Outcome = "cancelled"
	Expired   Outcome = "expired"
	TimedOut  Outcome = "timed_out"
	Unknown   Outcome = "unknown"
)

// What is ok in propose and in subscribe: the offer was accepted, the stream
// came to its end.
const (
	Accepted Outcome = "accepted"
	Ended    Outcome = "ended"
)

// The outcomes of a member of a gather: its fence was acknowledged, was not
// acknowledged in time, or never came.
const (
	Closed   Outcome = "closed"
	Blocked  Outcome = "blocked"
	Orphaned Outcome = "orphaned"
)

// OK reports whether the exchange did what it was opened for.
func (o Outcome) OK() bool { return o == OK || o == Accepted || o == Ended }

// Ending says which exchange ended and what the peer gave as its reason.
type Ending struct {
	Conversation string
	Peer         string
	Code         envelope.Code
	Reason       string
	// Pointer is the RFC 6901 pointer to the faulty part of the content, when
	// the ending is about content.
	Pointer string
	// Want and Got describe that fault.
	Want, Got string
}

// ending makes every error that has one an error of this package's kind.
func (e Ending) ending() Ending { return e }

// EndingOf is what an error of an outcome says; false for any other error.
func EndingOf(err error) (Ending, bool) {
	var e interface {
		error
		ending() Ending
	}
	if !errors.As(err, &e) {
		return Ending{}, false
	}
	return e.ending(), true
}

func (e Ending) text(what string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", e.Peer, what)
	if e.Code != "" {
		fmt.Fprintf(&b, ": %s", e.Code)
	}
	if e.Reason != "" {
		fmt.Fprintf(&b, " (%s)", e.Reason)
	}
	if e.Pointer != "" {
		fmt.Fprintf(&b, " at %s", e.Pointer)
	}
	if e.Want != "" {
		fmt.Fprintf(&b, ", expected %s", e.Want)
	}
	if e.Got != "" {
		fmt.Fprintf(&b, ", got %s", e.Got)
	}
	return b.String()
}

// RefusedError: the participant will not do it. Nothing was started.
type RefusedError struct{ Ending }

// RejectedError: the other side chose not to accept what was proposed.
type RejectedError struct{ Ending }

// WithdrawnError: the participant took its proposal back.
type WithdrawnError struct{ Ending }

// FailedError: the participant tried and could not.
type FailedError struct{ Ending }

// NotUnderstoodError: the participant could not read the message. Pointer
// says where.
type NotUnderstoodError struct{ Ending }

// CancelledError: the exchange was cancelled and the participant stopped.
type CancelledError struct{ Ending }

// ExpiredError: the deadline passed before the participant started.
type ExpiredError struct{ Ending }

// UnknownError: the deadline passed and what the participant did is not
// known. Look before doing it again; never repeat it blindly.
type UnknownError struct{ Ending }

// UnmetError: a conversation with several participants ended without what it
// was opened for.
type UnmetError struct {
	Conversation string
	Terminal     Terminal
	// Missing are the participants that gave no answer.
	Missing []string
}

func (e *UnmetError) Error() string {
	text := "the conversation ended " + string(e.Terminal)
	if len(e.Missing) > 0 {
		text += ", without an answer of " + strings.Join(e.Missing, ", ")
	}
	return text
}

// BlockedError: the member did not acknowledge the fence of its gather.
type BlockedError struct{ Ending }

// OrphanedError: the coordinator of the gather went silent before its fence.
type OrphanedError struct{ Ending }

func (e *RefusedError) Error() string       { return e.text("refused") }
func (e *RejectedError) Error() string      { return e.text("rejected the proposal") }
func (e *WithdrawnError) Error() string     { return e.text("withdrew its proposal") }
func (e *FailedError) Error() string        { return e.text("failed") }
func (e *NotUnderstoodError) Error() string { return e.text("did not understand the message") }
func (e *CancelledError) Error() string     { return e.text("stopped: the exchange was cancelled") }
func (e *ExpiredError) Error() string       { return e.text("did not start in time") }
func (e *UnknownError) Error() string {
	return e.text("did not answer in time, the outcome is unknown")
}
func (e *BlockedError) Error() string  { return e.text("did not acknowledge the fence") }
func (e *OrphanedError) Error() string { return e.text("never closed its gather") }

// Err is the typed error of an ended exchange, nil when it ended ok or when a
// gather closed it. It returns nil for an exchange that is still live.
func (x Exchange) Err() error {
	end := Ending{Conversation: x.Conversation, Peer: x.Peer}
	if x.Error != nil {
		end.Code, end.Reason = x.Error.Code, x.Error.Reason
		if d := x.Error.Detail; d != nil {
			end.Pointer, end.Want, end.Got = d.Pointer, d.Want, d.Got
		}
	}
	switch x.State.Outcome() {
	case Refused:
		switch {
		case x.Misread:
			return &NotUnderstoodError{end}
		case end.Code == envelope.CodeDeadline:
			return &ExpiredError{end}
		}
		return &RefusedError{end}
	case Rejected:
		return &RejectedError{end}
	case Withdrawn:
		return &WithdrawnError{end}
	case Failed:
		if p, err := Lookup(x.Protocol); err == nil && p.runtimeAgrees && end.Reason == "lapsed" || end.Reason == overran {
			// The participant's runtime stopped waiting for its own work,
			// which may yet have its effect: nobody knows.
			return &UnknownError{end}
		}
		return &FailedError{end}
	case Cancelled:
		return &CancelledError{end}
	case Expired, TimedOut:
		return &ExpiredError{end}
	case Unknown:
		return &UnknownError{end}
	case Blocked:
		return &BlockedError{end}
	case Orphaned:
		return &OrphanedError{end}
	}
	return nil
}
