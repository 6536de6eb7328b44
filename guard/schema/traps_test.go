package schema_test

import (
	"encoding/json"
	"math/big"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
	"github.com/parley-agents/parley/guard/schema"
)

func derive[T any](t *testing.T) *schema.Schema {
	t.Helper()
	s, err := schema.For[T]("test.thing/v1")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type pair[T any] struct {
	Left  T `json:"left"`
	Right T `json:"right"`
}

type tags []string

type level string

type base struct {
	ID string `json:"id"`
}

type extra struct {
	Note string `json:"note"`
}

type flat struct {
	base
	*Extra
	Own int `json:"own"`
}

type Extra struct {
	Note string `json:"note"`
}

type node struct {
	Name string  `json:"name"`
	Next *node   `json:"next,omitempty"`
	Kids []*node `json:"kids"`
}

type celsius float64

func (celsius) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "number", Minimum: "-273.15"}
}

type wide struct {
	Pointer   *int              `json:"pointer"`
	Struct    *base             `json:"struct"`
	Slice     []string          `json:"slice"`
	Nested    [][]int           `json:"nested"`
	Map       map[string][]int  `json:"map"`
	Bytes     []byte            `json:"bytes"`
	Array     [2]bool           `json:"array"`
	Tags      tags              `json:"tags"`
	Level     level             `json:"level"`
	Time      time.Time         `json:"time"`
	Address   netip.Addr        `json:"address"`
	Small     uint8             `json:"small"`
	Signed    int16             `json:"signed"`
	Big       int64             `json:"big"`
	Huge      uint64            `json:"huge"`
	Float     float32           `json:"float"`
	Exact     int64             `json:"exact,string"`
	Number    json.Number       `json:"number"`
	Heat      celsius           `json:"heat"`
	Heats     []celsius         `json:"heats"`
	HeatMaybe *celsius          `json:"heat_maybe"`
	Inline    struct{ A int }   `json:"inline"`
	Pair      pair[base]        `json:"pair"`
	Other     pair[extra]       `json:"other"`
	Left      *int              `json:"left,omitempty"`
	Gone      time.Time         `json:"gone,omitzero"`
	Labels    map[level]*string `json:"labels,omitempty"`
	Hidden    func()            `json:"-"`
}

func TestTheZeroValueOfATypePassesItsOwnSchema(t *testing.T) {
	s := derive[wide](t)
	if _, err := schema.Encode(s, wide{}); err != nil {
		t.Error(err)
	}
	if _, err := schema.Encode(derive[flat](t), flat{}); err != nil {
		t.Error(err)
	}
	if _, err := schema.Encode(derive[node](t), node{}); err != nil {
		t.Error(err)
	}
	one := 1
	full := wide{Pointer: &one, Struct: &base{}, Nested: [][]int{nil, {1}}, Map: map[string][]int{"a": nil}, Bytes: []byte{1, 2},
		Labels: map[level]*string{"x": nil}, Address: netip.MustParseAddr("::1"), Number: "1.5", Exact: 1 << 62}
	text, err := schema.Encode(s, full)
	if err != nil {
		t.Fatal(err)
	}
	back, err := schema.Decode[wide](s, text)
	if err != nil {
		t.Fatal(err)
	}
	if back.Exact != full.Exact || back.Address != full.Address || *back.Pointer != 1 {
		t.Errorf("decoded %+v", back)
	}
}

