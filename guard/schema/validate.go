package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-agents/parley/internal/strictjson"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// MaxViolations is how many violations a check reports.
const MaxViolations = 8

// Violation is one reason why a document does not fit its schema.
type Violation struct {
	Pointer string // RFC 6901 pointer into the document; of a missing member, where it should be
	Keyword string // the schema keyword, or the rule of strict JSON, that is violated
	Want    string // what the schema asks for
	Got     string // the type found and at most 80 runes of the value, escaped
}

// String writes the violation as one line; text from the document is escaped.
func (v Violation) String() string {
	place := printable(cut(v.Pointer))
	if place == "" {
		place = "the root"
	}
	return fmt.Sprintf("%s: %s: want %s, got %s", place, v.Keyword, v.Want, v.Got)
}

// Invalid says that a document does not fit a schema.
type Invalid struct {
	ID         string      // $id of the schema
	Violations []Violation // the first ones, by pointer, then keyword; at most MaxViolations
	Total      int         // how many there are
	Err        error       // the strict JSON or decoding error behind it, if any
}

func (e *Invalid) Error() string {
	var text strings.Builder
	text.WriteString("document does not fit ")
	if e.ID == "" {
		text.WriteString("its schema")
	} else {
		text.WriteString(e.ID)
	}
	for i, violation := range e.Violations {
		if i > 0 {
			text.WriteByte(';')
		} else {
			text.WriteByte(':')
		}
		text.WriteByte(' ')
		text.WriteString(violation.String())
	}
	if more := e.Total - len(e.Violations); more > 0 {
		fmt.Fprintf(&text, "; and %d more", more)
	}
	return text.String()
}

// Unwrap returns the error behind it, which is nil for a plain violation.
func (e *Invalid) Unwrap() error { return e.Err }

// Validate reads a document strictly (at most 256 KiB, 32 levels, 10 000 values)
// and checks it. The error is an *Invalid. A document that would keep the check
// busy for too long violates the keyword "cost".
func (s *Schema) Validate(data []byte) error {
	value, _, err := strictjson.Parse(string(data), strictjson.Limits{AnyRoot: true})
	if err != nil {
		return s.unreadable(err)
	}
	return s.judge(value)
}

// judge checks a whole document that is strict.
func (s *Schema) judge(value strictjson.Value) error {
	if value.Size()*s.doc.weight <= maxSteps && s.sieve.passes(value) {
		return nil
	}
	found, total := s.violations(value.Tree())
	if total == 0 {
		return nil
	}
	return &Invalid{ID: s.ID(), Violations: found, Total: total}
}

// Check checks a tree that is already strict: one that strictjson.Tree returned.
// It returns at most MaxViolations, by pointer, then keyword; nil if the tree fits.
func (s *Schema) Check(tree any) []Violation {
	found, _ := s.violations(tree)
	return found
}

func (s *Schema) violations(tree any) ([]Violation, int) {
	left := maxSteps
	if !(meter{s.doc, &left}).spend(s.doc.root, tree) {
		return []Violation{{Keyword: "cost", Want: fmt.Sprintf("a value that takes at most %d steps to check", maxSteps), Got: describe(tree)}}, 1
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(s.compiled.Validate(tree), &invalid) {
		return nil, 0
	}
	found := collector{root: s.doc.root, tree: tree}.leaves(invalid)
	slices.SortFunc(found, compareViolations)
	found = slices.Compact(found)
	total := len(found)
	return slices.Clip(found[:min(total, MaxViolations)]), total
}

func (s *Schema) unreadable(err error) *Invalid {
	violation := Violation{Keyword: "syntax", Want: "strict JSON", Got: printable(cut(err.Error()))}
	var strict *strictjson.Error
	if errors.As(err, &strict) {
		violation = Violation{Pointer: strict.Pointer, Keyword: strict.Rule, Want: strict.Want, Got: printable(cut(strict.Got))}
	}
	return &Invalid{ID: s.ID(), Violations: []Violation{violation}, Total: 1, Err: err}
}

// Decode checks a document and decodes it into a T. The error is an *Invalid,
// also where the document fits the schema but a type's own decoder refuses it
// (keyword "decode").
func Decode[T any](s *Schema, data []byte) (T, error) {
	var value T
	read, canonical, err := strictjson.Parse(string(data), strictjson.Limits{AnyRoot: true})
	if err != nil {
		return value, s.unreadable(err)
	}
	if err := s.judge(read); err != nil {
		return value, err
	}
	// In canonical bytes 1.0 and 1e2 are integers, as they are to the schema;
	// to encoding/json they would not be.
	if !canonical {
		data = read.Canonical()
	}
	if err := json.Unmarshal(data, &value); err != nil {
		var zero T
		return zero, s.undecodable(err)
	}
	return value, nil
}

func (s *Schema) undecodable(err error) *Invalid {
	violation := Violation{Keyword: "decode", Want: "a value that the type can hold", Got: printable(cut(err.Error()))}
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) && mismatch.Field != "" {
		for part := range strings.SplitSeq(mismatch.Field, ".") {
			violation.Pointer = join(violation.Pointer, part)
		}
	}
	return &Invalid{ID: s.ID(), Violations: []Violation{violation}, Total: 1, Err: err}
}

// Encode writes a value in canonical form and checks it: nothing leaves that its
// receiver would refuse. The error is an *Invalid, or that of encoding/json.
func Encode[T any](s *Schema, value T) ([]byte, error) {
	written, err := json.Marshal(value)
	if err != nil {
		return nil, s.unwritten(fmt.Errorf("json value: %w", err))
	}
	text := written
	read, canonical, err := strictjson.Parse(string(written), strictjson.Limits{AnyRoot: true})
	if err == nil && !canonical {
		text = read.Canonical()
	}
	if err != nil || len(text) > len(written) { // whether it is too much, the canonical form says
		if text, err = strictjson.Canonical(written, strictjson.Unlimited()); err != nil {
			return nil, s.unreadable(err)
		}
		if read, _, err = strictjson.Parse(string(text), strictjson.Limits{AnyRoot: true}); err != nil {
			return nil, s.unreadable(err)
		}
	}
	if err := s.judge(read); err != nil {
		return nil, err
	}
	return text, nil
}

// unwritten is the error of a value that encoding/json could not write.
func (s *Schema) unwritten(err error) error {
	if _, strict := errors.AsType[*strictjson.Error](err); strict {
		return s.unreadable(err)
	}
	return fmt.Errorf("encode for %s: %w", s.ID(), err)
}
