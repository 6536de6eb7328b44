package repair

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/internal/strictjson"
	"github.com/parley-agents/parley/llm"
)

// sharedCase is one case of a collection that lives outside the module.
type sharedCase struct {
	ID, Kind, Raw, Expect string
	Schema, Value         json.RawMessage
	Finish                llm.Finish `json:"finish_reason"`
}

func TestSharedCasesComeOutAsExpected(t *testing.T) {
	path := filepath.Join(cmp.Or(os.Getenv("PARLEY_SHARED"), filepath.Join("..", "..", "shared")), "cases", "repair.jsonl")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Skip("no shared cases here")
	}
	for line := range bytes.Lines(data) {
		var c sharedCase
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(c.Kind, "stream-") || c.Kind == "arguments-is-object" || c.Kind == "unknown-tool-prefix" {
			continue // these need more than the text
		}
		t.Run(c.ID+" "+c.Kind, func(t *testing.T) {
			s, err := schema.Parse(c.Schema)
			if err != nil {
				t.Fatal(err)
			}
			got := Mend([]byte(c.Raw), s, Options{Finish: c.Finish})
			want := Outcome(c.Expect)
			if c.Expect == "repairable-locally" {
				want = Repaired
			}
			if got.Outcome != want {
				t.Errorf("got %s %v, want %s", got.Outcome, got.Violations, want)
			}
			if got.Value == nil && c.Value == nil {
				return
			}
			value, err := strictjson.Canonical(c.Value, limits)
			if err != nil || !bytes.Equal(got.Value, value) {
				t.Errorf("unsafe: got %s, want %s (%v)", got.Value, value, err)
			}
		})
	}
}