func TestASchemaRefusesWhatTheTypeCannotHold(t *testing.T) {
	whole := func(member string) string {
		text, err := schema.Encode(derive[wide](t), wide{})
		if err != nil {
			t.Fatal(err)
		}
		var tree map[string]json.RawMessage
		if err := json.Unmarshal(text, &tree); err != nil {
			t.Fatal(err)
		}
		name, value, _ := strings.Cut(member, "=")
		tree[name] = json.RawMessage(value)
		changed, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		return string(changed)
	}
	for _, test := range []struct{ member, pointer, keyword string }{
		{"small=256", "/small", "maximum"},
		{"small=-1", "/small", "minimum"},
		{"signed=32768", "/signed", "maximum"},
		{"huge=-1", "/huge", "minimum"},
		{"big=1.5", "/big", "type"},
		{"big=9007199254740992", "/big", "number"},
		{"float=1e39", "/float", "number"},
		{"exact=1", "/exact", "type"},
		{"exact=\"01\"", "/exact", "pattern"},
		{"bytes=\"***\"", "/bytes", "contentEncoding"},
		{"time=\"yesterday\"", "/time", "format"},
		{"time=null", "/time", "type"},
		{"level=null", "/level", "type"},
		{"left=null", "/left", "type"},
		{"array=[true]", "/array", "minItems"},
		{"heat=-300", "/heat", "minimum"},
		{"heats=[-300]", "/heats/0", "minimum"},
		{"heat_maybe=-300", "/heat_maybe", "minimum"},
		{"inline={}", "/inline/A", "required"},
		{"pair={\"left\":{\"id\":\"\"},\"right\":{\"note\":\"\"}}", "/pair/right/id", "required"},
		{"other={\"left\":{\"note\":\"\"},\"right\":{\"id\":\"\"}}", "/other/right/id", "additionalProperties"},
		{"Level=\"x\"", "", "case-variant"},
		{"map={\"a/b~c\":[\"x\"]}", "/map/a~1b~0c/0", "type"},
		{"struct={\"id\":1}", "/struct/id", "type"},
		{"struct=7", "/struct", "type"},
	} {
		t.Run(test.member, func(t *testing.T) {
			var invalid *schema.Invalid
			if err := derive[wide](t).Validate([]byte(whole(test.member))); !as(err, &invalid) {
				t.Fatalf("got %v", err)
			}
			if got := invalid.Violations[0]; got.Keyword != test.keyword || test.pointer != "" && got.Pointer != test.pointer {
				t.Errorf("got %v", invalid)
			}
		})
	}
}

