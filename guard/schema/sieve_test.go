package schema

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/parley-agents/parley/internal/strictjson"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

var names = rapid.SampledFrom([]string{"a", "b", "c", "d"})

// anyKeyword draws a keyword and what it says, among them some that a sieve does not understand.
func anyKeyword(t *rapid.T, depth int) (string, any) {
	small := rapid.IntRange(-1, 3)
	below := func() any { return anySchema(t, depth-1) }
	table := func() map[string]any {
		table := map[string]any{}
		for _, name := range rapid.SliceOfNDistinct(names, 1, 3, rapid.ID[string]).Draw(t, "members") {
			table[name] = below()
		}
		return table
	}
	kinds := rapid.SampledFrom([]string{"null", "boolean", "number", "integer", "string", "array", "object"})
	words := rapid.SampledFrom([]any{"", "a", "ab", "é", "2026-01-02", nil, true, 1, 1.5})
	keywords := []string{"type", "type", "types", "enum", "const", "minLength", "maxLength", "pattern", "format", "minimum", "maximum",
		"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "required", "minProperties", "maxProperties", "minItems", "maxItems", "uniqueItems",
		"contentEncoding", "title", "default", "additionalPropertiesFalse"}
	if depth > 0 {
		keywords = append(keywords, "properties", "properties", "properties", "properties", "items", "items", "items", "additionalProperties",
			"anyOf", "anyOf", "nullable", "$ref", "allOf", "oneOf", "not", "if", "patternProperties", "propertyNames", "prefixItems", "contains",
			"dependentSchemas", "unevaluatedProperties")
	}
	switch keyword := rapid.SampledFrom(keywords).Draw(t, "keyword"); keyword {
	case "type":
		return keyword, kinds.Draw(t, "type")
	case "types":
		return "type", rapid.SliceOfNDistinct(kinds, 1, 3, rapid.ID[string]).Draw(t, "types")
	case "enum":
		return keyword, rapid.SliceOfNDistinct(words, 1, 4, rapid.ID[any]).Draw(t, "enum")
	case "const", "default":
		return keyword, words.Draw(t, "value")
	case "pattern":
		return keyword, rapid.SampledFrom([]string{"^a", "b$", "^[0-9-]*$"}).Draw(t, "pattern")
	case "format":
		return keyword, rapid.SampledFrom([]string{"date", "uuid", "unknown"}).Draw(t, "format")
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return keyword, rapid.SampledFrom([]any{-1, 0, 1, 2, 1.5, json.Number("1e30")}).Draw(t, "bound")
	case "multipleOf":
		return keyword, 2
	case "required":
		return keyword, rapid.SliceOfNDistinct(names, 1, 2, rapid.ID[string]).Draw(t, "required")
	case "uniqueItems":
		return keyword, true
	case "contentEncoding":
		return keyword, "base64"
	case "title":
		return keyword, "a title"
	case "additionalPropertiesFalse":
		return "additionalProperties", false
	case "properties", "dependentSchemas":
		return keyword, table()
	case "patternProperties":
		return keyword, map[string]any{"^[ab]": below()}
	case "anyOf", "allOf", "oneOf", "prefixItems":
		return keyword, []any{below(), below()}
	case "nullable":
		return "anyOf", []any{below(), map[string]any{"type": "null"}}
	case "$ref":
		return keyword, rapid.SampledFrom([]string{"#/$defs/a", "#/$defs/b"}).Draw(t, "ref")
	case "minLength", "maxLength", "minProperties", "maxProperties", "minItems", "maxItems":
		return keyword, max(small.Draw(t, "count"), 0)
	default: // the keywords of one schema
		return keyword, below()
	}
}

func anySchema(t *rapid.T, depth int) any {
	if rapid.IntRange(0, 15).Draw(t, "boolean") == 0 {
		return rapid.Bool().Draw(t, "schema")
	}
	node := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "keywords") {
		keyword, says := anyKeyword(t, depth)
		node[keyword] = says
	}
	return node
}

// anyValue draws a value, often one that a schema of anySchema was made for.
func anyValue(t *rapid.T, depth int) any {
	kind := rapid.IntRange(0, 3).Draw(t, "kind")
	switch {
	case depth == 0 || kind == 0:
		return rapid.SampledFrom([]any{"", "a", "ab", "é", "2026-01-02", "YQ==", nil, true, false, 0, 1, 2, -1, 1.5, json.Number("1.0")}).Draw(t, "scalar")
	case kind == 1:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			list = append(list, anyValue(t, depth-1))
		}
		return list
	}
	object := map[string]any{}
	for _, name := range rapid.SliceOfNDistinct(names, 0, 4, rapid.ID[string]).Draw(t, "names") {
		object[name] = anyValue(t, depth-1)
	}
	return object
}

