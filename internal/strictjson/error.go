package strictjson

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Rules that a document can break.
const (
	RuleUTF8         = "utf8"
	RuleSyntax       = "syntax"
	RuleDuplicateKey = "duplicate-key"
	RuleCaseVariant  = "case-variant"
	RuleDepth        = "depth"
	RuleBytes        = "bytes"
	RuleMembers      = "members"
	RuleString       = "string"
	RuleNodes        = "nodes"
	RuleNumber       = "number"
	RuleControl      = "control"
	RuleSurrogate    = "surrogate"
	RuleRoot         = "root"
	RuleTrailing     = "trailing"
	RuleForbiddenKey = "forbidden-key"
)

// Error says which rule a document broke, and where.
type Error struct {
	Rule      string // one of the Rule constants
	Pointer   string // RFC 6901; of the value being read, or of its nearest ancestor whose pointer is at most 256 bytes
	Offset    int    // in bytes from the start of the document
	Want, Got string // short; Got never holds more than a few bytes of the document
}

// Error returns a sentence in lower case.
func (e *Error) Error() string {
	text := fmt.Sprintf("json at offset %d", e.Offset)
	if e.Pointer != "" {
		text += fmt.Sprintf(" (%s)", e.Pointer)
	}
	text += fmt.Sprintf(" breaks rule %s: want %s", e.Rule, e.Want)
	if e.Got != "" {
		text += ", got " + e.Got
	}
	return text
}

// step is one reference token on the way from the root to the value being read.
type step struct {
	name  string
	index int // of an array element; -1 when the step is a member
}

const maxPointer = 256

// pointer writes a path that is given from the innermost step out.
func pointer(path []step) string {
	var b strings.Builder
	for _, s := range slices.Backward(path) {
		token := s.name
		if s.index >= 0 {
			token = strconv.Itoa(s.index)
		}
		if b.Len()+1+len(token) > maxPointer {
			break
		}
		token = Escape(token)
		if b.Len()+1+len(token) > maxPointer {
			break
		}
		b.WriteByte('/')
		b.WriteString(token)
	}
	return b.String()
}

// Escape writes a member name as a reference token of a JSON pointer (RFC 6901 section 3).
func Escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
