package repair

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/parley-agents/parley/internal/strictjson"
	"github.com/parley-agents/parley/llm"
	"pgregory.net/rapid"
)

// orderSchema has every kind of member, some of them nested, and requires one at each level.
const orderSchema = `{"type":"object","additionalProperties":false,"required":["text","count"],"properties":{
	"text":{"type":"string"},"count":{"type":"integer"},"flag":{"type":"boolean"},"none":{"type":"null"},
	"list":{"type":"array","items":{"type":"string"}},
	"inner":{"type":"object","additionalProperties":false,"required":["name"],
		"properties":{"name":{"type":"string"},"mode":{"enum":["fast","slow"]}}}}}`

// order draws a value of orderSchema.
func order(t *rapid.T) map[string]any {
	// The letters include all that the mender looks for.
	text := rapid.StringOfN(rapid.SampledFrom([]rune("ab \"'“”‘’\\{}[]:,/#*`<>\n\té漢💡0")), 0, 12, -1)
	tree := map[string]any{"text": text.Draw(t, "text"), "count": json.Number(fmt.Sprint(rapid.IntRange(-99999, 99999).Draw(t, "count")))}
	if rapid.Bool().Draw(t, "flagged") {
		tree["flag"] = rapid.Bool().Draw(t, "flag")
	}
	if rapid.Bool().Draw(t, "nothing") {
		tree["none"] = nil
	}
	if rapid.Bool().Draw(t, "listed") {
		list := []any{}
		for _, item := range rapid.SliceOfN(text, 0, 3).Draw(t, "list") {
			list = append(list, item)
		}
		tree["list"] = list
	}
	if rapid.Bool().Draw(t, "nested") {
		tree["inner"] = map[string]any{"name": text.Draw(t, "name"), "mode": rapid.SampledFrom([]string{"fast", "slow"}).Draw(t, "mode")}
	}
	return tree
}

// scribe writes a value as a careless model would.
type scribe struct {
	t *rapid.T
	b strings.Builder
}

func (w *scribe) maybe(label string) bool { return rapid.Bool().Draw(w.t, label) }

func (w *scribe) gap() {
	w.b.WriteString(rapid.SampledFrom([]string{"", "", " ", "\n", " // it's {\n", "# \"x\n", "/* }, */"}).Draw(w.t, "gap"))
}

// value writes the root or, between gaps, what is inside it: outside the root, a comment is prose.
func (w *scribe) value(tree any) {
	switch node := tree.(type) {
	case map[string]any:
		w.b.WriteByte('{')
		for i, name := range slices.Sorted(maps.Keys(node)) {
			if i > 0 {
				w.b.WriteByte(',')
			}
			w.gap()
			if w.maybe("bare") {
				w.b.WriteString(name)
			} else {
				w.text(name)
			}
			w.gap()
			w.b.WriteByte(':')
			if inner, ok := node[name].(map[string]any); ok && w.maybe("encoded") {
				w.text(string(canonical(inner)))
			} else {
				w.inner(node[name])
			}
		}
		w.end(len(node), "}")
	case []any:
		w.b.WriteByte('[')
		for i, item := range node {
			if i > 0 {
				w.b.WriteByte(',')
			}
			w.inner(item)
		}
		w.end(len(node), "]")
	case string:
		if node == "fast" || node == "slow" {
			if w.maybe("upper") {
				node = strings.ToUpper(node)
			}
		}
		w.text(node)
	case json.Number:
		if w.maybe("number as text") {
			w.text(node.String())
		} else {
			w.b.WriteString(node.String())
		}
	default:
		word := map[any]string{true: "true", false: "false", nil: "null"}[node]
		if w.maybe("python") {
			word = map[any]string{true: "True", false: "False", nil: "None"}[node]
		}
		w.b.WriteString(word)
	}
}

func (w *scribe) inner(tree any) {
	w.gap()
	w.value(tree)
	w.gap()
}

func (w *scribe) end(members int, closer string) {
	if members > 0 && w.maybe("trailing comma") {
		w.b.WriteByte(',')
		w.gap()
	}
	w.b.WriteString(closer)
}

