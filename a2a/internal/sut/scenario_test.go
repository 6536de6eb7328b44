package main

import (
	"reflect"
	"testing"

	"github.com/parley-agents/parley/a2a/wire"
)

func TestAScenarioIsTheLongestNameThatTheIDBeginsWith(t *testing.T) {
	for id, want := range map[string]string{
		"tck-artifact-file-0a1b2c3d":     "tck-artifact-file",
		"tck-artifact-file-url-0a1b2c3d": "tck-artifact-file-url",
		"tck-complete-task-0a-jsonrpc-7": "tck-complete-task",
		"tck-infer-ctx-0a1b2c3d":         "",
		"":                               "",
	} {
		if got := scenario(id); got != want {
			t.Errorf("%s is %q, want %q", id, got, want)
		}
	}
}

func TestATurnIsATextAndNothingElse(t *testing.T) {
	hello := "hello"
	name, content, ok := read("", &wire.Message{MessageID: "tck-complete-task-1", Parts: []wire.Part{{Text: &hello}}})
	if name != contract || string(content) != `{"scenario":"tck-complete-task","text":"hello"}` || !ok {
		t.Errorf("got %s, %s, %t", name, content, ok)
	}
	for _, parts := range [][]wire.Part{nil, {{Raw: []byte("x")}}, {{Text: &hello}, {Text: &hello}}} {
		if _, _, ok := read("", &wire.Message{Parts: parts}); ok {
			t.Errorf("%v is a turn", parts)
		}
	}
}

func TestWhatWasMadeIsShownAsThePartThatItIs(t *testing.T) {
	there, text := "https://example.com/output.txt", "some words"
	for content, want := range map[string]wire.Part{
		`{"text":"some words"}`:                    {Text: &text},
		`{"data":{"count":42,"key":"value"}}`:      {Data: []byte(`{"count":42,"key":"value"}`)},
		`{"file":"x"}`:                             {Raw: []byte("x"), Filename: "output.txt", MediaType: "text/plain"},
		`{"url":"https://example.com/output.txt"}`: {URL: &there, Filename: "output.txt", MediaType: "text/plain"},
	} {
		if got := show(contract, []byte(content)); !reflect.DeepEqual(got, []wire.Part{want}) {
			t.Errorf("%s is shown as %+v", content, got)
		}
	}
}
