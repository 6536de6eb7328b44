package measure

import (
	"fmt"
	"math"
	"slices"
)

// Gate is a bound on what a benchmark came to.
type Gate struct {
	Name   string
	Value  float64
	Target float64
	// AtMost says that Value may not exceed Target. Else it may not be less.
	AtMost bool
}

// Held reports whether the value is within the bound. What is no number is not.
func (g Gate) Held() bool {
	if g.AtMost {
		return g.Value <= g.Target
	}
	return g.Value >= g.Target
}

// String is the line "GATE name value target PASS" or "… FAIL".
func (g Gate) String() string {
	verdict := "FAIL"
	if g.Held() {
		verdict = "PASS"
	}
	return fmt.Sprintf("GATE %s %.2f %.2f %s", g.Name, g.Value, g.Target, verdict)
}

// Median is the middle of the values, the mean of the two middle ones if their
// number is even, and no number if there are none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2
	}
	return sorted[middle]
}

// ratios divides what was measured in the same round.
func ratios(of, to []float64) []float64 {
	out := make([]float64, min(len(of), len(to)))
	for i := range out {
		out[i] = of[i] / to[i]
		if to[i] == 0 {
			out[i] = math.NaN()
		}
	}
	return out
}

// Ratio is the gate that the median of the rounds' ratios is at least target.
func Ratio(name string, of, to []float64, target float64) Gate {
	return Gate{Name: name, Value: Median(ratios(of, to)), Target: target}
}

// AtMost is the gate that the median of the rounds' ratios is no more than target.
func AtMost(name string, of, to []float64, target float64) Gate {
	return Gate{Name: name, Value: Median(ratios(of, to)), Target: target, AtMost: true}
}