func read(t *rapid.T, value any) strictjson.Value {
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	v, _, err := strictjson.Parse(string(data), strictjson.Limits{AnyRoot: true})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestWhatASievePassesTheValidatorFindsValidAtNoMoreThanItsWeight(t *testing.T) {
	passed, held := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		root, ok := anySchema(t, 3).(map[string]any)
		if !ok {
			t.Skip("no document")
		}
		root["$defs"] = map[string]any{"a": anySchema(t, 1), "b": anySchema(t, 2)}
		document, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(document)
		if err != nil {
			t.Skip(err)
		}
		for range 8 {
			v := read(t, anyValue(t, 3))
			tree := v.Tree()
			var invalid *jsonschema.ValidationError
			valid := !errors.As(s.compiled.Validate(tree), &invalid)
			if !s.sieve.passes(v) {
				if valid {
					held++
				}
				continue
			}
			passed++
			if !valid {
				t.Fatalf("%s passes %s, of which the validator says %v", document, v.Canonical(), invalid)
			}
			left := maxSteps
			if !(meter{s.doc, &left}).spend(s.doc.root, tree) || maxSteps-left > v.Size()*s.doc.weight {
				t.Fatalf("%s takes %d steps for %s, whose weight is %d", document, maxSteps-left, v.Canonical(), s.doc.weight)
			}
		}
	})
	if passed == 0 {
		t.Error("nothing passes")
	}
	t.Logf("%d passed, %d were held back", passed, held)
}

func TestASievePassesWhatPlainlyFitsAndHoldsBackTheRest(t *testing.T) {
	for _, c := range []struct {
		schema        string
		passes, holds []string
	}{
		{`{}`, []string{`1`, `"a"`, `{"a":[null]}`}, nil},
		{`{"type":"integer"}`, []string{`1`, `1.0`, `1e2`}, []string{`1.5`, `1e-7`, `"1"`, `null`}},
		{`{"type":["number","null"]}`, []string{`1`, `1.5`, `null`}, []string{`true`}},
		{`{"type":"number","minimum":0}`, []string{`0`, `7`}, []string{`-1`, `1.5`}}, // a fraction is for the validator to compare
		{`{"exclusiveMinimum":0,"exclusiveMaximum":3}`, []string{`1`, `2`, `"a"`}, []string{`0`, `3`}},
		{`{"maximum":1.5}`, nil, []string{`1`}},
		{`{"minLength":2,"maxLength":3}`, []string{`"ab"`, `"äöü"`, `1`}, []string{`"ä"`, `"abcd"`}},
		{`{"enum":["a",1,null]}`, []string{`"a"`}, []string{`"b"`, `1`, `null`}},
		{`{"const":"a"}`, []string{`"a"`}, []string{`"b"`}},
		{`{"const":"a","enum":["a"]}`, nil, []string{`"a"`}},
		{`{"pattern":"^a"}`, []string{`"ab"`, `1`}, []string{`"b"`}},
		{`{"format":"date"}`, []string{`"2026-01-02"`}, []string{`"tomorrow"`}},
		{`{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":2}`, []string{`["a"]`, `["a","b"]`}, []string{`[]`, `["a","b","c"]`, `[1]`}},
		{`{"properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`, []string{`{"a":"b"}`, `1`}, []string{`{}`, `{"a":1}`, `{"a":"b","c":1}`}},
		{`{"additionalProperties":{"type":"null"},"minProperties":1,"maxProperties":1}`, []string{`{"a":null}`}, []string{`{}`, `{"a":1}`, `{"a":null,"b":null}`}},
		{`{"required":["a","b"]}`, []string{`{"a":1,"b":1}`}, []string{`{"b":1}`}},
		{`{"anyOf":[{"type":"object"},{"type":"null"}]}`, []string{`{}`, `null`}, []string{`1`}},
		{`{"properties":{"a":{"$ref":"#"}},"additionalProperties":false}`, []string{`{"a":{"a":{}}}`}, []string{`{"a":{"b":1}}`}},
		{`{"properties":{"a":false,"b":true}}`, []string{`{"b":1}`}, []string{`{"a":1}`}},
		// What is inside would be met more than once, or what is said is not understood.
		{`{"anyOf":[{"items":{}},{"items":{}}]}`, nil, []string{`[1]`, `1`}},
		{`{"$ref":"#/$defs/a","items":{},"$defs":{"a":{"items":{}}}}`, nil, []string{`[1]`}},
		{`{"allOf":[{}]}`, nil, []string{`1`}},
		{`{"properties":{"a":{"not":{"type":"null"}}}}`, []string{`{"b":1}`}, []string{`{"a":1}`}},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","type":"string"}`, nil, []string{`"a"`}},
	} {
		s, err := Parse([]byte(c.schema))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range append(c.passes, c.holds...) {
			v, _, err := strictjson.Parse(text, strictjson.Limits{AnyRoot: true})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := s.sieve.passes(v), slices.Contains(c.passes, text); got != want {
				t.Errorf("%s lets %s pass: %v", c.schema, text, got)
			}
		}
	}
}
