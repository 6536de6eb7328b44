package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/guard/schema"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

type leg struct {
	From  string             `json:"from" jsonschema:"minLength=0,maxLength=40,pattern=^.*$"`
	Fare  *float64           `json:"fare"`
	Seat  *int32             `json:"seat,omitempty"`
	Class level              `json:"class" jsonschema:"enum=economy,enum=business"`
	Meal  level              `json:"meal,omitempty" jsonschema:"enum=fish,enum=rice"`
	Notes map[string]*string `json:"notes,omitempty"`
	Stops []*string          `json:"stops"`
}

type journey struct {
	*Extra
	Legs   []leg                       `json:"legs" jsonschema_description:"In the order of travel."`
	Backup *leg                        `json:"backup,omitempty" jsonschema_description:"If the first is full."`
	Deep   map[string]map[string][]leg `json:"deep"`
	Blob   []byte                      `json:"blob,omitempty"`
	Count  uint8                       `json:"count,omitzero" jsonschema:"maximum=200"`
	Sure   *bool                       `json:"sure"`
	When   time.Time                   `json:"when"`
	Pair   pair[map[string]int]        `json:"pair"`
	Grid   [2][]bool                   `json:"grid"`
}

type family struct {
	Name string             `json:"name,omitempty"`
	Kids []family           `json:"kids,omitempty"`
	By   map[string]*family `json:"by"`
	Next *family            `json:"next,omitempty"`
}

func words(t *rapid.T) string { return rapid.StringMatching(`[a-z ~/é]{0,6}`).Draw(t, "text") }

func maybe[T any](t *rapid.T, value func(*rapid.T) T) *T {
	if rapid.Bool().Draw(t, "nil") {
		return nil
	}
	v := value(t)
	return &v
}

func slice[T any](t *rapid.T, value func(*rapid.T) T) []T {
	n := rapid.IntRange(-1, 3).Draw(t, "length")
	if n < 0 {
		return nil
	}
	list := make([]T, n)
	for i := range list {
		list[i] = value(t)
	}
	return list
}

func table[T any](t *rapid.T, value func(*rapid.T) T) map[string]T {
	n := rapid.IntRange(-1, 3).Draw(t, "size")
	if n < 0 {
		return nil
	}
	entries := map[string]T{}
	for range n {
		entries[words(t)] = value(t)
	}
	return entries
}

func drawLeg(t *rapid.T) leg {
	return leg{
		From:  words(t),
		Fare:  maybe(t, func(t *rapid.T) float64 { return float64(rapid.IntRange(-99, 99).Draw(t, "fare")) / 4 }),
		Seat:  maybe(t, func(t *rapid.T) int32 { return rapid.Int32().Draw(t, "seat") }),
		Class: rapid.SampledFrom([]level{"economy", "business"}).Draw(t, "class"),
		Meal:  rapid.SampledFrom([]level{"", "fish", "rice"}).Draw(t, "meal"),
		Notes: table(t, func(t *rapid.T) *string { return maybe(t, words) }),
		Stops: slice(t, func(t *rapid.T) *string { return maybe(t, words) }),
	}
}

func drawJourney(t *rapid.T) journey {
	return journey{
		Extra:  maybe(t, func(t *rapid.T) Extra { return Extra{words(t)} }),
		Legs:   slice(t, drawLeg),
		Backup: maybe(t, drawLeg),
		Deep: table(t, func(t *rapid.T) map[string][]leg {
			return table(t, func(t *rapid.T) []leg { return slice(t, drawLeg) })
		}),
		Blob:  slice(t, func(t *rapid.T) byte { return rapid.Byte().Draw(t, "byte") }),
		Count: rapid.Uint8Range(0, 200).Draw(t, "count"),
		Sure:  maybe(t, func(t *rapid.T) bool { return rapid.Bool().Draw(t, "sure") }),
		When:  time.Unix(rapid.Int64Range(0, 1<<32).Draw(t, "when"), 0).UTC(),
		Pair:  pair[map[string]int]{table(t, one), table(t, one)},
		Grid:  [2][]bool{slice(t, truth), nil},
	}
}

func one(t *rapid.T) int    { return rapid.IntRange(-5, 5).Draw(t, "n") }
func truth(t *rapid.T) bool { return rapid.Bool().Draw(t, "truth") }

func drawFamily(depth int) func(*rapid.T) family {
	return func(t *rapid.T) family {
		f := family{Name: words(t)}
		if depth > 0 {
			f.Kids = slice(t, drawFamily(depth-1))
			f.By = table(t, func(t *rapid.T) *family { return maybe(t, drawFamily(depth-1)) })
			f.Next = maybe(t, drawFamily(depth-1))
		}
		return f
	}
}

func compile(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("urn:lowered", document); err != nil {
		t.Fatal(err)
	}
	return compiler.MustCompile("urn:lowered")
}

