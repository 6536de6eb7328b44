package measure

import (
	"math"
	"testing"
)

func TestTheMedianIsTheMiddleWhateverTheOrder(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{7}, 7},
		{[]float64{9, 1, 5}, 5},
		{[]float64{4, 1, 3, 2}, 2.5},
		{[]float64{100, 1, 1, 1, 1}, 1},
	} {
		if got := Median(c.values); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.values, got, c.want)
		}
	}
	if got := Median(nil); !math.IsNaN(got) {
		t.Errorf("median of nothing is %v", got)
	}
}

func TestTheMedianLeavesItsValuesInOrder(t *testing.T) {
	values := []float64{3, 1, 2}
	Median(values)
	if values[0] != 3 || values[1] != 1 || values[2] != 2 {
		t.Error(values)
	}
}

func TestARatioIsTakenWithinARound(t *testing.T) {
	// The machine slowed down for everybody in the second round: the ratios
	// are 4, 4 and 5, while that of the medians would be 4.5.
	g := Ratio("x", []float64{400, 40, 500}, []float64{100, 10, 100}, 4)
	if g != (Gate{Name: "x", Value: 4, Target: 4}) {
		t.Errorf("%+v", g)
	}
}

func TestAGateHoldsUpToItsTargetAndNotBeyond(t *testing.T) {
	for _, c := range []struct {
		gate Gate
		want string
	}{
		{Gate{Name: "a", Value: 4, Target: 4}, "GATE a 4.00 4.00 PASS"},
		{Gate{Name: "a", Value: 3.99, Target: 4}, "GATE a 3.99 4.00 FAIL"},
		{Gate{Name: "b", Value: 0.2, Target: 0.2, AtMost: true}, "GATE b 0.20 0.20 PASS"},
		{Gate{Name: "b", Value: 0.21, Target: 0.2, AtMost: true}, "GATE b 0.21 0.20 FAIL"},
		{Gate{Name: "c", Value: math.NaN(), Target: 1}, "GATE c NaN 1.00 FAIL"},
		{Gate{Name: "c", Value: math.NaN(), Target: 1, AtMost: true}, "GATE c NaN 1.00 FAIL"},
		{Ratio("d", []float64{1, 1, 1}, []float64{0, 0, 0}, 1), "GATE d NaN 1.00 FAIL"},
	} {
		if got := c.gate.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
