package repair

import (
	"slices"
	"strings"
	"testing"

	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/llm"
)

const tripSchema = `{"type":"object","additionalProperties":false,"required":["city","days"],"properties":{
	"city":{"type":"string","minLength":1},
	"days":{"type":"integer","minimum":1,"maximum":14},
	"unit":{"enum":["celsius","fahrenheit","Kelvin","KELVIN"]},
	"note":{"type":["string","null"]},
	"sure":{"type":"boolean"},
	"price":{"type":"number"},
	"tags":{"type":"array","items":{"type":"string"},"minItems":1},
	"seat":{"type":"object","additionalProperties":false,"required":["row"],"properties":{"row":{"type":"integer"},"at":{"enum":["aisle","window"]}}},
	"version":{"type":"integer"},
	"order_id":{"type":"integer"},
	"performative":{"enum":["request","inform"]}}}`

func parsed(t testing.TB, document string) *schema.Schema {
	t.Helper()
	s, err := schema.Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ops(fixes []Fix) string {
	var list []string
	for _, f := range fixes {
		list = append(list, f.Op)
	}
	return strings.Join(list, " ")
}

type mendCase struct {
	name, raw string
	value     string // "" means needs-model
	ops       string
}

func (c mendCase) check(t *testing.T, s *schema.Schema, o Options) {
	t.Helper()
	got := Mend([]byte(c.raw), s, o)
	want := NeedsModel
	switch {
	case c.value != "" && c.ops == "":
		want = OK
	case c.value != "":
		want = Repaired
	}
	if got.Outcome != want || string(got.Value) != c.value || ops(got.Fixes) != c.ops {
		t.Errorf("%q:\n got %s %s [%s] %+v\nwant %s %s [%s]", c.raw, got.Outcome, got.Value, ops(got.Fixes), got.Violations, want, c.value, c.ops)
	}
	if (len(got.Violations) == 0) != (want == OK) {
		t.Errorf("%q: outcome %s with violations %v", c.raw, got.Outcome, got.Violations)
	}
}

const turku = `{"city":"Turku","days":3}`

var stopped = Options{Finish: llm.FinishStop}

func TestWhatSurroundsAValueIsTakenOff(t *testing.T) {
	s := parsed(t, tripSchema)
	for _, c := range []mendCase{
		{"nothing to do", turku, turku, ""},
		{"white space", " \n" + turku + "\n", turku, ""},
		{"byte order mark", "\uFEFF" + turku, turku, "trim"},
		{"no-break space after it", turku + "\u00A0", turku, "trim"},
		{"think", `<think>{"city":"No","days":1}</think>` + turku, turku, "reasoning"},
		{"thinking", "<thinking>hm</thinking>\n" + turku, turku, "reasoning"},
		{"reasoning", "<reasoning>hm</reasoning>" + turku, turku, "reasoning"},
		{"THINK", "<THINK>hm</Think>" + turku, turku, "reasoning"},
		{"reasoning later", "Well. <think>" + turku + "</think>" + turku, turku, "reasoning prose"},
		{"fence", "```json\n" + turku + "\n```", turku, "fence"},
		{"long fence", "````\n" + turku + "\n````", turku, "fence"},
		{"fence on one line", "```json " + turku + "```", turku, "fence"},
		{"fence without an end", "```json\n" + turku, turku, "fence"},
		{"think and fence", "<think>a ``` b</think>\n```\n" + turku + "\n```\n", turku, "reasoning fence"},
		{"prose before", "Here it is: " + turku, turku, "prose"},
		{"prose after", turku + " Enjoy!", turku, "prose"},
		{"a mark after", turku + " !", turku, "prose"},
		{"a comma after", turku + ",", turku, "prose"},
		{"marks before", "<- ` " + turku, turku, "prose"},
		{"prose and fence", "Sure:\n```json\n" + turku + "\n```\nDone [1].", turku, "fence prose"},
		{"brackets in the prose", "For {city} see [1, 2] and [sic]: " + turku, turku, "prose"},
		{"marks in a string", `{"city":"<think> ` + "```" + ` </think>","days":1}`, `{"city":"<think> ` + "```" + ` </think>","days":1}`, ""},
		{"marks in a string after a fence", "```\n" + `{"city":"<think>","days":1}` + "\n```", `{"city":"<think>","days":1}`, "fence"},
		{"one of two fits", `The form is {"place":"x"} and so ` + turku, turku, "prose"},
		{"placeholder", "{}" + turku, turku, "placeholder"},
		{"placeholder and white space", "{}\n" + turku, turku, "placeholder"},

		{"reasoning without an end", "<think>" + turku, "", ""},
		{"reasoning without a beginning", "hm " + turku + "</think>" + turku, "", ""},
		{"reasoning cut after the value", turku + "<think>or", "", ""},
		{"two values", turku + `{"city":"Oulu","days":1}`, "", ""},
		{"two values in prose", turku + ` or {"city":"Oulu","days":1}`, "", ""},
		{"two fenced values", "```\n" + turku + "\n```\n```json\n" + turku + "\n```", "", ""},
		{"two equal values", turku + turku, "", ""},
		{"lines of values", turku + "\n" + turku, "", ""},
		{"two merged calls of which one fits", `{"place":"x"}` + turku, "", ""},
		{"a second that is cut", turku + `{"city":"Ou`, "", ""},
		{"a second in prose that is cut", turku + ` or {"city":"Ou`, "", ""},
		{"two placeholders", "{}{}" + turku, "", ""},
		{"placeholder last", turku + "{}", "", ""},
		{"placeholder and two", "{}" + turku + turku, "", ""},
		{"placeholder of another kind", "[]" + turku, "", ""},
		{"value within a broken one", `{"x":NaN,"y":` + turku + `}`, "", ""},
		{"value within a broken list", `[NaN, ` + turku + `]`, "", ""},
		{"value within an ellipsis", `{... ` + turku + `}`, "", ""},
		{"prose", "I cannot know the city.", "", ""},
		{"call dialect", `<function=trip=` + turku + `</function>`, "", ""},
		{"call dialect", `<tool_call>` + turku + `</tool_call>`, "", ""},
		{"call dialect", `[TOOL_CALLS]` + turku, "", ""},
		{"call dialect", `<|python_tag|>` + turku, "", ""},
		{"unknown reasoning", `[THINK]` + turku + `[/THINK] {"city":"Oulu","days":99}`, "", ""},
		{"call dialect", `functools[` + turku + `]`, "", ""},
		{"a list of the value", "[" + turku + "]", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t, s, stopped) })
	}
}

