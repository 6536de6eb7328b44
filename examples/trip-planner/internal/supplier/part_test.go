package supplier_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-agents/parley/examples/trip-planner/internal/supplier"
)

func TestAPartIsWhatItsArgumentsSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := supplier.Part{
			Name:      rapid.SampledFrom([]string{supplier.Flights, supplier.Hotels}).Draw(t, "name"),
			Dir:       rapid.StringN(1, -1, 40).Draw(t, "dir"),
			Delay:     time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "delay")),
			Injection: rapid.Bool().Draw(t, "injection"),
			Points:    rapid.SliceOfN(rapid.SampledFrom(supplier.Points()), 0, 3).Draw(t, "points"),
			Verbose:   rapid.Bool().Draw(t, "verbose"),
		}
		if len(p.Points) == 0 {
			p.Points = nil
		}
		if got, err := supplier.ParsePart(p.Args()); err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("%+v came back as %+v, %v", p, got, err)
		}
	})
}

func TestArgumentsThatSayNoPartAreRefused(t *testing.T) {
	for args, want := range map[string]string{
		"":                                  "flights or hotels",
		"trains --data d":                   "flights or hotels",
		"hotels":                            "--data",
		"hotels --data d now":               "no flag",
		"hotels --data d --wait for-ever":   "for-ever",
		"hotels --data d --delay a-moment":  "a-moment",
		"flights --data d --discount":       "discount",
		"flights --data d --injection=some": "injection",
	} {
		if p, err := supplier.ParsePart(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", args, p, err, want)
		}
	}
}
