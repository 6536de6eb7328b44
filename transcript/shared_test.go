package transcript_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parley-agents/parley/transcript"
)

// sharedCase is one case of a collection that lives outside the module.
type sharedCase struct {
	File, Verdict string
	Codes         []transcript.Code
}

func TestSharedTracesGetTheirVerdictAndCodes(t *testing.T) {
	dir := filepath.Join(cmp.Or(os.Getenv("PARLEY_SHARED"), filepath.Join("..", "..", "shared")), "cases", "trace")
	index, err := os.ReadFile(filepath.Join(dir, "index.jsonl"))
	if err != nil {
		t.Skip("no shared cases here")
	}
	for line := range bytes.Lines(index) {
		var c sharedCase
		must(t, json.Unmarshal(line, &c))
		t.Run(c.File, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(dir, c.File))
			must(t, err)
			got := transcript.Validate(data)
			switch {
			case c.Verdict != "error":
				if !slices.Equal(codes(got), c.Codes) || got.Valid != (c.Verdict == "valid") || got.Unreadable != nil {
					t.Errorf("got %+v, want %s with %v", got, c.Verdict, c.Codes)
				}
			case json.Valid(data): // a fault that a validator must survive
				if got.Valid || !slices.Contains(codes(got), transcript.CodeType) {
					t.Errorf("got %+v, want %s", got, transcript.CodeType)
				}
			default:
				if got.Valid || got.Unreadable == nil || len(got.Errors) > 0 {
					t.Errorf("got %+v, want it to be unreadable", got)
				}
			}
		})
	}
}
