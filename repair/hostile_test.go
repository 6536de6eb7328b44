package repair_test

import (
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/repair"
)

// BenchmarkDoublingHostileInput reports by how much the time of Mend grows when
// a hostile text doubles from 64 to 128 and to 256 KiB: about 2 is linear. The
// sizes are timed in turn in one run and the best of each counts.
func BenchmarkDoublingHostileInput(b *testing.B) {
	s, err := schema.Parse([]byte(`{"type":"object","properties":{"a":{"type":"string"}}}`))
	if err != nil {
		b.Fatal(err)
	}
	for name, piece := range map[string]string{"brackets": "[", "objects": `{"a":`, "quotes": `"`, "numbers": "1 ", "fences": "```", "thoughts": "<think>"} {
		b.Run(name, func(b *testing.B) {
			sizes := [...]int{64 << 10, 128 << 10, 256<<10 - 1}
			best := [len(sizes)]time.Duration{time.Hour, time.Hour, time.Hour}
			for b.Loop() {
				for i, size := range sizes {
					text := []byte(strings.Repeat(piece, size/len(piece)))
					start := time.Now()
					repair.Mend(text, s, repair.Options{Finish: llm.FinishStop})
					best[i] = min(best[i], time.Since(start))
				}
			}
			b.ReportMetric(max(float64(best[1])/float64(best[0]), float64(best[2])/float64(best[1])), "x/doubling")
		})
	}
}
