package repair

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/internal/mutant"
	"github.com/parley-agents/parley/internal/strictjson"
	"github.com/parley-agents/parley/llm"
)

// Outcome says what became of a text.
type Outcome string

// The outcomes of Mend.
const (
	OK         Outcome = "ok"          // strict JSON that satisfies the schema, nothing was changed
	Repaired   Outcome = "repaired"    // the same after the fixes that are listed
	NeedsModel Outcome = "needs-model" // only who wrote it can say what was meant
	Rejected   Outcome = "reject"      // not worth asking: withheld, declined, oversized, or no text at all
)

// The operations that a Fix can name.
const (
	opTrim          = "trim"           // byte order mark or other characters that JSON does not count as white space
	opReasoning     = "reasoning"      // a closed block of reasoning before the value
	opFence         = "fence"          // a code fence around the value
	opProse         = "prose"          // words around the value
	opPlaceholder   = "placeholder"    // one empty object before the value
	opTrailingComma = "trailing-comma" //
	opComment       = "comment"        // // # or /* */
	opQuotes        = "quotes"         // single or curly quotes around a string
	opBareKey       = "bare-key"       // a member name without quotes
	opLiteral       = "literal"        // True, False, None
	opControl       = "control"        // a raw line feed, carriage return or tab in a string
	opClose         = "close"          // missing closers at the end
	opEmpty         = "empty"          // no text where no member is required
	opDecode        = "decode"         // an object or array that was written as a string
	opEnum          = "enum"           // an enum value in another case
	opInteger       = "integer"        // an integer that was written as a string
)

// Fix is one change that Mend made.
type Fix struct {
	// Op names the change: trim, reasoning, fence, prose, placeholder, trailing-comma, comment, quotes, bare-key,
	// literal, control, close, empty, decode, enum or integer.
	Op string
	// Offset is where in the raw text the change was made, in bytes; for decode, enum and integer it is where the
	// value begins that Pointer is taken in.
	Offset int
	// Pointer is the place in the value (RFC 6901) for decode, enum and integer; else it is empty.
	Pointer string
}

// Violation is one thing that is wrong with a text. Rule is a keyword of JSON Schema, a rule of the strict reader
// (such as duplicate-key), or one of finish, size, binary, reasoning, dialect, truncated, ambiguous, reply.
type Violation struct {
	Rule    string
	Pointer string // RFC 6901, into the value
	Want    string
	Got     string // at most 80 runes; it may hold words of the model, so it is data
}

// String returns the violation in one line, without Got.
func (v Violation) String() string {
	if v.Pointer == "" {
		return v.Rule
	}
	return v.Rule + " at " + v.Pointer
}

// Options say what is known about a text besides its bytes. The zero value is the cautious one.
type Options struct {
	// Finish is why the model stopped. Unless it is llm.FinishStop, closers are never added; llm.FinishLength forbids
	// every mend; llm.FinishFilter and llm.FinishRefusal reject the text.
	Finish llm.Finish
	// Effect says that the value will cause an effect: nothing that could have been cut is completed.
	Effect bool
	// Exact says that the value at a pointer must be taken as written: neither an integer nor an enum value is
	// mended there. Nil means that no place is marked. Ids, versions, addresses and the members that say which kind
	// of message this is are never mended, marked or not.
	Exact func(pointer string) bool
}

// Mended is the result of Mend.
type Mended struct {
	Outcome    Outcome
	Value      []byte      // canonical JSON (RFC 8785) if Outcome is OK or Repaired, else nil
	Fixes      []Fix       // in the order made; empty unless Outcome is Repaired
	Violations []Violation // what was wrong, at most 8; empty only if Outcome is OK
}

// maxText is the longest text that is looked at.
const maxText = 256 << 10

// maxViolations is how many violations are reported.
const maxViolations = 8

// limits are those of the strict reader, which a mended text must keep too.
var limits = strictjson.Limits{AnyRoot: true}