// text writes a string in one of the quotes, escaping that quote, and perhaps leaves control characters raw.
func (w *scribe) text(s string) {
	quotes := rapid.SampledFrom([][2]string{{`"`, `"`}, {`'`, `'`}, {"“", "”"}, {"‘", "’"}}).Draw(w.t, "quotes")
	s = strings.ReplaceAll(s, `\`, `\\`)
	if w.maybe("escaped") {
		s = strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(s)
	}
	switch quotes[1] {
	case `"`, `'`:
		s = strings.ReplaceAll(s, quotes[1], `\`+quotes[1])
	default:
		s = strings.ReplaceAll(s, quotes[1], fmt.Sprintf(`\u%04x`, []rune(quotes[1])[0]))
	}
	w.b.WriteString(quotes[0] + s + quotes[1])
}

func TestADamagedDocumentComesBackAsItWas(t *testing.T) {
	s := parsed(t, orderSchema)
	rapid.Check(t, func(t *rapid.T) {
		tree := order(t)
		w := &scribe{t: t}
		w.value(tree)
		body := w.b.String()
		raw := rapid.SampledFrom([]string{
			"%s", "\uFEFF%s", "<think>{\"text\":\"no\",\"count\":1}</think>\n%s", "```json\n%s\n```", "Here you are: %s",
			"```\n%s\n```\nAnything else?", "{}%s", "<reasoning>``` \"</reasoning>```\n%s```",
		}).Draw(t, "around")
		got := Mend([]byte(strings.Replace(raw, "%s", body, 1)), s, Options{Finish: llm.FinishCalls, Effect: true})
		if got.Outcome != OK && got.Outcome != Repaired {
			t.Fatalf("%s: %v", body, got.Violations)
		}
		if want := canonical(tree); !bytes.Equal(got.Value, want) {
			t.Fatalf("%s:\n got %s\nwant %s", body, got.Value, want)
		}
	})
}

func TestACutDocumentIsNeverTakenForAnother(t *testing.T) {
	s := parsed(t, orderSchema)
	rapid.Check(t, func(t *rapid.T) {
		tree := order(t)
		body := string(canonical(tree))
		if rapid.Bool().Draw(t, "careless") {
			w := &scribe{t: t}
			w.value(tree)
			body = w.b.String()
		}
		around := rapid.SampledFrom([]string{"%s", "```json\n%s\n```", "Well, %s.", "<think>so {}</think>%s", "[1] says %s"}).Draw(t, "around")
		body = strings.Replace(around, "%s", body, 1)
		for end := range len(body) {
			for _, o := range []Options{
				{Finish: llm.FinishLength}, {Finish: llm.FinishStop, Effect: true}, {Finish: llm.FinishCalls}, {},
			} {
				got := Mend([]byte(body[:end]), s, o)
				if got.Value != nil && !bytes.Equal(got.Value, canonical(tree)) {
					t.Fatalf("%q with %+v gave %s", body[:end], o, got.Value)
				}
			}
		}
	})
}

func TestAnAcceptedDocumentIsNotTouched(t *testing.T) {
	s := parsed(t, orderSchema)
	rapid.Check(t, func(t *rapid.T) {
		tree := order(t)
		raw, err := json.MarshalIndent(tree, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		got := Mend(raw, s, Options{})
		if got.Outcome != OK || len(got.Fixes) > 0 || !bytes.Equal(got.Value, canonical(tree)) {
			t.Fatalf("%s: %+v", raw, got)
		}
	})
}

func FuzzMend(f *testing.F) {
	for _, seed := range []string{
		turku, "```json\n" + turku + "\n```", "<think>a</think>{}" + turku, `{'city':'Turku',days:"3",}`, `"{\"city\":\"T\",\"days\":1}"`,
		`{"city":"T","days":1,"tags":["a"`, `{"city":"T","days":1,"unit":"CELSIUS","seat":"{\"row\":\"1\"}"} // x`, "", "[1] {a} “x” # y",
	} {
		f.Add([]byte(seed), uint8(0), false)
	}
	finishes := []llm.Finish{llm.FinishStop, llm.FinishCalls, llm.FinishLength, llm.FinishFilter, ""}
	s := parsed(f, tripSchema)
	f.Fuzz(func(t *testing.T, raw []byte, finish uint8, effect bool) {
		o := Options{Finish: finishes[int(finish)%len(finishes)], Effect: effect}
		got := Mend(raw, s, o)
		switch got.Outcome {
		case OK, Repaired:
			if err := s.Validate(got.Value); err != nil {
				t.Fatalf("%q gave %s: %v", raw, got.Value, err)
			}
			if got.Outcome == OK && strictjson.Scan(raw, limits) != nil {
				t.Fatalf("%q is not strict", raw)
			}
			if (got.Outcome == OK) != (len(got.Fixes) == 0) {
				t.Fatalf("%q: %s with fixes %v", raw, got.Outcome, got.Fixes)
			}
			if again := Mend(got.Value, s, o); again.Outcome != OK || !bytes.Equal(again.Value, got.Value) {
				t.Fatalf("%q: the result is not a fixed point: %+v", raw, again)
			}
		default:
			if got.Value != nil || got.Fixes != nil || len(got.Violations) == 0 || len(got.Violations) > maxViolations {
				t.Fatalf("%q: %+v", raw, got)
			}
		}
	})
}