func TestSpellingIsMended(t *testing.T) {
	s := parsed(t, tripSchema)
	for _, c := range []mendCase{
		{"trailing comma", `{"city":"Turku","days":3,}`, turku, "trailing-comma"},
		{"trailing comma in a list", `{"city":"Turku","days":3,"tags":["a" , ]}`, `{"city":"Turku","days":3,"tags":["a"]}`, "trailing-comma"},
		{"line comment", "{\"city\":\"Turku\", // where\n\"days\":3}", turku, "comment"},
		{"hash comment", "{\"city\":\"Turku\", # where\n\"days\":3}", turku, "comment"},
		{"block comment", `{/* a */"city":"Turku"/**/,"days":3}`, turku, "comment comment"},
		{"no comment in a string", `{"city":"//Turku # /* */","days":3,}`, `{"city":"//Turku # /* */","days":3}`, "trailing-comma"},
		{"single quotes", `{'city':'Turku','days':3}`, turku, "quotes quotes quotes"},
		{"single quotes with others inside", `{'city':'T"u\'r"ku\"','days':3}`, `{"city":"T\"u'r\"ku\"","days":3}`, "quotes quotes quotes"},
		{"curly quotes", `{“city”:“Tu"rku”,‘days’:3}`, `{"city":"Tu\"rku","days":3}`, "quotes quotes quotes"},
		{"bare keys", `{city:"Turku",days :3}`, turku, "bare-key bare-key"},
		{"literals", `{"city":"Turku","days":3,"note":None,"sure":True}`, `{"city":"Turku","days":3,"note":null,"sure":true}`, "literal literal"},
		{"a literal in a string", `{'city':'None','days':3}`, `{"city":"None","days":3}`, "quotes quotes quotes"},
		{"raw control characters", "{\"city\":\"a\nb\tc\r\",\"days\":3}", `{"city":"a\nb\tc\r","days":3}`, "control control control"},
		{"several at once", "Result:\n```js\n{city: 'Turku', // x\n days: 3,}\n```", turku, "fence prose bare-key quotes comment bare-key trailing-comma"},

		{"unescaped quote", `{"city":"Tu"rku","days":3}`, "", ""},
		{"apostrophe in single quotes", `{'city':'L'Aquila','days':3}`, "", ""},
		{"closed by another quote", `{"city”:"Turku","days":3}`, "", ""},
		{"two commas", `{"city":"Turku",,"days":3}`, "", ""},
		{"leading comma", `{,"city":"Turku","days":3}`, "", ""},
		{"missing comma", `{"city":"Turku" "days":3}`, "", ""},
		{"missing colon", `{"city" "Turku","days":3}`, "", ""},
		{"key with a hyphen", `{ci-ty:"Turku","days":3}`, "", ""},
		{"bare value", `{"city":Turku,"days":3}`, "", ""},
		{"NaN", `{"city":"Turku","days":3,"price":NaN}`, "", ""},
		{"Infinity", `{"city":"Turku","days":3,"price":-Infinity}`, "", ""},
		{"undefined", `{"city":"Turku","days":3,"note":undefined}`, "", ""},
		{"TRUE", `{"city":"Turku","days":3,"sure":TRUE}`, "", ""},
		{"plus sign", `{"city":"Turku","days":+3}`, "", ""},
		{"leading zero", `{"city":"Turku","days":03}`, "", ""},
		{"no digit before the point", `{"city":"Turku","days":3,"price":.5}`, "", ""},
		{"underscore in a number", `{"city":"Turku","days":3,"price":1_000}`, "", ""},
		{"hexadecimal", `{"city":"Turku","days":0x3}`, "", ""},
		{"unknown escape", `{'city':'\x41','days':3}`, "", ""},
		{"escaped apostrophe in double quotes", `{"city":"L\'Aquila","days":3}`, "", ""},
		{"bell in a string", "{\"city\":\"a\ab\",\"days\":3}", "", ""},
		{"lone surrogate", `{"city":"\ud800","days":3,}`, "", ""},
		{"duplicate key", `{"city":"Turku","days":3,"days":4}`, "", ""},
		{"duplicate key after a mend", `{"city":"Turku","days":3,days:4}`, "", ""},
		{"case variant", `{"city":"Turku","City":"Oulu","days":3}`, "", ""},
		{"integer beyond 2^53", `{"city":"Turku","days":3,"price":9007199254740993}`, "", ""},
		{"ellipsis", `{"city":"Turku","days":3,...}`, "", ""},
		{"wrong closer", `{"city":"Turku","days":3]`, "", ""},
		{"everything in a comment", "{/* " + turku + " */}", "", ""},
		{"comment without an end", `{"city":"Turku","days":3 /* }`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t, s, stopped) })
	}
}

