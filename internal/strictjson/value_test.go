package strictjson

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAValueSaysTheSameAsItsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data, err := json.MarshalIndent(value(3).Draw(t, "value"), "", rapid.SampledFrom([]string{"", " "}).Draw(t, "indent"))
		if err != nil {
			t.Fatal(err)
		}
		want, err := Canonical(data, anyRoot)
		if err != nil {
			t.Skip(err)
		}
		for _, text := range []string{string(data), string(want)} {
			v, canonical, err := Parse(text, anyRoot)
			if err != nil || string(v.Canonical()) != string(want) || canonical != (text == string(want)) {
				t.Fatalf("%s is read as %s, canonical %v (%v)", text, v.Canonical(), canonical, err)
			}
			if values := count(v); v.Size() != values {
				t.Fatalf("%s has %d values; want %d", text, v.Size(), values)
			}
		}
	})
}

func count(v Value) int {
	n := 1
	for _, inner := range v.Inside() {
		n += count(inner)
	}
	return n
}

func TestInsideYieldsMembersAsTheyStandAndTextsUnescaped(t *testing.T) {
	v, canonical, err := Parse(`{"b":"\u0041","a":[1.0,true],"c":null}`, Limits{})
	if err != nil || canonical || v.Kind() != KindObject {
		t.Fatalf("kind %d, canonical %v, %v", v.Kind(), canonical, err)
	}
	var got []string
	for name, inner := range v.Inside() {
		got = append(got, name, inner.Text())
		for _, element := range inner.Inside() {
			got = append(got, element.Text())
		}
	}
	if want := []string{"b", "A", "a", "", "1", "true", "c", "null"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q; want %q", got, want)
	}
}

func TestMembersAreSortedHoweverTheyCome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		order := rapid.Permutation([]string{`"":0`, `"a":{"b":1,"a":2}`, `"b":[{"b":1,"a":2,"c":3}]`, `"c":3`, `"é":4`, `"😀":5`, `"\uffee":6`}).Draw(t, "order")
		got, err := Canonical([]byte("{"+strings.Join(order, ",")+"}"), Limits{})
		const want = `{"":0,"a":{"a":2,"b":1},"b":[{"a":2,"b":1,"c":3}],"c":3,"é":4,"😀":5,"` + "\uffee" + `":6}`
		if err != nil || string(got) != want {
			t.Fatalf("%s became %s (%v)", order, got, err)
		}
	})
}

func TestEachLendsTheMembersThatSplitLists(t *testing.T) {
	for _, text := range []string{`{}`, `{"a":1,"b":{"c":[]}}`, `{"b":1.0,"a":"\u0041"}`, manyMembers(40)} {
		canonical, members, err := Split(text, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(Join(members)); got != canonical {
			t.Errorf("%.40s splits into %.40s; want %.40s", text, got, canonical)
		}
		var lent []Member
		again, err := Each(text, Limits{}, func(m Member) { lent = append(lent, m) })
		if err != nil || again != canonical || !reflect.DeepEqual(lent, members) {
			t.Errorf("%.40s: lent %v; want %v (%v)", text, lent, members, err)
		}
	}
	lent := 0
	if _, err := Each(`{"a":1,"b":`, Limits{}, func(Member) { lent++ }); err == nil || lent > 0 {
		t.Errorf("%d members of a broken document were lent (%v)", lent, err)
	}
}

func TestManyNamesAreComparedHoweverTheyCome(t *testing.T) {
	ascending := func(last string) string {
		var b strings.Builder
		for i := range 60 {
			b.WriteString(`"k` + string(rune('a'+i/26)) + string(rune('a'+i%26)) + `":0,`)
		}
		return "{" + b.String() + `"` + last + `":0}`
	}
	for last, rule := range map[string]string{"z": "", "kab": RuleDuplicateKey, "KAB": RuleCaseVariant, "kcZ": "", "kCA": RuleCaseVariant, "\u212aab": RuleCaseVariant} {
		err := Scan([]byte(ascending(last)), Limits{})
		e, _ := err.(*Error)
		if (e == nil) != (rule == "") || e != nil && e.Rule != rule {
			t.Errorf("%s: %v; want %q", last, err, rule)
		}
	}
}

func TestANameIsComparedWithAllThatCameBefore(t *testing.T) {
	for in, rule := range map[string]string{
		`{"b":1,"a":2,"b":3}`:              RuleDuplicateKey,
		`{"B":1,"a":2,"b":3}`:              RuleCaseVariant,
		`{"a":1,"c":2,"b":3,"c":4}`:        RuleDuplicateKey,
		`{"a":{"b":1,"a":2},"b":1,"A":{}}`: RuleCaseVariant,
		`{"b":{"b":1,"c":2},"a":1,"c":{}}`: "",
	} {
		err := Scan([]byte(in), Limits{})
		e, _ := err.(*Error)
		if (e == nil) != (rule == "") || e != nil && e.Rule != rule {
			t.Errorf("%s: %v; want %q", in, err, rule)
		}
	}
}

func TestEveryTextIsReadBackAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, read := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.Map(rapid.IntRange(0, 0x7f), func(n int) rune { return rune(n) }))).Draw(t, "text"), ""
		written := AppendString([]byte("before"), text)
		if err := json.Unmarshal(written[len("before"):], &read); err != nil || read != text {
			t.Fatalf("%q is written %s and read %q, %v", text, written, read, err)
		}
	})
	if got := string(AppendString(nil, "\x00\b\t\n\v\f\r\x1f\"\\/<\x7f")); got != `"\u0000\b\t\n\u000b\f\r\u001f\"\\/<`+"\x7f\"" {
		t.Errorf("got %s", got)
	}
}
