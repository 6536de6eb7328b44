package protocol_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/parley-agents/parley/protocol"
)

func TestThePublishedQuestionIsThatOfItsGoType(t *testing.T) {
	same(t, published(t, protocol.QuestionName), of[protocol.QuestionAsked](t, protocol.QuestionName),
		protocol.QuestionAsked{Text: "Which seat?", Choices: []string{"window", "aisle"}, Schema: `{"type":"string"}`})
}

func TestThePublishedAnswerIsThatOfItsGoType(t *testing.T) {
	name := protocol.Question.Name().Result()
	same(t, published(t, name), of[protocol.QuestionAnswered](t, name),
		protocol.QuestionAnswered{Choice: "window", Text: "The window, please.", Value: `"window"`})
}

func TestAnAnswerIsTheOneThingThatItsQuestionAsksFor(t *testing.T) {
	choose := protocol.QuestionAsked{Text: "Which?", Choices: []string{"a", "b"}}
	value := protocol.QuestionAsked{Text: "How many?", Schema: `{"type":"integer"}`}
	free := protocol.QuestionAsked{Text: "Why?"}
	for _, tt := range []struct {
		q       protocol.QuestionAsked
		a       protocol.QuestionAnswered
		pointer string // "" if it is admitted
	}{
		{choose, protocol.QuestionAnswered{Choice: "b"}, ""},
		{choose, protocol.QuestionAnswered{Choice: "B"}, "/choice"},
		{choose, protocol.QuestionAnswered{}, "/choice"},
		{choose, protocol.QuestionAnswered{Choice: "a", Text: "a"}, "/text"},
		{choose, protocol.QuestionAnswered{Choice: "a", Value: "1"}, "/value"},
		{value, protocol.QuestionAnswered{Value: "1"}, ""},
		{value, protocol.QuestionAnswered{}, "/value"},
		{value, protocol.QuestionAnswered{Choice: "1", Value: "1"}, "/choice"},
		{free, protocol.QuestionAnswered{Text: "Because."}, ""},
		{free, protocol.QuestionAnswered{}, "/text"},
		{free, protocol.QuestionAnswered{Text: "Because.", Value: "1"}, "/value"},
	} {
		err := tt.q.Admits(tt.a)
		if bad, ok := errors.AsType[*protocol.QuestionError](err); tt.pointer == "" && err != nil || tt.pointer != "" && (!ok || bad.Pointer != tt.pointer) {
			t.Errorf("%+v to %+v: %v, want a fault at %q", tt.a, tt.q, err, tt.pointer)
		}
	}
}

func ExampleQuestionAsked_Check() {
	fmt.Println(protocol.QuestionAsked{Text: "Which seat?", Choices: []string{"window", "aisle"}}.Check())
	fmt.Println(protocol.QuestionAsked{Text: "Which seat?", Choices: []string{"window", "window"}}.Check())
	// Output:
	// <nil>
	// /choices/1 must be a choice of its own, not "window"
}