func TestOnlyACertainEndIsClosed(t *testing.T) {
	s := parsed(t, tripSchema)
	closable := `{"days":3,"city":"Turku","tags":["a"`
	closed := `{"city":"Turku","days":3,"tags":["a"]}`
	for _, c := range []mendCase{
		{"after a string", closable, closed, "close"},
		{"after a closer", closable + "]", closed, "close"},
		{"after a literal", `{"days":3,"city":"Turku","sure":true`, `{"city":"Turku","days":3,"sure":true}`, "close"},
		{"in a fence", "```json\n" + closable + "\n```", closed, "fence close"},
		{"in a string", `{"days":3,"city":"Tur`, "", ""},
		{"after a backslash", `{"days":3,"city":"Tur\`, "", ""},
		{"after a number", `{"city":"Turku","days":3`, "", ""},
		{"after a comma", closable + ",", "", ""},
		{"after a key", `{"days":3,"city":"Turku","tags"`, "", ""},
		{"after a colon", `{"days":3,"city":"Turku","note":`, "", ""},
		{"in a literal", `{"days":3,"city":"Turku","sure":tr`, "", ""},
		{"in a comment", closable + ` // more`, "", ""},
		{"without a required member", `{"city":"Turku"`, "", ""},
		{"without a required member below", `{"days":3,"city":"Turku","seat":{`, "", ""},
		{"with a second value before it", turku + closable, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.check(t, s, stopped)
			c.value, c.ops = "", ""
			for _, o := range []Options{
				{Finish: llm.FinishStop, Effect: true}, {Finish: llm.FinishLength}, {Finish: llm.FinishCalls}, {},
			} {
				c.check(t, s, o)
			}
		})
	}
}

func TestAValueIsFittedToItsSchema(t *testing.T) {
	s := parsed(t, tripSchema)
	for _, c := range []mendCase{
		{"root in a string", `"{\"city\":\"Turku\",\"days\":3}"`, turku, "decode"},
		{"root in two strings", `"\"{\\\"city\\\":\\\"Turku\\\",\\\"days\\\":3}\""`, turku, "decode"},
		{"root in a fenced string", "```\n" + `"{\"city\":\"Turku\",\"days\":3}"` + "\n```", turku, "fence decode"},
		{"object in a string", `{"city":"Turku","days":3,"seat":"{\"row\":4}"}`, `{"city":"Turku","days":3,"seat":{"row":4}}`, "decode"},
		{"list in a string", `{"city":"Turku","days":3,"tags":"[\"a\"]"}`, `{"city":"Turku","days":3,"tags":["a"]}`, "decode"},
		{"mend within what was decoded", `{"city":"Turku","days":3,"seat":"{\"row\":\"4\"}"}`, `{"city":"Turku","days":3,"seat":{"row":4}}`, "decode integer"},
		{"enum in another case", `{"city":"Turku","days":3,"unit":"CELSIUS"}`, `{"city":"Turku","days":3,"unit":"celsius"}`, "enum"},
		{"enum below", `{"city":"Turku","days":3,"seat":{"row":1,"at":"Aisle"}}`, `{"city":"Turku","days":3,"seat":{"at":"aisle","row":1}}`, "enum"},
		{"integer in a string", `{"city":"Turku","days":"3"}`, turku, "integer"},
		{"JSON in a string field", `{"city":"{\"a\":1}","days":3}`, `{"city":"{\"a\":1}","days":3}`, ""},
		{"digits in a string field", `{"city":"00420","days":3}`, `{"city":"00420","days":3}`, ""},

		{"root in three strings", `"\"\\\"{\\\\\\\"city\\\\\\\":\\\\\\\"Turku\\\\\\\",\\\\\\\"days\\\\\\\":3}\\\"\""`, "", ""},
		{"list where an object must be", `{"city":"Turku","days":3,"seat":"[4]"}`, "", ""},
		{"broken JSON in a string", `{"city":"Turku","days":3,"seat":"{row:4}"}`, "", ""},
		{"duplicate keys in a string", `{"city":"Turku","days":3,"seat":"{\"row\":4,\"row\":5}"}`, "", ""},
		{"enum with two matches", `{"city":"Turku","days":3,"unit":"kelvin"}`, "", ""},
		{"enum with another letter", `{"city":"Turku","days":3,"unit":"cel\u017fiu\u017f"}`, "", ""},
		{"enum prefix", `{"city":"Turku","days":3,"unit":"cel"}`, "", ""},
		{"enum with white space", `{"city":"Turku","days":3,"unit":"celsius "}`, "", ""},
		{"integer out of range", `{"city":"Turku","days":"15"}`, "", ""},
		{"integer with a zero in front", `{"city":"Turku","days":"03"}`, "", ""},
		{"integer with a sign", `{"city":"Turku","days":"+3"}`, "", ""},
		{"integer with a fraction", `{"city":"Turku","days":"3.0"}`, "", ""},
		{"integer with an exponent", `{"city":"Turku","days":"1e1"}`, "", ""},
		{"integer with a separator", `{"city":"Turku","days":3,"seat":{"row":"1,200"}}`, "", ""},
		{"integer with white space", `{"city":"Turku","days":" 3"}`, "", ""},
		{"minus zero", `{"city":"Turku","days":3,"seat":{"row":"-0"}}`, "", ""},
		{"integer beyond 2^53", `{"city":"Turku","days":3,"seat":{"row":"9007199254740992"}}`, "", ""},
		{"number in a string", `{"city":"Turku","days":3,"price":"3"}`, "", ""},
		{"number for a string", `{"city":7,"days":3}`, "", ""},
		{"boolean in a string", `{"city":"Turku","days":3,"sure":"true"}`, "", ""},
		{"yes", `{"city":"Turku","days":3,"sure":"yes"}`, "", ""},
		{"scalar for a list", `{"city":"Turku","days":3,"tags":"red"}`, "", ""},
		{"missing member", `{"city":"Turku"}`, "", ""},
		{"unknown member", `{"city":"Turku","days":3,"day":4}`, "", ""},
		{"version", `{"city":"Turku","days":3,"version":"2"}`, "", ""},
		{"id", `{"city":"Turku","days":3,"order_id":"2"}`, "", ""},
		{"performative", `{"city":"Turku","days":3,"performative":"Inform"}`, "", ""},
		{"one of two violations", `{"city":7,"days":"3"}`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t, s, stopped) })
	}
}

func TestNullsUnionsAndReferencesAreReadForTheirTypes(t *testing.T) {
	s := parsed(t, `{"type":"object","properties":{
		"a":{"anyOf":[{"$ref":"#/$defs/count"},{"type":"null"}]},
		"b":{"type":["object","null"]},
		"c":{"oneOf":[{"type":"integer"},{"type":"boolean"}]},
		"d":{}},
		"$defs":{"count":{"type":"integer"}}}`)
	for _, c := range []mendCase{
		{"nullable reference", `{"a":"1"}`, `{"a":1}`, "integer"},
		{"nullable object", `{"b":"{}"}`, `{"b":{}}`, "decode"},
		{"null as text", `{"b":"null"}`, "", ""},
		{"two types", `{"c":"1"}`, "", ""},
		{"anything", `{"d":"1"}`, `{"d":"1"}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t, s, stopped) })
	}
}

func TestAnExactPlaceIsTakenAsWritten(t *testing.T) {
	s := parsed(t, tripSchema)
	o := Options{Finish: llm.FinishStop, Exact: func(at string) bool { return at == "/days" || at == "/seat/at" }}
	for _, raw := range []string{`{"city":"Turku","days":"3"}`, `{"city":"Turku","days":3,"seat":{"row":1,"at":"Aisle"}}`} {
		mendCase{raw: raw}.check(t, s, o)
	}
	mendCase{raw: `{"city":"Turku","days":3,"seat":{"row":"1"}}`, value: `{"city":"Turku","days":3,"seat":{"row":1}}`, ops: "integer"}.check(t, s, o)
}

func TestNoTextIsNoMembersOnlyIfNoneIsRequired(t *testing.T) {
	effect := Options{Finish: llm.FinishStop, Effect: true}
	none := parsed(t, `{"type":"object","additionalProperties":false,"properties":{}}`)
	optional := parsed(t, `{"type":"object","properties":{"filter":{"type":"string"}}}`)
	for _, raw := range []string{"", " \n", "\uFEFF"} {
		for _, o := range []Options{stopped, effect} {
			if got := Mend([]byte(raw), none, o); got.Outcome != Repaired || string(got.Value) != "{}" {
				t.Errorf("%q with no members: %+v", raw, got)
			}
		}
		if got := Mend([]byte(raw), optional, stopped); got.Outcome != Repaired || string(got.Value) != "{}" {
			t.Errorf("%q with optional members: %+v", raw, got)
		}
		if got := Mend([]byte(raw), optional, effect); got.Outcome != NeedsModel {
			t.Errorf("%q with optional members of an effect: %+v", raw, got)
		}
		mendCase{raw: raw}.check(t, parsed(t, tripSchema), stopped)
	}
	if got := Mend([]byte("<think>nothing</think>"), none, stopped); got.Outcome != NeedsModel {
		t.Errorf("only reasoning: %+v", got)
	}
}

func TestAReplyThatWasCutIsNeverMended(t *testing.T) {
	s := parsed(t, tripSchema)
	cut := Options{Finish: llm.FinishLength}
	mendCase{raw: turku, value: turku}.check(t, s, cut)
	for _, raw := range []string{"", turku[:10], turku + "{", "Here: " + turku, "{'city':'Turku','days':3}", `{"city":"Turku","days":"3"}`} {
		mendCase{raw: raw}.check(t, s, cut)
	}
	number := parsed(t, `{"type":"integer"}`)
	mendCase{raw: "12", value: "12"}.check(t, number, stopped)
	mendCase{raw: "12"}.check(t, number, cut)
}

func TestHopelessTextsAreRejectedUnread(t *testing.T) {
	s := parsed(t, tripSchema)
	for name, c := range map[string]struct {
		raw  string
		o    Options
		rule string
	}{
		"withheld":            {turku, Options{Finish: llm.FinishFilter}, "finish"},
		"declined":            {turku, Options{Finish: llm.FinishRefusal}, "finish"},
		"oversized":           {turku + strings.Repeat(" ", maxText), stopped, "size"},
		"not UTF-8":           {"\xff\xfe\x00\x01", stopped, "binary"},
		"text with NUL bytes": {"a\x00b", stopped, "binary"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Mend([]byte(c.raw), s, c.o)
			if got.Outcome != Rejected || got.Value != nil || len(got.Violations) != 1 || got.Violations[0].Rule != c.rule {
				t.Errorf("got %+v", got)
			}
		})
	}
	mendCase{raw: "{\"city\":\"\xff\",\"days\":3}"}.check(t, s, stopped)
}

func TestFixesSayWhere(t *testing.T) {
	got := Mend([]byte(`Yes: {"city":'Turku',"days":"3",}`), parsed(t, tripSchema), stopped)
	want := []Fix{{opProse, 0, ""}, {opQuotes, 13, ""}, {opTrailingComma, 31, ""}, {opInteger, 5, "/days"}}
	if !slices.Equal(got.Fixes, want) {
		t.Errorf("got %v, want %v", got.Fixes, want)
	}
}

func TestViolationsNameThePlaceAndTheRule(t *testing.T) {
	s := parsed(t, tripSchema)
	for raw, want := range map[string]string{
		`{"city":"Turku","days":99}`:       "maximum at /days",
		`{"city":"Turku"}`:                 "required at /days",
		`{"city":"a","days":1,"days":2}`:   "duplicate-key at /days",
		turku + turku:                      "ambiguous",
		`{"city":"Tur`:                     "truncated",
		"<think>":                          "reasoning",
		"<function=x>{}":                   "dialect",
		`{"city":"Turku","days":3} {"ci":`: "ambiguous",
	} {
		got := Mend([]byte(raw), s, stopped)
		if len(got.Violations) == 0 || got.Violations[0].String() != want {
			t.Errorf("%s: got %v, want %s", raw, got.Violations, want)
		}
	}
}

func TestMendLeavesItsInputAlone(t *testing.T) {
	raw := []byte(`x {'city':'Turku','days':3,'tags':['a'`)
	before := string(raw)
	if got := Mend(raw, parsed(t, tripSchema), stopped); got.Outcome != Repaired || string(raw) != before {
		t.Errorf("%s after %+v", raw, got)
	}
}