func TestIntegersWrittenAsDecimalsDecode(t *testing.T) {
	type count struct {
		N int `json:"n"`
	}
	for _, text := range []string{`{"n":1.0}`, `{"n":1e0}`, `{"n":10e-1}`} {
		got, err := schema.Decode[count](derive[count](t), []byte(text))
		if err != nil || got.N != 1 {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
}

func TestEmbeddedStructsFlattenAndEmbeddedPointersAreOptional(t *testing.T) {
	s := derive[flat](t)
	if got := strings.Join(s.Required(), " "); got != "id own" {
		t.Errorf("required: %s", got)
	}
	if got := strings.Join(s.Properties(), " "); got != "id note own" {
		t.Errorf("properties: %s", got)
	}
}

func TestTypesOfOneNameHaveDefinitionsOfTheirOwn(t *testing.T) {
	type Same struct {
		A string `json:"a"`
	}
	type outer struct {
		One Same `json:"one"`
	}
	inner := func() *schema.Schema {
		type Same struct {
			B int `json:"b"`
		}
		type both struct {
			Outer outer `json:"outer"`
			Two   Same  `json:"two"`
		}
		return derive[both](t)
	}
	if err := inner().Validate([]byte(`{"outer":{"one":{"a":"x"}},"two":{"b":1}}`)); err != nil {
		t.Error(err)
	}
}

func TestGenericTypesHaveNamesThatReferencesCanHold(t *testing.T) {
	type outer struct {
		One pair[url.Userinfo] `json:"one"`
		Two pair[base]         `json:"two"`
	}
	text := string(derive[outer](t).JSON())
	refs := regexp.MustCompile(`"\$ref":"#/\$defs/([^"]*)"`).FindAllStringSubmatch(text, -1)
	if len(refs) < 2 {
		t.Fatal(text)
	}
	for _, ref := range refs {
		if !regexp.MustCompile(`^[A-Za-z0-9_]+$`).MatchString(ref[1]) {
			t.Errorf("definition %s", ref[1])
		}
	}
}

type loop struct{ *loop }

type endless []endless

type shadow struct {
	base
	ID string `json:"id"`
}

type marshals struct{}

func (marshals) MarshalJSON() ([]byte, error) { return []byte("1"), nil }

type byPointer struct{}

func (*byPointer) JSONSchema() *jsonschema.Schema { return nil }

type broken struct{}

func (broken) JSONSchema() *jsonschema.Schema { return &jsonschema.Schema{Type: "text"} }

func refusal[T any]() error {
	_, err := schema.For[T]("test.thing/v1")
	return err
}

func TestWhatASchemaCannotPromiseIsAnErrorThatNamesTheField(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"any", refusal[struct{ Extra any }](), ".Extra: an interface"},
		{"nested", refusal[struct {
			In []map[string]struct{ Extra any }
		}](), ".In[]{}.Extra: an interface"},
		{"raw", refusal[struct{ Extra json.RawMessage }](), ".Extra: a json.RawMessage"},
		{"duration", refusal[struct{ Wait time.Duration }](), "TimeoutMS int64"},
		{"channel", refusal[struct{ C chan int }](), ".C: a chan has no JSON form"},
		{"func", refusal[struct{ F func() }](), ".F: a func has no JSON form"},
		{"complex", refusal[struct{ Z complex128 }](), ".Z: a complex128 has no JSON form"},
		{"uintptr", refusal[struct{ P uintptr }](), ".P: a uintptr has no JSON form"},
		{"map key", refusal[struct{ M map[int]string }](), ".M: a map needs keys of a string type, not int"},
		{"url", refusal[struct{ U url.URL }](), ".U: a url.URL"},
		{"marshaler", refusal[struct{ M marshals }](), ".M: it has a MarshalJSON method"},
		{"big", refusal[struct{ M *big.Int }](), ".M: it has a MarshalJSON method"},
		{"pointer receiver", refusal[struct{ M byPointer }](), ".M: its JSONSchema method needs a value receiver"},
		{"loop", refusal[loop](), "loop.loop: encoding/json cannot fill"},
		{"endless", refusal[struct{ E endless }](), ".E[]: it is made of itself"},
		{"shadow", refusal[shadow](), `shadow.ID: its member name "id" is also that of base.ID`},
		{"case", refusal[struct {
			A int `json:"id"`
			B int `json:"ID"`
		}](), ".B: its member name"},
		{"inline", refusal[struct {
			A base `json:",inline"`
		}](), `json option "inline" is unknown`},
		{"hidden", refusal[struct {
			A int `jsonschema:"-"`
		}](), `keyword "-" is unknown`},
		{"root", refusal[[]int](), "the root of a document must be an object"},
		{"root pointer", refusal[*int](), "the root of a document must be an object"},
		{"broken custom", refusal[struct{ B broken }](), "not a valid schema"},
		{"quoted", refusal[struct {
			A string `json:",string"`
		}](), "is for numbers and booleans"},
		{"misspelt", refusal[struct {
			A int `jsonschema:"minimun=3"`
		}](), `.A: jsonschema keyword "minimun" is unknown`},
		{"twice", refusal[struct {
			A int `jsonschema:"minimum=3,minimum=4"`
		}](), `.A: jsonschema keyword "minimum" is there twice`},
		{"crossed", refusal[struct {
			A int `jsonschema:"minimum=4,maximum=3"`
		}](), ".A: minimum 4 and maximum 3 leave no value"},
		{"empty range", refusal[struct {
			A float64 `jsonschema:"exclusiveMinimum=3,maximum=3"`
		}](), ".A: exclusiveMinimum 3 and maximum 3 leave no value"},
		{"crossed lengths", refusal[struct {
			A string `jsonschema:"minLength=4,maxLength=3"`
		}](), ".A: minLength 4 and maxLength 3 leave no value"},
		{"too wide", refusal[struct {
			A uint8 `jsonschema:"maximum=300"`
		}](), ".A: maximum 300 is outside what uint8 can hold"},
		{"enum on struct", refusal[struct {
			A base `jsonschema:"enum=a"`
		}](), `.A: jsonschema keyword "enum" does not apply to`},
		{"enum of another type", refusal[struct {
			A int `jsonschema:"enum=1.5"`
		}](), ".A: jsonschema enum=1.5 is not a value of the field's type"},
		{"enum twice", refusal[struct {
			A string `jsonschema:"enum=a,enum=a"`
		}](), ".A: jsonschema enum=a is there twice"},
		{"enum out of bounds", refusal[struct {
			A int `jsonschema:"enum=9,maximum=3"`
		}](), ".A: the allowed value 9 is out of bounds"},
		{"enum and const", refusal[struct {
			A string `jsonschema:"enum=a,const=a"`
		}](), ".A: const and enum contradict each other"},
		{"pattern", refusal[struct {
			A string `jsonschema:"pattern=[a"`
		}](), ".A: jsonschema pattern: "},
		{"pattern with a comma", refusal[struct {
			A string `jsonschema:"pattern=a{1,2}"`
		}](), `.A: jsonschema keyword "2}" is unknown`},
		{"format", refusal[struct {
			A string `jsonschema:"format=datetime"`
		}](), `.A: jsonschema format "datetime" is unknown`},
		{"wrong kind", refusal[struct {
			A int `jsonschema:"minLength=3"`
		}](), `.A: jsonschema keyword "minLength" does not apply to int`},
		{"not a count", refusal[struct {
			A string `jsonschema:"minLength=-3"`
		}](), ".A: jsonschema minLength=-3 is not a count"},
		{"required yet optional", refusal[struct {
			A string `json:"a,omitempty" jsonschema:"required"`
		}](), ".A: required contradicts"},
		{"array length", refusal[struct {
			A [2]int `jsonschema:"minItems=1"`
		}](), ".A: the length of [2]int is fixed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
				t.Errorf("got %v, want %s", test.err, test.want)
			}
		})
	}
	if _, err := schema.For[base]("no good"); err == nil {
		t.Error("a name with a space was taken")
	}
}

