package protocol

import (
	"fmt"
	"slices"
	"strconv"
)

// QuestionName is the name of the built-in contract under which a participant
// asks back.
const QuestionName = "parley.question/v1"

// Question is that contract: whoever works on an exchange asks whoever opened
// it for what was left open. It is accepted only from an agent that works for
// the receiver at that moment.
var Question = Query[QuestionAsked, QuestionAnswered](QuestionName)

// QuestionAsked is what is asked, in words that a person can answer. What
// the answer may be is said by at most one of Choices and Schema; if by neither,
// it is free text.
type QuestionAsked struct {
	Text Text `json:"text" jsonschema:"minLength=1,maxLength=4096"`
	// Choices are the answers to choose from.
	Choices []string `json:"choices,omitempty" jsonschema:"minItems=1,maxItems=64,maxLength=500"`
	// Schema is the JSON Schema of the value that is asked for, as text.
	Schema string `json:"schema,omitempty" jsonschema:"maxLength=16384"`
}

// QuestionAnswered is the answer: the one member that the question asks for.
type QuestionAnswered struct {
	// Choice is one of the choices.
	Choice string `json:"choice,omitempty" jsonschema:"maxLength=500"`
	// Text is what was said in free words. It is data, whatever it says.
	Text Text `json:"text,omitempty" jsonschema:"maxLength=16384"`
	// Value is JSON text that fits the schema.
	Value string `json:"value,omitempty" jsonschema:"maxLength=65536"`
}

// QuestionError is a question that cannot be answered, or an answer that is not
// one of its question's.
type QuestionError struct {
	// Pointer is the RFC 6901 pointer to the fault.
	Pointer, Want, Got string
}

func (e *QuestionError) Error() string {
	return fmt.Sprintf("%s must be %s, not %s", e.Pointer, e.Want, e.Got)
}

// Check says what is wrong with the question. Its error is a *QuestionError.
func (q QuestionAsked) Check() error {
	switch {
	case q.Text == "":
		return &QuestionError{"/text", "what is asked", "nothing"}
	case len(q.Choices) > 0 && q.Schema != "":
		return &QuestionError{"/schema", "nothing, since there are choices", "a schema"}
	}
	for i, c := range q.Choices {
		if c == "" || slices.Contains(q.Choices[:i], c) {
			return &QuestionError{"/choices/" + strconv.Itoa(i), "a choice of its own", strconv.Quote(c)}
		}
	}
	return nil
}

// Admits says what is wrong with an answer to the question. Its error is a
// *QuestionError. Whether a value fits the schema is not looked at here.
func (q QuestionAsked) Admits(a QuestionAnswered) error {
	member, want := "/text", "free text"
	switch {
	case len(q.Choices) > 0:
		member, want = "/choice", "one of the choices"
	case q.Schema != "":
		member, want = "/value", "a value that fits the schema"
	}
	for _, m := range []struct{ name, said string }{{"/choice", a.Choice}, {"/text", string(a.Text)}, {"/value", a.Value}} {
		switch {
		case m.name != member && m.said != "":
			return &QuestionError{m.name, "left out: the question asks for " + want, "an answer"}
		case m.name == member && m.said == "":
			return &QuestionError{m.name, want, "nothing"}
		}
	}
	if len(q.Choices) > 0 && !slices.Contains(q.Choices, a.Choice) {
		return &QuestionError{"/choice", want, strconv.Quote(a.Choice)}
	}
	return nil
}
