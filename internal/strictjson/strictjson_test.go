package strictjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"
)

var anyRoot = Limits{AnyRoot: true}

func TestCanonicalWritesRFC8785(t *testing.T) {
	for in, want := range map[string]string{
		` { "b" : 1 , "a" : [ true , null , false ] } `:                    `{"a":[true,null,false],"b":1}`,
		`{"":1,"a":2,"A1":3}`:                                              `{"":1,"A1":3,"a":2}`,
		`{"😀":1,"\uffee":2}`:                                               `{"😀":1,"` + "\uffee" + `":2}`,
		`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u00f6":6}`: `{"\r":2,"1":4,"ö":6,"€":1,"😀":5,"` + "\ufb33" + `":3}`,
		`"\u0041\/\"\\\t\n\r"`:                                             `"A/\"\\\t\n\r"`,
		`"\u2028<>&"`:                                                      `"` + "\u2028" + `<>&"`,
		`-0`:                                                               `0`,
		`-0.0e5`:                                                           `0`,
		`1.0`:                                                              `1`,
		`1E2`:                                                              `100`,
		`0.000001`:                                                         `0.000001`,
		`0.0000001`:                                                        `1e-7`,
		`-1.50e-10`:                                                        `-1.5e-10`,
		`9007199254740991`:                                                 `9007199254740991`,
		`9007199254740.9915`:                                               `9007199254740.992`,
		`1e-308`:                                                           `1e-308`,
		`333333333.33333329`:                                               `333333333.3333333`,
		`4.50`:                                                             `4.5`,
		`2e-3`:                                                             `0.002`,
		`0.00000000000000000001`:                                           `1e-20`,
	} {
		got, err := Canonical([]byte(in), anyRoot)
		if err != nil || string(got) != want {
			t.Errorf("Canonical(%s) = %s, %v; want %s", in, got, err, want)
		}
		if oracle, err := jcs.Transform([]byte(in)); err != nil || string(oracle) != want {
			t.Errorf("jcs(%s) = %s, %v; want %s", in, oracle, err, want)
		}
	}
}

func TestScanNamesTheRuleAndThePlace(t *testing.T) {
	long := strings.Repeat("x", 64<<10)
	for _, c := range []struct {
		in, rule, pointer string
	}{
		{`{"a":1,"a":2}`, RuleDuplicateKey, "/a"},
		{`{"a":1,"\u0061":2}`, RuleDuplicateKey, "/a"},
		{`{"x":{"sender":1,"Sender":2}}`, RuleCaseVariant, "/x/Sender"},
		{`{"sender":1,"ſender":2}`, RuleCaseVariant, "/ſender"},
		{`{"key":1,"` + "\u212a" + `ey":2}`, RuleCaseVariant, "/\u212aey"},
		{`{"θ":1,"ϑ":2}`, RuleCaseVariant, "/ϑ"},
		{`{"straße":1,"straẞe":2}`, RuleCaseVariant, "/straẞe"},
		{`{"a":[{"__proto__":1}]}`, RuleForbiddenKey, "/a/0/__proto__"},
		{`{"constructor":1}`, RuleForbiddenKey, "/constructor"},
		{`{"prototype":1}`, RuleForbiddenKey, "/prototype"},
		{`{"a/b":{"c~d":.1}}`, RuleSyntax, "/a~1b/c~0d"},
		{`{"a":"` + "\x80" + `"}`, RuleUTF8, "/a"},
		{"\xff{}", RuleUTF8, ""},
		{"\ufeff{}", RuleRoot, ""},
		{`[1]`, RuleRoot, ""},
		{``, RuleSyntax, ""},
		{`{}{}`, RuleTrailing, ""},
		{`{"a":"\ud800"}`, RuleSurrogate, "/a"},
		{`{"a":"\ud800\u0041"}`, RuleSurrogate, "/a"},
		{`{"a":"\udc00\ud800"}`, RuleSurrogate, "/a"},
		{`{"a":"\u0000"}`, RuleControl, "/a"},
		{`{"a":"\b"}`, RuleControl, "/a"},
		{`{"a":"\u007f"}`, RuleControl, "/a"},
		{`{"a":"` + "\u007f" + `"}`, RuleControl, "/a"},
		{`{"a":"` + "\u0085" + `"}`, RuleControl, "/a"},
		{"{\"a\":\"\n\"}", RuleControl, "/a"},
		{`{"a":9007199254740992}`, RuleNumber, "/a"},
		{`{"a":-9007199254740992}`, RuleNumber, "/a"},
		{`{"a":9007199254740993.0}`, RuleNumber, "/a"},
		{`{"a":1e16}`, RuleNumber, "/a"},
		{`{"a":1e309}`, RuleNumber, "/a"},
		{`{"a":0e99999999999999999999}`, RuleNumber, "/a"},
		{`{"a":1e-309}`, RuleNumber, "/a"},
		{`{"a":0.1e-308}`, RuleNumber, "/a"},
		{`{"a":0.0000000000000000000000000000001}`, RuleNumber, "/a"},
		{`{"a":` + strings.Repeat("1", 33) + `}`, RuleNumber, "/a"},
		{`{"a":"` + long + `y"}`, RuleString, "/a"},
		{`{"` + long + `y":1}`, RuleString, ""},
		{`{"a":` + strings.Repeat("[", 32) + strings.Repeat("]", 32) + `}`, RuleDepth, "/a" + strings.Repeat("/0", 31)},
		{`{"a":[` + strings.Repeat("0,", 10_000) + `0]}`, RuleNodes, "/a/9998"},
		{"{" + strings.Repeat(" ", 256<<10) + "}", RuleBytes, ""},
		{manyMembers(1_001), RuleMembers, ""},
	} {
		var e *Error
		if err := Scan([]byte(c.in), Limits{}); !errors.As(err, &e) || e.Rule != c.rule || e.Pointer != c.pointer {
			t.Errorf("Scan(%.60s) = %v; want rule %s at %q", c.in, err, c.rule, c.pointer)
		}
	}
}

