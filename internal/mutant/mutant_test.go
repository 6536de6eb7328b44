//go:build !mutant_repair && !mutant_duplicate && !mutant_deadline && !mutant_legality

package mutant_test

import (
	"testing"

	"github.com/parley-agents/parley/internal/mutant"
)

func TestAnUntaggedBuildHasEverySafeguard(t *testing.T) {
	for name, off := range map[string]bool{
		"repair": mutant.Repair, "duplicate": mutant.Duplicate,
		"deadline": mutant.Deadline, "legality": mutant.Legality,
	} {
		if off {
			t.Errorf("the %s safeguard is switched off: this build carries tag mutant_%s", name, name)
		}
	}
}
