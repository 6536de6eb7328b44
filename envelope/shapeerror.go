package envelope

import (
	"fmt"
	"strconv"

	"github.com/parley-agents/parley/internal/strictjson"
)

// Rules of a [ShapeError], besides those of strict JSON.
const (
	RuleRequired  = "required"  // the member must be there
	RuleForbidden = "forbidden" // the member must not be there
	RuleUnknown   = "unknown"   // there is no such member, or no such extension that must be understood
	RuleType      = "type"      // null counts as a wrong type
	RuleGrammar   = "grammar"   // the text does not have the form
	RuleEnum      = "enum"      // the word is not in the closed set
	RuleRange     = "range"     // too small, too large, too long or too many
	RuleVersion   = "version"   // an envelope version that this package does not read
	RuleMismatch  = "mismatch"  // the member contradicts another one
	RuleDigest    = "digest"    // the content is not the one that the digest is of
)

// ShapeError says what is wrong with a message, whatever the state of its conversation.
type ShapeError struct {
	Pointer   string // RFC 6901, into the envelope
	Rule      string // one of the Rule constants, or a rule of strict JSON such as duplicate-key
	Want, Got string // short; Got holds at most a few bytes of the message, in ASCII
	Err       error  // the cause, or nil
}

// Error returns a sentence in lower case.
func (e *ShapeError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("envelope: %v", e.Err)
	}
	text := fmt.Sprintf("envelope member %s breaks rule %s: want %s", e.Pointer, e.Rule, e.Want)
	if e.Got != "" {
		text += ", got " + e.Got
	}
	return text
}

// Unwrap returns the cause, or nil.
func (e *ShapeError) Unwrap() error { return e.Err }

// Detail returns what the sender of the message may be told.
func (e *ShapeError) Detail() *Detail {
	return &Detail{Pointer: e.Pointer, Rule: e.Rule, Want: e.Want, Got: e.Got}
}

func fromStrict(err *strictjson.Error) *ShapeError {
	return &ShapeError{Pointer: err.Pointer, Rule: err.Rule, Want: err.Want, Got: err.Got, Err: err}
}

// quote shows at most 64 bytes of a text.
func quote(s string) string {
	if len(s) > 64 {
		return strconv.QuoteToASCII(s[:64]) + "…"
	}
	return strconv.QuoteToASCII(s)
}