// Mend returns the value that raw holds, if there is exactly one way to read it.
//
// A strict parse comes first, so what passes as it stands is never touched, whatever the strings in it contain. Every
// other step is taken only after that failed, and what it yields must pass the strict parse and the schema in turn.
// Mend never completes a cut value, never chooses between two values or between two equal keys, never adds or drops a
// member and never turns prose into a value.
//
// It is a pure function, safe for concurrent use if o.Exact is. It takes time linear in len(raw) and looks at no text
// longer than 256 KiB.
func Mend(raw []byte, s *schema.Schema, o Options) Mended {
	mended, _ := mend(raw, s, o)
	return mended
}

// draft is what is known about a text that Mend could not finish.
type draft struct {
	parsed     bool // there is one value, and only the schema is against it
	tree       any
	fixes      []Fix
	violations []Violation // what is left
	offset     int         // where reading stopped, if not parsed
	steps      int         // characters looked at, for the proof that it is linear
}

func mend(raw []byte, s *schema.Schema, o Options) (Mended, draft) {
	if v, bad := hopeless(raw, o.Finish); bad {
		return Mended{Outcome: Rejected, Violations: []Violation{v}}, draft{}
	}
	tree, err := strictjson.Tree(raw, limits)
	violations := strictViolations(err)
	if err == nil {
		violations = check(tree, s)
		if len(violations) == 0 && (o.Finish != llm.FinishLength || delimited(tree)) {
			return Mended{Outcome: OK, Value: canonical(tree)}, draft{}
		}
	}
	if o.Finish == llm.FinishLength {
		v := Violation{Rule: "finish", Want: "a whole reply", Got: "a reply that was cut at the token limit"}
		return unfinished(draft{offset: len(raw), violations: []Violation{v}})
	}
	if mutant.Repair {
		return unfinished(draft{violations: violations})
	}
	if err == nil {
		return fit(value{tree: tree}, s, o)
	}
	return text{src: raw, lo: 0, hi: len(raw), schema: s, options: o, strict: err}.mend()
}

// hopeless says whether a text is to be rejected unread.
func hopeless(raw []byte, finish llm.Finish) (Violation, bool) {
	switch {
	case finish == llm.FinishFilter || finish == llm.FinishRefusal:
		return Violation{Rule: "finish", Want: "a reply", Got: string(finish)}, true
	case len(raw) > maxText:
		return Violation{Rule: "size", Want: fmt.Sprintf("at most %d bytes", maxText), Got: fmt.Sprintf("%d bytes", len(raw))}, true
	case (!utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0) && !bytes.ContainsAny(raw, "{["):
		return Violation{Rule: "binary", Want: "text", Got: "bytes that are not text"}, true
	}
	return Violation{}, false
}

// delimited says whether a value shows its own end, so that a prefix of it is never a value too.
func delimited(tree any) bool {
	switch tree.(type) {
	case map[string]any, []any, string:
		return true
	}
	return false
}

// unfinished leaves the rest to the model.
func unfinished(d draft) (Mended, draft) {
	return Mended{Outcome: NeedsModel, Violations: d.violations}, d
}

// check applies the schema to a strict tree.
func check(tree any, s *schema.Schema) []Violation {
	var list []Violation
	for _, v := range s.Check(tree) {
		if len(list) == maxViolations {
			break
		}
		list = append(list, Violation{Rule: v.Keyword, Pointer: v.Pointer, Want: v.Want, Got: clip(v.Got)})
	}
	return list
}

// strictViolations says what the strict reader did not like.
func strictViolations(err error) []Violation {
	if e, ok := errors.AsType[*strictjson.Error](err); ok {
		return []Violation{{Rule: e.Rule, Pointer: e.Pointer, Want: e.Want, Got: clip(e.Got)}}
	}
	return nil
}

// canonical writes a strict tree.
func canonical(tree any) []byte {
	data, err := strictjson.Marshal(tree)
	if err != nil {
		return nil // not for a tree that the strict reader made
	}
	return data
}

// clip keeps a violation short.
func clip(s string) string {
	const most = 80
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i]
		}
	}
	return s
}
