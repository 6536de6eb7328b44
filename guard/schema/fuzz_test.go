package schema_test

import (
	"bytes"
	"testing"

	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/internal/strictjson"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func FuzzValidate(f *testing.F) {
	s, err := schema.For[journey]("test.journey/v1")
	if err != nil {
		f.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(s.JSON()))
	if err != nil {
		f.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	compiler.AssertContent()
	if err := compiler.AddResource("urn:direct", document); err != nil {
		f.Fatal(err)
	}
	direct := compiler.MustCompile("urn:direct")
	lowered, err := s.Lower()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"legs":null,"deep":{"a":{"b":[]}},"sure":null,"when":"2026-01-02T03:04:05Z","pair":{"left":null,"right":{}},"grid":[null,[true]]}`))
	f.Add([]byte(`{"legs":[{"from":"HEL","fare":1e2,"class":"economy","stops":["a",null]}],"blob":"AA==","when":"x","grid":[]}`))
	f.Add([]byte(`{"a~/\u0041":1,"deep":{"~":1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got := s.Validate(data)
		tree, err := strictjson.Tree(data, strictjson.Limits{AnyRoot: true})
		if err != nil {
			if got == nil {
				t.Fatal("took what is not strict JSON")
			}
			return
		}
		if want := direct.Validate(tree); (got == nil) != (want == nil) {
			t.Fatalf("got %v, want %v", got, want)
		}
		found := s.Check(tree)
		if (len(found) == 0) != (got == nil) || len(found) > schema.MaxViolations {
			t.Fatalf("check found %v", found)
		}
		if got == nil {
			written, err := lowered.Apply(data)
			if err != nil {
				t.Fatal(err)
			}
			back, err := lowered.Restore(written)
			canonical, _ := strictjson.Canonical(data, strictjson.Limits{AnyRoot: true})
			if err != nil || !bytes.Equal(back, canonical) {
				t.Fatalf("restored %s, %v", back, err)
			}
		}
		if restored, err := lowered.Restore(data); err == nil && len(restored) == 0 {
			t.Fatal("restored to nothing")
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"type":"object","properties":{"a":{"type":"string","minLength":1}},"required":["a"],"additionalProperties":false}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"$anchor":"x","anyOf":[{"$ref":"#x/"},{"type":"null"}]}}}`,
		`{"properties":{"next":{"$ref":"#"},"map":{"type":"object","additionalProperties":{"type":"integer"}}}}`,
		`{"$id":"urn:x","$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"items":[{},{}]}}}`,
		`{"$dynamicAnchor":"a","properties":{"a":{"$dynamicRef":"#a"}},"unevaluatedProperties":false}`,
		`{"if":{"const":1},"then":{"multipleOf":0.1},"dependentSchemas":{"a":{"not":{}}},"propertyNames":{"pattern":"^a"}}`,
	} {
		f.Add([]byte(seed), []byte(`{"a":[1,{"next":null}],"map":{"x":1}}`), "/a/1/next")
	}
	f.Fuzz(func(t *testing.T, document, value []byte, pointer string) {
		s, err := schema.Parse(document)
		if err != nil {
			return
		}
		again, err := schema.Parse(s.JSON())
		if err != nil || !bytes.Equal(again.JSON(), s.JSON()) {
			t.Fatalf("canonical form differs: %v", err)
		}
		verdict := s.Validate(value)
		if (again.Validate(value) == nil) != (verdict == nil) {
			t.Fatal("the canonical form judges otherwise")
		}
		s.Required()
		s.Properties()
		if opened := s.Open(); len(opened.JSON()) == 0 {
			t.Fatal("the open form is empty")
		}
		if part, ok := s.At(pointer); ok {
			if _, err := schema.Parse(part); err != nil {
				t.Fatalf("at %q: %s: %v", pointer, part, err)
			}
		}
		lowered, err := s.Lower()
		if err != nil {
			return
		}
		compiled, err := schema.Parse(lowered.JSON())
		if err != nil {
			t.Fatalf("lowered to %s: %v", lowered.JSON(), err)
		}
		compiled.Validate(value)
		if restored, err := lowered.Restore(value); err == nil && len(restored) == 0 {
			t.Fatal("restored to nothing")
		}
	})
}
