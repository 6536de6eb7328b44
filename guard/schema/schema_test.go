package schema_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/internal/strictjson"
)

func as[T error](err error, target *T) bool { return errors.As(err, target) }

func parse(t *testing.T, text string) *schema.Schema {
	t.Helper()
	s, err := schema.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParseRefusesWithThePlace(t *testing.T) {
	var doubling strings.Builder
	doubling.WriteString(`{"$defs":{"a0":{"type":"string"}`)
	for i := 1; i <= 30; i++ {
		fmt.Fprintf(&doubling, `,"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]}`, i, i-1, i-1)
	}
	doubling.WriteString(`},"$ref":"#/$defs/a30"}`)
	for _, test := range []struct{ name, document, want string }{
		{"no JSON", `{`, "cannot be read"},
		{"root", `true`, "cannot be read"},
		{"duplicate", `{"type":"object","type":"array"}`, "duplicate-key"},
		{"network", `{"properties":{"a":{"$ref":"https://example.com/x.json"}}}`, "/properties/a/$ref: \"https://example.com/x.json\" is outside the document"},
		{"file", `{"$ref":"file:///etc/passwd"}`, "/$ref: \"file:///etc/passwd\" is outside the document"},
		{"relative", `{"$ref":"other.json#/a"}`, "outside the document"},
		{"metaschema", `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, "outside the document"},
		{"nowhere", `{"items":{"$ref":"#/$defs/gone"}}`, "/items/$ref: \"#/$defs/gone\" is nowhere"},
		{"nested id", `{"properties":{"a":{"$id":"x"}}}`, "/properties/a/$id"},
		{"draft", `{"$schema":"https://example.com/mine"}`, "/$schema"},
		{"old draft", `{"$schema":"http://json-schema.org/draft-04/schema#"}`, "/$schema"},
		{"type", `{"properties":{"a":{"type":"text"}}}`, "/properties/a/type"},
		{"pattern", `{"properties":{"a":{"pattern":"["}}}`, "/properties/a/pattern"},
		{"itself", `{"$ref":"#"}`, "refers to itself"},
		{"circle", `{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}`, "refers to itself"},
		{"doubling", doubling.String(), "more than 2000 schemas"},
		{"deep", strings.Repeat(`{"not":`, 70) + `{}` + strings.Repeat(`}`, 70), "rule depth"},
		{"long", `{"description":"` + strings.Repeat("a", 300<<10) + `"}`, "rule bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := schema.Parse([]byte(test.document)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestDataThatLooksLikeAReferenceIsNotOne(t *testing.T) {
	parse(t, `{"properties":{"$ref":{"const":{"$ref":"https://example.com"}},"$id":{"type":"string"}}}`)
}

func TestAnchorsAndOlderDraftsAreRead(t *testing.T) {
	s := parse(t, `{"properties":{"a":{"$ref":"#age"}},"$defs":{"x":{"$anchor":"age","type":"integer"}}}`)
	if s.Validate([]byte(`{"a":"x"}`)) == nil {
		t.Error("the anchor leads nowhere")
	}
	old := parse(t, `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/x"}},"definitions":{"x":{"type":"integer"}}}`)
	if old.Validate([]byte(`{"a":"x"}`)) == nil {
		t.Error("the definition leads nowhere")
	}
}

func TestViolationsSayWhereWhatAndHow(t *testing.T) {
	const object = `{"type":"object","additionalProperties":false,"required":["name"],"properties":{"name":{"type":"string"},"age":{"type":["integer","null"]}}}`
	for _, test := range []struct {
		name, schema, document string
		want                   []schema.Violation
	}{
		{"unknown members, one by one", object, `{"name":"a","x/y":1,"z~":[2]}`, []schema.Violation{
			{"/x~1y", "additionalProperties", "one of age, name", "number 1"},
			{"/z~0", "additionalProperties", "one of age, name", "array [2]"}}},
		{"missing", object, `{}`, []schema.Violation{{"/name", "required", "the member", "nothing"}}},
		{"union of types", object, `{"name":"a","age":"x"}`, []schema.Violation{{"/age", "type", "null or integer", `string "x"`}}},
		{"root", object, `[1]`, []schema.Violation{{"", "type", "object", "array [1]"}}},
		{"strict", object, `{"name":"a","name":"b"}`, []schema.Violation{{"/name", "duplicate-key", "*", "*"}}},
		{"long and hidden text", object, "{\"name\":\"a\",\"age\":\"\u202e" + strings.Repeat("é", 200) + `"}`, []schema.Violation{
			{"/age", "type", "null or integer", `string "\u{202e}` + strings.Repeat("é", 78) + "…"}}},
		{"the meant alternative only", `{"anyOf":[{"type":"null"},` + object + `]}`, `{"name":1}`, []schema.Violation{
			{"/name", "type", "string", "number 1"}}},
		{"no alternative", `{"oneOf":[{"type":"null"},{"type":"string"}]}`, `{}`, []schema.Violation{
			{"", "type", "null or string", "object {}"}}},
		{"two alternatives", `{"oneOf":[{"type":"object"},{"required":["a"]}]}`, `{"a":1}`, []schema.Violation{
			{"", "oneOf", "exactly one of the alternatives", `object {"a":1}`}}},
		{"member names", `{"properties":{"deep":{"propertyNames":{"pattern":"^[a-z]+$"}}}}`, `{"deep":{"A":1}}`, []schema.Violation{
			{"/deep/A", "propertyNames", "a name that is a match of ^[a-z]+$", "number 1"}}},
		{"false", `{"properties":{"a":false}}`, `{"a":1}`, []schema.Violation{{"/a", "false", "nothing here", "number 1"}}},
		{"contains", `{"properties":{"a":{"contains":{"type":"null"}}}}`, `{"a":[1,2]}`, []schema.Violation{
			{"/a", "contains", "an item that fits", "array [1,2]"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var invalid *schema.Invalid
			if err := parse(t, test.schema).Validate([]byte(test.document)); !as(err, &invalid) {
				t.Fatalf("got %v", err)
			}
			if len(invalid.Violations) != len(test.want) {
				t.Fatalf("got %v", invalid)
			}
			for i, want := range test.want {
				got := invalid.Violations[i]
				if want.Want == "*" {
					want.Want, want.Got = got.Want, got.Got
				}
				if got != want {
					t.Errorf("got  %q\nwant %q", got, want)
				}
			}
		})
	}
}

func TestAStrictJSONErrorIsBehindItsViolation(t *testing.T) {
	var strict *strictjson.Error
	if err := parse(t, `{}`).Validate([]byte(`{"a":1,"a":2}`)); !as(err, &strict) || strict.Rule != strictjson.RuleDuplicateKey {
		t.Errorf("got %v", err)
	}
}

func TestViolationsAreFewOrderedAndAlwaysTheSame(t *testing.T) {
	s := parse(t, `{"additionalProperties":{"type":"string"}}`)
	var document strings.Builder
	document.WriteString(`{"a":"fine"`)
	for i := range 30 {
		fmt.Fprintf(&document, `,"m%02d":%d`, i, i)
	}
	document.WriteString("}")
	var before string
	for range 20 {
		var invalid *schema.Invalid
		if err := s.Validate([]byte(document.String())); !as(err, &invalid) {
			t.Fatal("passed")
		}
		if len(invalid.Violations) != schema.MaxViolations || invalid.Total != 30 || invalid.Violations[7].Pointer != "/m07" {
			t.Fatalf("got %v", invalid)
		}
		if text := invalid.Error(); before != "" && text != before {
			t.Fatalf("got %s, then %s", before, text)
		} else {
			before = text
		}
	}
}

func TestAnOpenSchemaLetsUnknownMembersPassAndNothingElse(t *testing.T) {
	s := derive[wide](t)
	text, err := schema.Encode(s, wide{})
	if err != nil {
		t.Fatal(err)
	}
	newer := strings.Replace(string(text), `{`, `{"later":{"x":1},`, 1)
	newer = strings.Replace(newer, `"inline":{"A":0}`, `"inline":{"A":0,"later":1}`, 1)
	if s.Validate([]byte(newer)) == nil {
		t.Error("the closed schema let it pass")
	}
	if err := s.Open().Validate([]byte(newer)); err != nil {
		t.Error(err)
	}
	if s.Open().Validate([]byte(strings.Replace(newer, `"small":0`, `"small":"0"`, 1))) == nil {
		t.Error("a known member is no longer checked")
	}
	if _, err := schema.Decode[wide](s.Open(), []byte(newer)); err != nil {
		t.Error(err)
	}
}

func TestTheDocumentNamesItselfAndIsCanonical(t *testing.T) {
	s := derive[base](t)
	const want = `{"$id":"urn:schema:test.thing/v1","$schema":"https://json-schema.org/draft/2020-12/schema",` +
		`"additionalProperties":false,"properties":{"id":{"type":"string"}},"required":["id"],"type":"object"}`
	if got := string(s.JSON()); got != want {
		t.Errorf("got %s", got)
	}
	if s.ID() != "urn:schema:test.thing/v1" {
		t.Errorf("got %s", s.ID())
	}
	again := parse(t, want)
	if string(again.JSON()) != want {
		t.Errorf("parsed to %s", again.JSON())
	}
}

func TestEncodeLetsNothingInvalidOut(t *testing.T) {
	type seat struct {
		Row int `json:"row" jsonschema:"minimum=1"`
	}
	var invalid *schema.Invalid
	if _, err := schema.Encode(derive[seat](t), seat{}); !as(err, &invalid) || invalid.Violations[0].Pointer != "/row" {
		t.Errorf("got %v", err)
	}
	type wide struct {
		N map[string]int `json:"n"`
	}
	if _, err := schema.Encode(derive[wide](t), wide{map[string]int{"constructor": 1}}); !as(err, &invalid) {
		t.Errorf("got %v", err)
	}
}

func TestDecodeReportsWhatOnlyTheTypeRefuses(t *testing.T) {
	var invalid *schema.Invalid
	text, err := schema.Encode(derive[wide](t), wide{})
	if err != nil {
		t.Fatal(err)
	}
	bad := strings.Replace(string(text), `"address":""`, `"address":"nowhere"`, 1)
	if _, err := schema.Decode[wide](derive[wide](t), []byte(bad)); !as(err, &invalid) || invalid.Violations[0].Keyword != "decode" {
		t.Errorf("got %v", err)
	}
}

func TestAtFindsTheSchemaOfAPlace(t *testing.T) {
	s := parse(t, `{"$defs":{"node":{"type":"object","properties":{"value":{"type":"integer"},"next":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]}}}},
		"properties":{"list":{"type":"array","prefixItems":[{"type":"string"}],"items":{"$ref":"#/$defs/node"}},
		"map":{"additionalProperties":{"type":"boolean"},"patternProperties":{"^n":{"type":"number"}}},
		"a/b":{"$ref":"#/properties/list/prefixItems/0"},"again":{"$ref":"#"},"closed":{"additionalProperties":false}}}`)
	for _, test := range []struct{ pointer, good, bad string }{
		{"", `{}`, `{"map":{"x":1}}`},
		{"/list", `["a"]`, `[1]`},
		{"/list/0", `"a"`, `1`},
		{"/list/4", `{"value":1}`, `{"value":"a"}`},
		{"/list/4/value", `1`, `"a"`},
		{"/list/1/next/next/value", `1`, `"a"`},
		{"/list/1/next", `null`, `7`},
		{"/map/x", `true`, `1`},
		{"/map/n", `1`, `true`},
		{"/a~1b", `"a"`, `1`},
		{"/again/again/map/x", `true`, `1`},
	} {
		t.Run(test.pointer, func(t *testing.T) {
			text, ok := s.At(test.pointer)
			if !ok {
				t.Fatal("found nothing")
			}
			part := parse(t, string(text))
			if err := part.Validate([]byte(test.good)); err != nil {
				t.Errorf("%s: %v", text, err)
			}
			if part.Validate([]byte(test.bad)) == nil {
				t.Errorf("%s takes %s", text, test.bad)
			}
		})
	}
	for _, pointer := range []string{"x", "/gone", "/closed/x", "/list/x", "/~2"} {
		if text, ok := s.At(pointer); ok {
			t.Errorf("%s: found %s", pointer, text)
		}
	}
}

func TestASchemaMayBeUsedByManyAtOnce(t *testing.T) {
	s := derive[node](t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				if s.Validate([]byte(`{"name":"a","kids":[{"name":"b","kids":null}]}`)) != nil || s.Validate([]byte(`{"name":1}`)) == nil {
					t.Error("wrong verdict")
				}
			}
		})
	}
	group.Wait()
}

func TestASchemaAndAValueMadeForEachOtherAreRefusedInTime(t *testing.T) {
	const arm = `{"type":"object","properties":{"a":{"$ref":"#"}}}`
	value := []byte(strings.Repeat(`{"a":`, 31) + `1` + strings.Repeat(`}`, 31))
	for _, keyword := range []string{"allOf", "anyOf"} {
		s := parse(t, `{"type":"object","`+keyword+`":[`+arm+`,`+arm+`]}`)
		var invalid *schema.Invalid
		if err := s.Validate(value); !as(err, &invalid) || invalid.Violations[0].Keyword != "cost" {
			t.Errorf("%s: got %v", keyword, err)
		}
	}
	s := parse(t, `{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"},{"type":"integer"}]}}}`)
	lowered, err := s.Lower()
	if err != nil {
		t.Fatal(err)
	}
	var restore *schema.RestoreError
	if _, err := lowered.Restore(value); !as(err, &restore) {
		t.Errorf("restore: got %v", err)
	}
	if _, err := lowered.Apply(value); !as(err, &restore) {
		t.Errorf("apply: got %v", err)
	}
	if err := s.Validate([]byte(`{"a":{"a":{"a":1}}}`)); err != nil {
		t.Error(err)
	}
}
