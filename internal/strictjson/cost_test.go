package strictjson

import (
	"math"
	"strings"
	"testing"
)

// lifted keeps the depth limit only, which bounds the stack.
var lifted = Limits{
	Bytes: math.MaxInt, Depth: math.MaxInt, Members: math.MaxInt, StringBytes: math.MaxInt, Nodes: math.MaxInt, AnyRoot: true,
}

func hostile(size int) map[string]string {
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	return map[string]string{
		"brackets":     fill("["),
		"objects":      fill(`{"a":`),
		"quotes":       fill(`"`),
		"inner quotes": `"` + fill(`\"`) + `"`,
		"escapes":      `"` + fill(`\u0041`),
		"numbers":      fill("1 "),
		"digits":       fill("1"),
		"spaces":       fill(" "),
		"wide array":   "[" + fill("0,") + "0]",
		"wide object":  manyMembers(size/10 + 1),
		"long names":   `{"` + fill("a") + `b":1,"` + fill("a") + `c":2,"` + fill("a") + `d":3}`,
		"folded names": `{"` + fill("\u212a") + `":1,"` + fill("k") + `":2}`,
	}
}

func TestDoublingHostileInputDoublesTheWork(t *testing.T) {
	work := func(size int) map[string]int {
		costs := make(map[string]int)
		for name, in := range hostile(size) {
			p := newParser([]byte(in), lifted)
			p.build = true
			_, _ = p.document()
			costs[name] = p.work
			if p.work > 40*len(in) {
				t.Errorf("%s: %d bytes cost %d", name, len(in), p.work)
			}
		}
		return costs
	}
	once := work(64 << 10)
	for size := 128 << 10; size <= 256<<10; size *= 2 {
		twice := work(size)
		for name, cost := range twice {
			// Quadratic work would quadruple; sorting names adds a little to doubling.
			if cost > 3*max(once[name], 1) {
				t.Errorf("%s: %d bytes cost %d, half of them %d", name, size, cost, once[name])
			}
		}
		once = twice
	}
}

func TestNestingStopsAtTheHardLimit(t *testing.T) {
	deep := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	if _, err := Canonical(deep(maxDepth), lifted); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if _, err := Canonical(deep(maxDepth+1), lifted); err == nil {
		t.Error("above the limit: accepted")
	}
}

func BenchmarkCanonical(b *testing.B) {
	data := []byte(`{"v":"1.0","sender":"agent://acme/planner","content":{"text":"` + strings.Repeat("word ", 100) +
		`","list":[` + strings.Repeat(`{"name":"x","n":1.25},`, 50) + `null]}}`)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Canonical(data, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
