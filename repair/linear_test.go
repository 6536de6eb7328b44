package repair

import (
	"strings"
	"testing"
)

func TestHostileTextsTakeLinearTime(t *testing.T) {
	s := parsed(t, tripSchema)
	const kib = 1 << 10
	for name, unit := range map[string]string{
		"brackets":                   "[",
		"braces":                     "{",
		"nested members":             `{"a":`,
		"nested bare members":        `{a:`,
		"nested lists of strings":    `["a",`,
		"quotes":                     `"`,
		"single quotes":              `'`,
		"curly quotes":               "“",
		"quotes in braces":           `{'`,
		"numbers":                    "1 ",
		"backticks":                  "`",
		"fences":                     "```\n",
		"think tags":                 "<think>",
		"closed think tags":          "<think></think>",
		"think tags in prose":        "a<think>",
		"prose in brackets":          "[a]",
		"open prose in brackets":     "[a ",
		"empty objects":              "{}",
		"empty lists in prose":       "a[]",
		"comments":                   "/**/",
		"open comments":              "[/*",
		"line comments in a bracket": "[//",
		"commas":                     "[1,",
		"backslashes":                `"\`,
		"escaped quotes":             `\"`,
		"line feeds":                 "\n",
		"no-break spaces":            "\u00A0",
		"less-than signs":            "<",
		"letters":                    "f",
		"closers":                    "]}",
	} {
		t.Run(name, func(t *testing.T) {
			before := 0
			for _, size := range []int{64 * kib, 128 * kib, 256 * kib} {
				for _, prefix := range []string{"", "x "} {
					raw := prefix + strings.Repeat(unit, (size-len(prefix))/len(unit))
					mended, d := mend([]byte(raw), s, stopped)
					if mended.Outcome != NeedsModel {
						t.Fatalf("%d bytes: %s", size, mended.Outcome)
					}
					if d.steps > 4*len(raw)+64 {
						t.Errorf("%d bytes took %d steps", len(raw), d.steps)
					}
					if prefix == "" {
						if before > 0 && float64(d.steps) > 2.5*float64(before)+64 {
							t.Errorf("%d bytes took %d steps, half of them %d", len(raw), d.steps, before)
						}
						before = d.steps
					}
				}
			}
		})
	}
}

// A member that is wrong in every one of many items must not be checked once an item.
func TestManyViolationsAreMendedInBoundedRounds(t *testing.T) {
	s := parsed(t, `{"type":"array","items":{"type":"integer"}}`)
	few := "[" + strings.TrimSuffix(strings.Repeat(`"1",`, 60), ",") + "]"
	if got := Mend([]byte(few), s, stopped); got.Outcome != Repaired || len(got.Fixes) != 60 {
		t.Errorf("60 items: %s with %d fixes", got.Outcome, len(got.Fixes))
	}
	many := "[" + strings.TrimSuffix(strings.Repeat(`"1",`, 9000), ",") + "]"
	if _, d := mend([]byte(many), s, stopped); len(d.fixes) != maxRounds*maxViolations {
		t.Errorf("9000 items: %d fixes", len(d.fixes))
	}
}

func BenchmarkMend(b *testing.B) {
	s := parsed(b, tripSchema)
	raw := []byte("<think>" + strings.Repeat("a {b} ", 100) + "</think>Here:\n```\n{'city': 'Turku', // x\n 'days': '3',}\n```")
	b.ReportAllocs()
	for b.Loop() {
		if Mend(raw, s, stopped).Outcome != Repaired {
			b.Fatal("not repaired")
		}
	}
}