type constrained struct {
	Class  string         `json:"class" jsonschema:"enum=economy,enum=business" jsonschema_description:"Cabin, as sold."`
	Kind   string         `json:"kind" jsonschema:"const=flight"`
	Seats  int            `json:"seats" jsonschema:"minimum=1,maximum=9"`
	Code   string         `json:"code" jsonschema:"pattern=^[A-Z]{2\\,3}$"`
	Mail   string         `json:"mail,omitempty" jsonschema:"format=email"`
	Stops  []string       `json:"stops" jsonschema:"minItems=1,uniqueItems,enum=HEL,enum=ARN"`
	Tags   tags           `json:"tags,omitempty" jsonschema:"maxItems=1,maxLength=3"`
	Rate   *float64       `json:"rate" jsonschema:"multipleOf=0.5"`
	Level  *level         `json:"level" jsonschema:"enum=low,enum=high"`
	Limits map[string]int `json:"limits,omitempty" jsonschema:"maxProperties=1"`
}

func TestTagsConstrain(t *testing.T) {
	s := derive[constrained](t)
	const good = `"class":"economy","kind":"flight","seats":1,"code":"HEL","stops":["HEL"],"rate":null,"level":null`
	if err := s.Validate([]byte("{" + good + "}")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ from, to, keyword string }{
		{`"economy"`, `"first"`, "enum"},
		{`"kind":"flight"`, `"kind":"train"`, "const"},
		{`"seats":1`, `"seats":0`, "minimum"},
		{`"seats":1`, `"seats":10`, "maximum"},
		{`"code":"HEL"`, `"code":"hel"`, "pattern"},
		{`["HEL"]`, `[]`, "minItems"},
		{`["HEL"]`, `["HEL","HEL"]`, "uniqueItems"},
		{`["HEL"]`, `["OSL"]`, "enum"},
		{`"rate":null`, `"rate":0.7`, "multipleOf"},
		{`"level":null`, `"level":"mid"`, "enum"},
		{`"level":null`, `"level":null,"mail":"x"`, "format"},
		{`"level":null`, `"level":null,"tags":["a","b"]`, "maxItems"},
		{`"level":null`, `"level":null,"tags":["long"]`, "maxLength"},
		{`"level":null`, `"level":null,"limits":{"a":1,"b":2}`, "maxProperties"},
	} {
		t.Run(test.to, func(t *testing.T) {
			var invalid *schema.Invalid
			err := s.Validate([]byte("{" + strings.Replace(good, test.from, test.to, 1) + "}"))
			if !as(err, &invalid) || invalid.Total != 1 || invalid.Violations[0].Keyword != test.keyword {
				t.Errorf("got %v, want %s", err, test.keyword)
			}
		})
	}
	if !strings.Contains(string(s.JSON()), `"description":"Cabin, as sold."`) {
		t.Error("the description is lost")
	}
}
