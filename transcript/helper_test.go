package transcript_test

import (
	"slices"
	"testing"

	"github.com/parley-agents/parley/transcript"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// codes are the codes of a verdict, each once, sorted.
func codes(v transcript.Verdict) []transcript.Code {
	found := []transcript.Code{}
	for _, f := range v.Errors {
		found = append(found, f.Code)
	}
	slices.Sort(found)
	return slices.Compact(found)
}