func roundTrip[T any](t *testing.T, draw func(*rapid.T) T) {
	t.Helper()
	s := derive[T](t)
	lowered, err := s.Lower()
	if err != nil {
		t.Fatal(err)
	}
	checkSubset(t, lowered.JSON())
	judge := compile(t, lowered.JSON())
	rapid.Check(t, func(t *rapid.T) {
		text, err := schema.Encode(s, draw(t))
		if err != nil {
			t.Fatal(err)
		}
		written, err := lowered.Apply(text)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(written)))
		if err != nil {
			t.Fatal(err)
		}
		if err := judge.Validate(value); err != nil {
			t.Fatalf("%s\n%v", written, err)
		}
		back, err := lowered.Restore(written)
		if err != nil {
			t.Fatal(err)
		}
		if string(back) != string(text) {
			t.Fatalf("\nwas  %s\nwent %s\nback %s", text, written, back)
		}
	})
}

// checkSubset fails on any keyword outside the strict subset and on any object
// that is open or has optional members.
func checkSubset(t *testing.T, text []byte) {
	t.Helper()
	allowed := " type properties required additionalProperties items anyOf enum description $ref $defs format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems "
	var visit func(node any)
	visit = func(node any) {
		object, ok := node.(map[string]any)
		if !ok {
			t.Errorf("%v is no schema of the subset", node)
			return
		}
		for keyword := range object {
			if !strings.Contains(allowed, " "+keyword+" ") {
				t.Errorf("keyword %s is outside the subset", keyword)
			}
		}
		if _, ref := object["$ref"]; ref && len(object) > 1 {
			t.Errorf("a reference has siblings: %v", object)
		}
		properties, _ := object["properties"].(map[string]any)
		required, _ := object["required"].([]any)
		if len(properties) != len(required) || properties != nil && object["additionalProperties"] != false {
			t.Errorf("an object is not closed: %v", object)
		}
		for _, child := range properties {
			visit(child)
		}
		definitions, _ := object["$defs"].(map[string]any)
		for _, child := range definitions {
			visit(child)
		}
		arms, _ := object["anyOf"].([]any)
		for _, child := range arms {
			visit(child)
		}
		if items, ok := object["items"]; ok {
			visit(items)
		}
	}
	var root any
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	visit(root)
}

func TestRestoreIsTheInverseOfApplyForStructs(t *testing.T) { roundTrip(t, drawJourney) }

func TestRestoreIsTheInverseOfApplyForRecursiveTypes(t *testing.T) { roundTrip(t, drawFamily(2)) }

