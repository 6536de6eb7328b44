package llm_test

import (
	"strings"
	"testing"

	"github.com/parley-agents/parley/llm"
	"pgregory.net/rapid"
)

func at(i int) *int { return &i }

func TestAssemblePutsFragmentsOfEveryKnownDialectTogether(t *testing.T) {
	type call struct{ name, arguments string }
	for _, c := range []struct {
		name   string
		deltas []llm.Delta
		want   []call
	}{
		{"nothing", nil, nil},
		{"the standard wire: id and name once, then the index", []llm.Delta{
			{Index: at(0), ID: "a", Name: "add"}, {Index: at(0), Arguments: `{"x":`}, {Index: at(0), Arguments: `1}`},
			{Index: at(1), ID: "b", Name: "sub"}, {Index: at(1), Arguments: `{}`},
		}, []call{{"add", `{"x":1}`}, {"sub", `{}`}}},
		{"interleaved by index", []llm.Delta{
			{Index: at(0), ID: "a", Name: "add"}, {Index: at(1), ID: "b", Name: "sub"},
			{Index: at(1), Arguments: `{"y":2}`}, {Index: at(0), Arguments: `{"x":1}`},
		}, []call{{"add", `{"x":1}`}, {"sub", `{"y":2}`}}},
		{"index always 0, whole calls with new ids", []llm.Delta{
			{Index: at(0), ID: "x", Name: "add", Arguments: `{"a":1}`}, {Index: at(0), ID: "y", Name: "sub", Arguments: `{"a":2}`},
		}, []call{{"add", `{"a":1}`}, {"sub", `{"a":2}`}}},
		{"index always 0, fragments", []llm.Delta{
			{Index: at(0), ID: "x", Name: "add"}, {Index: at(0), Arguments: `{"a":`}, {Index: at(0), Arguments: `1}`},
			{Index: at(0), ID: "y", Name: "add"}, {Index: at(0), Arguments: `{"a":`}, {Index: at(0), Arguments: `2}`},
		}, []call{{"add", `{"a":1}`}, {"add", `{"a":2}`}}},
		{"index always 0, interleaved by id", []llm.Delta{
			{Index: at(0), ID: "x", Name: "add", Arguments: `{"a"`}, {Index: at(0), ID: "y", Name: "sub", Arguments: `{"b"`},
			{Index: at(0), ID: "x", Arguments: `:1}`}, {Index: at(0), ID: "y", Arguments: `:2}`},
		}, []call{{"add", `{"a":1}`}, {"sub", `{"b":2}`}}},
		{"index always 0, no ids, a new name", []llm.Delta{
			{Index: at(0), Name: "add", Arguments: `{"a":1}`}, {Index: at(0), Name: "sub", Arguments: `{}`},
		}, []call{{"add", `{"a":1}`}, {"sub", `{}`}}},
		{"index always 0, no ids, the same name after a whole object", []llm.Delta{
			{Index: at(0), Name: "add", Arguments: `{"a":1}`}, {Index: at(0), Name: "add", Arguments: `{"a":2}`},
		}, []call{{"add", `{"a":1}`}, {"add", `{"a":2}`}}},
		{"no index, id on every fragment", []llm.Delta{
			{ID: "x", Name: "add", Arguments: `{"a"`}, {ID: "y", Position: 1, Name: "sub", Arguments: `{`},
			{ID: "x", Arguments: `:1}`}, {ID: "y", Position: 1, Arguments: `}`},
		}, []call{{"add", `{"a":1}`}, {"sub", `{}`}}},
		{"no index, id on the first fragment only", []llm.Delta{
			{ID: "x", Name: "add", Arguments: `{"a"`}, {Arguments: `:1}`}, {ID: "y", Name: "sub", Arguments: `{`}, {Arguments: `}`},
		}, []call{{"add", `{"a":1}`}, {"sub", `{}`}}},
		{"neither index nor ids, by position", []llm.Delta{
			{Name: "add", Arguments: `{"a"`}, {Position: 1, Name: "sub", Arguments: `{"b"`},
			{Arguments: `:1}`}, {Position: 1, Arguments: `:2}`},
		}, []call{{"add", `{"a":1}`}, {"sub", `{"b":2}`}}},
		{"a new id for every fragment of one call", []llm.Delta{
			{Index: at(0), ID: "x1", Name: "add", Arguments: `{"a"`}, {Index: at(0), ID: "x2", Arguments: `:1}`},
		}, []call{{"add", `{"a":1}`}}},
		{"the name is repeated, last with nothing", []llm.Delta{
			{Index: at(0), ID: "x", Name: "add", Arguments: `{"a"`}, {Index: at(0), Name: "add", Arguments: `:1}`}, {Index: at(0), Name: "add"},
		}, []call{{"add", `{"a":1}`}}},
		{"one id for two names", []llm.Delta{
			{ID: "call", Name: "add", Arguments: `{}`}, {ID: "call", Name: "sub", Arguments: `{}`},
		}, []call{{"add", `{}`}, {"sub", `{}`}}},
		{"the name comes late", []llm.Delta{
			{Index: at(0), ID: "x"}, {Index: at(0), Name: "add"}, {Index: at(0), Arguments: `{}`},
		}, []call{{"add", `{}`}}},
		{"a brace inside a string ends nothing", []llm.Delta{
			{Index: at(0), Name: "add", Arguments: `{"a":"}`}, {Index: at(0), ID: "late", Arguments: `"}`},
		}, []call{{"add", `{"a":"}"}`}}},
		{"an empty placeholder stays where it is", []llm.Delta{
			{Index: at(0), ID: "x", Name: "add", Arguments: `{}`}, {Index: at(0), Arguments: `{"a":1}`},
		}, []call{{"add", `{}{"a":1}`}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := llm.Assemble(c.deltas)
			if len(got) != len(c.want) {
				t.Fatalf("got %+v, want %+v", got, c.want)
			}
			seen := map[string]bool{}
			for i, g := range got {
				if g.Name != c.want[i].name || g.Arguments != c.want[i].arguments {
					t.Errorf("call %d: got %+v, want %+v", i, g, c.want[i])
				}
				if !ours(g.ID) || seen[g.ID] {
					t.Errorf("call %d: id %q is not nine letters and digits, or not unique", i, g.ID)
				}
				seen[g.ID] = true
			}
		})
	}
}