func TestScanAcceptsExactlyUpToEachLimit(t *testing.T) {
	for name, in := range map[string]string{
		"string":  `{"a":"` + strings.Repeat("x", 64<<10) + `"}`,
		"depth":   `{"a":` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + `}`,
		"nodes":   `{"a":[` + strings.Repeat("0,", 9_997) + `0]}`,
		"members": manyMembers(1_000),
		"bytes":   "{" + strings.Repeat(" ", 256<<10-2) + "}",
		"number":  `{"a":0.` + strings.Repeat("3", 30) + `}`,
	} {
		if err := Scan([]byte(in), Limits{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":0`, i)
	}
	return "{" + b.String()[1:] + "}"
}

func TestErrorPointerIsThatOfTheNearestAncestorThatFits(t *testing.T) {
	in := `{"a":{"` + strings.Repeat("x", 300) + `":{"b":nul}}}`
	var e *Error
	if err := Scan([]byte(in), Limits{}); !errors.As(err, &e) || e.Pointer != "/a" {
		t.Errorf("err = %v; want the pointer cut to /a", err)
	}
}

func TestErrorReadsAsASentence(t *testing.T) {
	err := Scan([]byte(`{"a":{"b":1,"B":2}}`), Limits{})
	const want = `json at offset 12 (/a/B) breaks rule case-variant: want names that differ in more than case, got "B"`
	if err == nil || err.Error() != want {
		t.Errorf("err = %v; want %s", err, want)
	}
}

func TestObjectListsMembersThatJoinPutsTogetherAgain(t *testing.T) {
	in := `{"b":[1.0],"😀":{"z":1,"y":2},"\uffee":null}`
	members, err := Object([]byte(in), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if len(members) != 3 || members[1].Name != "😀" || string(members[1].Value) != `{"y":2,"z":1}` {
		t.Errorf("members = %v", members)
	}
	members[0], members[2] = members[2], members[0]
	want, err := Canonical([]byte(in), Limits{})
	if got := Join(members); err != nil || string(got) != string(want) {
		t.Errorf("Join = %s; want %s (%v)", got, want, err)
	}
	if _, err := Object([]byte(`[]`), anyRoot); err == nil {
		t.Error("an array passed for an object")
	}
}

func TestMarshalIsCanonicalAndStillRefusesWhatNobodyReads(t *testing.T) {
	got, err := Marshal(map[string]any{"b": "<&>\t", "a": 1e-7})
	if err != nil || string(got) != `{"a":1e-7,"b":"<&>\t"}` {
		t.Errorf("Marshal = %s, %v", got, err)
	}
	var e *Error
	if _, err := Marshal(uint64(math.MaxUint64)); !errors.As(err, &e) || e.Rule != RuleNumber {
		t.Errorf("a large integer: %v", err)
	}
	if _, err := Marshal(make(chan int)); err == nil {
		t.Error("a channel was encoded")
	}
}

func TestFormatNumberAgreesWithTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64Range(-maxInteger, maxInteger).Draw(t, "f")
		if f != 0 && math.Abs(f) < minNumber {
			t.Skip("too small")
		}
		want, err := jcs.NumberToJSON(f)
		if got := formatNumber(f); err != nil || got != want {
			t.Fatalf("formatNumber(%v) = %s; want %s (%v)", f, got, want, err)
		}
	})
}

// value draws a tree that encoding/json can write.
func value(depth int) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(), rapid.Int32().AsAny(),
		rapid.Float64Range(-1e10, 1e10).AsAny(),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	return rapid.OneOf(append(scalars,
		rapid.SliceOfN(value(depth-1), 0, 4).AsAny(),
		rapid.MapOfN(rapid.String(), value(depth-1), 0, 4).AsAny())...)
}

func TestCanonicalAgreesWithTheOracleOnRandomTrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data, err := json.MarshalIndent(value(3).Draw(t, "value"), " ", "\t")
		if err != nil {
			t.Fatal(err)
		}
		agree(t, data)
	})
}

// fataler is what *testing.T and *rapid.T share.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// agree holds every function to the same verdict on data, and Canonical to the oracle's bytes.
func agree(t fataler, data []byte) {
	t.Helper()
	scanErr := Scan(data, anyRoot)
	canonical, err := Canonical(data, anyRoot)
	if !reflect.DeepEqual(scanErr, err) {
		t.Fatalf("Scan says %v, Canonical says %v", scanErr, err)
	}
	tree, treeErr := Tree(data, anyRoot)
	if !reflect.DeepEqual(treeErr, err) {
		t.Fatalf("Tree says %v, Canonical says %v", treeErr, err)
	}
	if err != nil {
		return
	}
	again, err := Canonical(canonical, anyRoot)
	if err != nil || string(again) != string(canonical) {
		t.Fatalf("canonical form of %s is %s (%v)", canonical, again, err)
	}
	if oracle, err := jcs.Transform(data); err == nil && string(oracle) != string(canonical) {
		t.Fatalf("canonical form is %s, the oracle's is %s", canonical, oracle)
	}
	if fromTree, err := Marshal(tree); err != nil || string(fromTree) != string(canonical) {
		t.Fatalf("tree encodes to %s (%v), canonical form is %s", fromTree, err, canonical)
	}
	var standard any
	if err := json.Unmarshal(data, &standard); err != nil {
		t.Fatalf("encoding/json refuses what was accepted: %v", err)
	}
}
