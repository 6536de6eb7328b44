package guard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/guard"
)

// BenchmarkDoublingHostileInput reports by how much the time of Open grows when
// a hostile text doubles from 64 to 128 and to 256 KiB: about 2 is linear. The
// sizes are timed in turn in one run and the best of each counts, so that a
// busy machine does not matter.
func BenchmarkDoublingHostileInput(b *testing.B) {
	for name, piece := range map[string]string{"brackets": "[", "objects": `{"a":`, "quotes": `"`, "escapes": `\"`, "envelope": ""} {
		b.Run(name, func(b *testing.B) {
			sizes := [...]int{64 << 10, 128 << 10, 256 << 10}
			best := [len(sizes)]time.Duration{time.Hour, time.Hour, time.Hour}
			for b.Loop() {
				for i, size := range sizes {
					text := hostile(piece, size)
					start := time.Now()
					if _, err := guard.Open(text); err == nil {
						b.Fatal("hostile text was opened")
					}
					best[i] = min(best[i], time.Since(start))
				}
			}
			b.ReportMetric(max(float64(best[1])/float64(best[0]), float64(best[2])/float64(best[1])), "x/doubling")
		})
	}
}

// hostile is text of the size made of the piece; without one, an object whose
// content is a long array, so that all of it is read.
func hostile(piece string, size int) []byte {
	if piece == "" {
		return []byte(`{"content":{"a":[` + strings.TrimSuffix(strings.Repeat(`"0123456789",`, size/13), ",") + `]},"v":"1.0"}`)
	}
	return []byte(strings.Repeat(piece, size/len(piece)))
}