func ours(id string) bool {
	return len(id) == 9 && strings.IndexFunc(id, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z')
	}) < 0
}

func TestAssembleNeverDropsArguments(t *testing.T) {
	fragment := rapid.Custom(func(t *rapid.T) llm.Delta {
		d := llm.Delta{
			Position:  rapid.IntRange(0, 2).Draw(t, "position"),
			ID:        rapid.SampledFrom([]string{"", "", "a", "b"}).Draw(t, "id"),
			Name:      rapid.SampledFrom([]string{"", "", "f", "g"}).Draw(t, "name"),
			Arguments: rapid.SampledFrom([]string{"", "{", "}", `"`, `{"a":1}`, "x"}).Draw(t, "arguments"),
		}
		if rapid.Bool().Draw(t, "indexed") {
			d.Index = at(rapid.IntRange(-1, 2).Draw(t, "index"))
		}
		return d
	})
	rapid.Check(t, func(t *rapid.T) {
		deltas := rapid.SliceOf(fragment).Draw(t, "deltas")
		var sent, kept int
		for _, d := range deltas {
			sent += len(d.Arguments)
		}
		first := llm.Assemble(deltas)
		for _, c := range first {
			kept += len(c.Arguments)
		}
		if sent != kept {
			t.Fatalf("%d bytes of arguments came, %d were kept", sent, kept)
		}
		for i, c := range llm.Assemble(deltas) {
			if c != first[i] {
				t.Fatalf("two runs differ: %+v, %+v", c, first[i])
			}
		}
	})
}

func TestAssembleSplitsEveryWayOfCuttingWholeCalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.SampledFrom([]string{"f", "g"}), 1, 4).Draw(t, "names")
		const arguments = `{"a":{"b":"}{"},"c":[1,2]}`
		var deltas []llm.Delta
		for i, name := range names {
			cut := rapid.IntRange(0, len(arguments)).Draw(t, "cut")
			deltas = append(deltas,
				llm.Delta{Index: at(0), ID: string(rune('a' + i)), Name: name, Arguments: arguments[:cut]},
				llm.Delta{Index: at(0), Arguments: arguments[cut:]})
		}
		got := llm.Assemble(deltas)
		if len(got) != len(names) {
			t.Fatalf("got %d calls, want %d", len(got), len(names))
		}
		for i, c := range got {
			if c.Name != names[i] || c.Arguments != arguments {
				t.Fatalf("call %d: got %+v", i, c)
			}
		}
	})
}