func TestLowering(t *testing.T) {
	for _, test := range []struct{ name, properties, lowered string }{
		{"optional", `"a":{"type":"string"}`, `"a":{"type":["string","null"]}`},
		{"optional enum", `"a":{"enum":["x",1]}`, `"a":{"enum":["x",1,null],"type":["string","number","null"]}`},
		{"const", `"a":{"const":"x"}`, `"a":{"enum":["x",null],"type":["string","null"]}`},
		{"reference with siblings", `"a":{"$ref":"#/$defs/x","description":"Why."}`,
			`"a":{"anyOf":[{"$ref":"#/$defs/x"},{"type":"null"}],"description":"Why."}`},
		{"one of", `"a":{"oneOf":[{"type":"null"},{"type":"string"}]}`, `"a":{"anyOf":[{"type":"null"},{"type":"string"}]}`},
		{"words", `"a":{"type":"string","minLength":1,"maxLength":9,"pattern":"^x","format":"uri","title":"A","description":"Said."}`,
			`"a":{"description":"Said. At least 1 characters. At most 9 characters. Matches the regular expression ^x . In the format uri.","type":["string","null"]}`},
		{"kept", `"a":{"type":"integer","minimum":1,"maximum":9007199254740991}`, `"a":{"minimum":1,"type":["integer","null"]}`},
		{"map", `"a":{"additionalProperties":{"type":"integer"},"maxProperties":2,"type":"object"}`,
			`"a":{"description":"At most 2 entries.","items":{"additionalProperties":false,"properties":{"key":{"type":"string"},"value":{"type":"integer"}},"required":["key","value"],"type":"object"},"type":["array","null"]}`},
		{"all of one", `"a":{"allOf":[{"$ref":"#/$defs/x"}]}`, `"a":{"anyOf":[{"$ref":"#/$defs/x"},{"type":"null"}]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			lowered, err := parse(t, `{"type":"object","properties":{`+test.properties+`},"$defs":{"x":{"type":"integer"}}}`).Lower()
			if err != nil {
				t.Fatal(err)
			}
			if got := string(lowered.JSON()); !strings.Contains(got, `"properties":{`+test.lowered+`},"required":["a"]`) {
				t.Errorf("got %s", got)
			}
			checkSubset(t, lowered.JSON())
		})
	}
}

func TestWhatTheSubsetCannotSayIsNotLowered(t *testing.T) {
	var many strings.Builder
	for i := range 1001 {
		fmt.Fprintf(&many, `,"v%d"`, i)
	}
	deep := strings.Repeat(`{"type":"array","items":`, 12) + `{"type":"null"}` + strings.Repeat(`}`, 12)
	for _, test := range []struct{ name, property, want string }{
		{"true", `true`, "/properties/a allows any value"},
		{"empty", `{}`, "/properties/a allows any value"},
		{"no type", `{"description":"x"}`, "allows any type"},
		{"any member", `{"type":"object"}`, "allows any members"},
		{"any item", `{"type":"array"}`, "allows any items"},
		{"mixed members", `{"type":"object","properties":{"b":{"type":"null"}},"additionalProperties":{"type":"null"}}`, "beside known ones"},
		{"tuple", `{"type":"array","prefixItems":[{"type":"null"}]}`, "prefixItems cannot be lowered"},
		{"not", `{"not":{"type":"null"}}`, "not cannot be lowered"},
		{"all of", `{"allOf":[{"type":"string"},{"type":"string"}]}`, "allOf cannot be lowered"},
		{"object enum", `{"enum":[{}]}`, "among the allowed values"},
		{"several structures", `{"type":["object","string"],"properties":{"b":{"type":"null"}}}`, "together cannot be lowered"},
		{"unknown required", `{"type":"object","required":["z"],"additionalProperties":false}`, `requires "z"`},
		{"many values", `{"enum":["w"` + many.String() + `]}`, "1003 enum values"},
		{"many levels", deep, "13 levels"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := parse(t, `{"type":"object","properties":{"a":`+test.property+`}}`).Lower()
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
	for _, root := range []string{`{"type":"string"}`, `{"type":"object","additionalProperties":{"type":"null"}}`, `{"anyOf":[{"type":"null"}]}`} {
		if _, err := parse(t, root).Lower(); err == nil {
			t.Errorf("%s was lowered", root)
		}
	}
}

func TestRestoreNeverGuesses(t *testing.T) {
	const entries = `"type":"object","additionalProperties":{"type":"integer"}`
	for _, test := range []struct{ name, property, lowered, want string }{
		{"null stays where it is allowed", `{"type":["string","null"]}`, `{"a":null}`, `{"a":null}`},
		{"null goes where it means absent", `{"type":"string"}`, `{"a":null}`, `{}`},
		{"entries", `{` + entries + `}`, `{"a":[{"key":"y","value":2},{"key":"x","value":1}]}`, `{"a":{"x":1,"y":2}}`},
		{"key twice", `{` + entries + `}`, `{"a":[{"key":"x","value":2},{"key":"x","value":1}]}`, "/a/1/key"},
		{"a map left as it was", `{` + entries + `}`, `{"a":{"x":1}}`, `{"a":{"x":1}}`},
		{"not entries", `{` + entries + `}`, `{"a":[{"key":"x"}]}`, `{"a":[{"key":"x"}]}`},
		{"the alternative that fits", `{"anyOf":[{"type":"array","items":{"type":"string"}},{` + entries + `}]}`, `{"a":[{"key":"x","value":1}]}`, `{"a":{"x":1}}`},
		{"the alternative that has the shape", `{"anyOf":[{"type":"null"},{` + entries + `}]}`, `{"a":[{"key":"x","value":"bad"}]}`, `{"a":{"x":"bad"}}`},
		{"two meanings", `{"anyOf":[{"type":"object","properties":{"b":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"null"}}}]}`, `{"a":{"b":null}}`, "it could mean different values"},
		{"unknown member", `{"type":"string"}`, `{"z":null}`, `{"z":null}`},
		{"no JSON", `{"type":"string"}`, `{"a":`, "rule syntax"},
		{"forbidden key", `{` + entries + `}`, `{"a":[{"key":"__proto__","value":2}]}`, "rule forbidden-key"},
	} {
		t.Run(test.name, func(t *testing.T) {
			lowered, err := parse(t, `{"type":"object","properties":{"a":`+test.property+`}}`).Lower()
			if err != nil {
				t.Fatal(err)
			}
			got, err := lowered.Restore([]byte(test.lowered))
			if err != nil {
				got = []byte(err.Error())
			}
			if string(got) != test.want && (err == nil || !strings.Contains(string(got), test.want)) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestADefinitionThatIsOnlyAReferenceRestores(t *testing.T) {
	lowered, err := parse(t, `{"type":"object","properties":{"b":{"$ref":"#/$defs/b"}},"$defs":{"a":{"$ref":"#/$defs/b"},
		"b":{"type":"object","properties":{"next":{"$ref":"#/$defs/a"},"map":{"type":"object","additionalProperties":{"type":"integer"}}}}}}`).Lower()
	if err != nil {
		t.Fatal(err)
	}
	got, err := lowered.Restore([]byte(`{"b":{"map":null,"next":{"next":{"next":null,"map":[{"key":"x","value":1}]},"map":[]}}}`))
	if err != nil || string(got) != `{"b":{"next":{"map":{},"next":{"map":{"x":1}}}}}` {
		t.Errorf("got %s, %v", got, err)
	}
}
