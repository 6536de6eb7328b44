package protocol_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
)

func TestBuiltInContentIsTheEmptyObjectAndNothingElse(t *testing.T) {
	names := map[string]bool{}
	for _, b := range protocol.BuiltIns() {
		names[b.Name] = true
		s, err := schema.Parse(b.Document)
		if err != nil {
			t.Fatalf("%s: %v", b.Name, err)
		}
		if s.ID() != "urn:schema:"+b.Name {
			t.Errorf("%s has the id %s", b.Name, s.ID())
		}
		if slices.ContainsFunc([]string{"chat", "fence", "advertise", "outcome", "question"}, func(what string) bool { return strings.HasPrefix(b.Name, "parley."+what) }) {
			continue // these say something
		}
		empty, err := json.Marshal(protocol.Empty{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(empty); err != nil {
			t.Errorf("%s: %v", b.Name, err)
		}
		for _, other := range []string{`{"a":1}`, `[]`, `null`, `""`, `0`} {
			if s.Validate([]byte(other)) == nil {
				t.Errorf("%s accepts %s", b.Name, other)
			}
		}
	}
	for _, want := range []string{protocol.AgreeSchema, protocol.RefusalSchema, protocol.FailureSchema, protocol.CancelSchema} {
		if !names[want] {
			t.Errorf("%s is not listed", want)
		}
	}
}

func TestAChangedBuiltInDocumentChangesNoOther(t *testing.T) {
	clear(protocol.BuiltIns()[0].Document)
	if protocol.BuiltIns()[0].Document[0] != '{' {
		t.Error("the document is shared")
	}
}

func ExampleBuiltIns() {
	for _, b := range protocol.BuiltIns() {
		fmt.Println(b.Name)
	}
	// Output:
	// parley.agree/v1
	// parley.refusal/v1
	// parley.failure/v1
	// parley.cancel/v1
	// parley.chat/v1
	// parley.chat.result/v1
	// parley.fence/v1
	// parley.advertise/v1
	// parley.outcome/v1
	// parley.outcome.result/v1
	// parley.question/v1
	// parley.question.result/v1
}

func TestTheSchemasOfAChatAreThoseOfItsGoType(t *testing.T) {
	ours, err := schema.For[protocol.Said](protocol.ChatName)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range protocol.BuiltIns() {
		if !strings.HasPrefix(b.Name, "parley.chat") {
			continue
		}
		published, err := schema.Parse(b.Document)
		if err != nil {
			t.Fatal(err)
		}
		for _, content := range []string{`{"text":"a"}`, `{"text":""}`, `{}`, `{"text":1}`, `{"text":null}`, `{"text":"a","more":1}`,
			`{"text":"` + strings.Repeat("x", 65536) + `"}`, `{"text":"` + strings.Repeat("x", 65537) + `"}`} {
			if got, want := published.Validate([]byte(content)) == nil, ours.Validate([]byte(content)) == nil; got != want {
				t.Errorf("%s admits %.40s: %v, the Go type %v", b.Name, content, got, want)
			}
		}
	}
}
