package guard

import (
	"fmt"
	"strings"
	"time"

	"github.com/parley-agents/parley/envelope"
)

// Answer says what a receiver does about a message that it does not accept.
type Answer string

// The answers, from the least to the most consequential.
const (
	// Unreadable: the carrier reports an error; there is nobody to answer.
	Unreadable Answer = "unreadable"
	// Deny: a nack; nothing is stored and no number is consumed.
	Deny Answer = "deny"
	// Again: a retriable nack; nothing is stored, the sender tries later.
	Again Answer = "again"
	// Repeat: it is a duplicate, and the stored answer is returned.
	Repeat Answer = "repeat"
	// Reject: a final nack; the refusal is logged and consumes the number, the
	// state of the exchange stays.
	Reject Answer = "reject"
	// Decline: the exchange is opened and refused in the same step.
	Decline Answer = "decline"
	// Misread: the exchange is opened and answered not-understood.
	Misread Answer = "misread"
	// Void: a terminal act that cannot be used; its exchange ends as failed.
	Void Answer = "void"
)

// Violation is a message that the guard did not let through.
type Violation struct {
	// Rule names the check, such as "sequence" or "content".
	Rule   string
	Answer Answer
	// Code and Reason are what the peer is told.
	Code   envelope.Code
	Reason string
	// Pointer is the RFC 6901 pointer to the fault in the envelope, Want and
	// Got what was expected there and what was found. None of the three ever
	// holds anything of the receiver's own.
	Pointer, Want, Got string
	// RetryAfter is how long the sender should wait before it tries again.
	RetryAfter time.Duration
	// Err is the cause, for the receiver's own log only.
	Err error
}

func (v *Violation) Error() string {
	s := fmt.Sprintf("message refused by rule %s: %s", v.Rule, v.Code)
	if v.Reason != "" {
		s += " (" + v.Reason + ")"
	}
	if v.Pointer != "" {
		s += " at " + v.Pointer
	}
	if v.Want != "" {
		s += ", expected " + v.Want
	}
	if v.Got != "" {
		s += ", got " + v.Got
	}
	if v.Err != nil {
		s += ": " + v.Err.Error()
	}
	return s
}

func (v *Violation) Unwrap() error { return v.Err }

// Told is the error member of the receipt or act that answers the message. A
// violation of identity is told without any detail.
func (v *Violation) Told() *envelope.Error {
	e := envelope.NewError(v.Code, v.Reason)
	e.RetryAfter = v.RetryAfter
	if v.Code != envelope.CodeAuth && v.Pointer != "" {
		e.Detail = &envelope.Detail{Pointer: short(v.Pointer), Rule: v.Rule, Want: short(v.Want), Got: short(v.Got)}
	}
	return e
}

// maxText is how many bytes an envelope carries of each text of a detail.
const maxText = 1 << 10

// short cuts a text, so that a fault in something long can still be told.
func short(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxText)], "")
}

// The reasons that the guard gives.
const (
	ReasonMalformed           = "malformed"
	ReasonUnsupportedProtocol = "unsupported-protocol"
	ReasonUnsupportedVersion  = "unsupported-version"
	ReasonSchema              = "schema"
	ReasonEquivocation        = "equivocation"
	ReasonMismatch            = "mismatch"
	ReasonSequenceGap         = "sequence-gap"
	ReasonStaleGeneration     = "stale-generation"
	ReasonLate                = "late"
	ReasonPolicy              = "policy"
	ReasonLapsed              = "lapsed"
	ReasonHopLimit            = "hop-limit"
	ReasonPostTerminal        = "post-terminal"
	ReasonInProgress          = "in-progress"
	ReasonBudget              = "budget"
	ReasonOverloaded          = "overloaded"
)
