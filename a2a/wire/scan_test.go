package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestWhatIsNotJSONIsAParseError(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                   ``,
		"white space only":          " \n",
		"a byte order mark":         "\ufeff{}",
		"an open object":            `{"a":1`,
		"an open array":             `[1`,
		"an open string":            `{"a":"b`,
		"a trailing comma":          `{"a":1,}`,
		"a trailing comma in array": `[1,]`,
		"a second value":            `{} {}`,
		"a name without quotes":     `{a:1}`,
		"a name without a value":    `{"a"}`,
		"single quotes":             `{'a':1}`,
		"a comment":                 `{} // no`,
		"a leading zero":            `[01]`,
		"a leading plus":            `[+1]`,
		"a bare fraction":           `[.5]`,
		"an open fraction":          `[1.]`,
		"an open exponent":          `[1e]`,
		"a word":                    `[nul]`,
		"not a number":              `[NaN]`,
		"a raw line end":            "[\"a\nb\"]",
		"a raw zero byte":           "[\"a\x00b\"]",
		"a raw control character":   "[\"a\x1fb\"]",
		"an unknown escape":         `["\x41"]`,
		"a short escape":            `["\u00"]`,
		"a lone high surrogate":     `["\ud83d"]`,
		"a lone low surrogate":      `["\ude00"]`,
		"two high surrogates":       `["\ud83d\ud83d"]`,
		"bytes that are not UTF-8":  "[\"\xff\"]",
		"a name twice":              `{"a":1,"a":2}`,
		"a name twice, escaped":     `{"a":1,"\u0061":2}`,
		"a name twice, deep down":   `{"x":[{"a":{"b":null,"b":null}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			err := Decode([]byte(text), new(Empty))
			e, ok := err.(*Error)
			if !ok || e.Kind != ParseError || e.Message == "" {
				t.Errorf("%q: got %v", text, err)
			}
		})
	}
}

func TestEveryNameOfALargeObjectMustBeNew(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, `"name%d":null,`, i)
	}
	all := "{" + b.String()
	if err := check([]byte(all + `"other":0}`)); err != nil {
		t.Fatal(err)
	}
	for _, again := range []int{0, 7, 8, 9, 999} {
		if check(fmt.Appendf(nil, `%s"name%d":0}`, all, again)) == nil {
			t.Errorf("name%d was taken twice", again)
		}
	}
}

func TestNestingIsBoundedBeforeTheStackIs(t *testing.T) {
	deep := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	if err := check(deep(maxDepth)); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	for _, n := range []int{maxDepth + 1, 1 << 20} {
		if err := check(deep(n)); err == nil || err.Kind != ParseError {
			t.Errorf("%d levels: got %v", n, err)
		}
	}
}

// hostile are texts that cost some parsers the square of their length.
func hostile(size int) map[string]string {
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	var members strings.Builder
	for i := range size / 12 {
		fmt.Fprintf(&members, `,"m%08d":0`, i)
	}
	return map[string]string{
		"members":      `{"messageId":"m"` + members.String() + `}`,
		"parts":        `{"parts":[` + fill(`{"text":""},`) + `{"text":""}]}`,
		"escapes":      `{"messageId":"` + fill(`\u0041`) + `"}`,
		"long names":   `{"` + fill("a") + `b":1,"` + fill("a") + `c":2}`,
		"brackets":     fill("["),
		"inner quotes": `{"metadata":{"q":"` + fill(`\"`) + `"}}`,
		"data":         `{"parts":[{"data":[` + fill(`[],`) + `0]}]}`,
		"white space":  `{` + fill(" ") + `}`,
	}
}

func TestDoublingHostileInputDoublesWhatIsKept(t *testing.T) {
	cost := func(text string) float64 {
		return testing.AllocsPerRun(1, func() { _ = Decode([]byte(text), new(Message)) })
	}
	small, large := hostile(32<<10), hostile(64<<10)
	for name := range small {
		once, twice := cost(small[name]), cost(large[name])
		if twice > 2.5*once+64 { // quadratic would quadruple
			t.Errorf("%s: %v allocations, for twice the length %v", name, once, twice)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, text := range hostile(64) {
		f.Add([]byte(text))
	}
	for _, text := range []string{`{"a":[1,-0.5e+3,true,null,"\ud83d\ude00"]}`, `"\/"`, "[\t1 , 2\r\n]", `{"":{"":""}}`, `1`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if check(data) != nil {
			return
		}
		if !json.Valid(data) {
			t.Fatalf("%q passed, and is not JSON", data)
		}
		walk(t, trim(data))
	})
}

// walk visits a checked text with the functions that trust it, and compares
// what they read with the standard library.
func walk(t *testing.T, value []byte) {
	t.Helper()
	switch value[0] {
	case '{':
		var want map[string]json.RawMessage
		if err := json.Unmarshal(value, &want); err != nil {
			t.Fatal(err)
		}
		got := appendMembers(nil, value)
		if len(got) != len(want) {
			t.Fatalf("%q: %d members, want %d", value, len(got), len(want))
		}
		for _, m := range got {
			if string(want[string(m.name)]) != string(m.value) {
				t.Fatalf("%q: member %q is %q, want %q", value, m.name, m.value, want[string(m.name)])
			}
			walk(t, m.value)
		}
	case '[':
		var want []json.RawMessage
		if err := json.Unmarshal(value, &want); err != nil {
			t.Fatal(err)
		}
		i := 0
		for e := range elements(value) {
			if string(e) != string(want[i]) {
				t.Fatalf("%q: element %d is %q, want %q", value, i, e, want[i])
			}
			walk(t, e)
			i++
		}
		if i != len(want) {
			t.Fatalf("%q: %d elements, want %d", value, i, len(want))
		}
	case '"':
		var want string
		if err := json.Unmarshal(value, &want); err != nil {
			t.Fatal(err)
		}
		if got := unquote(value); got != want {
			t.Fatalf("%q reads %q, want %q", value, got, want)
		}
		if again := appendString(nil, want); check(again) != nil || unquote(again) != want {
			t.Fatalf("%q is written %q", want, again)
		}
	}
}
