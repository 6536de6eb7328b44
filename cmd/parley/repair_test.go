package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/internal/strictjson"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/repair"
)

// sharedCase is one case of a collection that lives outside the module.
type sharedCase struct {
	ID, Kind, Raw, Expect string
	Schema, Value         json.RawMessage
	Finish                string `json:"finish_reason"`
}

func TestSharedCasesComeOutOfTheCommandAsExpected(t *testing.T) {
	path := filepath.Join(cmp.Or(os.Getenv("PARLEY_SHARED"), filepath.Join("..", "..", "..", "shared")), "cases", "repair.jsonl")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Skip("no shared cases here")
	}
	for line := range bytes.Lines(data) {
		var c sharedCase
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		t.Run(c.ID+" "+c.Kind, func(t *testing.T) {
			switch {
			case strings.HasPrefix(c.Kind, "stream-"):
				assembled(t, c)
			case c.Kind == "arguments-is-object":
				adapted(t, c)
			case c.Kind == "unknown-tool-prefix":
				t.Skip("needs the list of tools")
			default:
				mendedAsExpected(t, c)
			}
		})
	}
}

func mendedAsExpected(t *testing.T, c sharedCase) {
	file := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(file, c.Schema, 0o600); err != nil {
		t.Fatal(err)
	}
	got := runCommand(t, c.Raw, "repair", "--schema", file, "--finish-reason", c.Finish, "-o", "json")
	var out mended
	if err := json.Unmarshal([]byte(got.stdout), &out); err != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	want, code := repair.Outcome(c.Expect), exitViolation
	if c.Expect == "repairable-locally" {
		want = repair.Repaired
	}
	if want == repair.OK || want == repair.Repaired {
		code = exitOK
	}
	if out.Outcome != want || got.code != code {
		t.Errorf("%s with exit code %d, want %s with %d", out.Outcome, got.code, want, code)
	}
	if code == exitOK {
		equalJSON(t, out.Value, c.Value)
	} else if string(out.Value) != "null" {
		t.Errorf("unsafe: got %s", out.Value)
	}
}

// assembled puts the fragments of a stream together as the adapter does.
func assembled(t *testing.T, c sharedCase) {
	var fragments []struct {
		Index    *int
		ID       string
		Function struct{ Name, Arguments string }
	}
	if err := json.Unmarshal([]byte(c.Raw), &fragments); err != nil {
		t.Fatal(err)
	}
	var want []struct {
		Name      string
		Arguments json.RawMessage
	}
	if err := json.Unmarshal(c.Value, &want); err != nil {
		t.Fatal(err)
	}
	var deltas []llm.Delta
	for _, f := range fragments {
		deltas = append(deltas, llm.Delta{Index: f.Index, ID: f.ID, Name: f.Function.Name, Arguments: f.Function.Arguments})
	}
	calls := llm.Assemble(deltas)
	if len(calls) != len(want) {
		t.Fatalf("%d calls, want %d", len(calls), len(want))
	}
	for i, call := range calls {
		if call.Name != want[i].Name {
			t.Errorf("call %d is of %s, want %s", i, call.Name, want[i].Name)
		}
		equalJSON(t, []byte(call.Arguments), want[i].Arguments)
	}
}

// adapted reads a call from an endpoint.
func adapted(t *testing.T, c sharedCase) {
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","tool_calls":[` + c.Raw + `]}}]}`))
	}))
	defer endpoint.Close()
	reply, err := llm.NewOpenAI(llm.Config{BaseURL: endpoint.URL}).Complete(t.Context(), llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "x"}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Parse(c.Schema)
	if err != nil {
		t.Fatal(err)
	}
	if len(reply.Calls) != 1 {
		t.Fatalf("calls %+v", reply.Calls)
	}
	equalJSON(t, repair.Mend([]byte(reply.Calls[0].Arguments), s, repair.Options{}).Value, c.Value)
}

func equalJSON(t *testing.T, got, want []byte) {
	t.Helper()
	any := strictjson.Limits{AnyRoot: true}
	a, err := strictjson.Canonical(got, any)
	if err != nil {
		t.Fatalf("got %s: %v", got, err)
	}
	b, err := strictjson.Canonical(want, any)
	if err != nil {
		t.Fatalf("want %s: %v", want, err)
	}
	if !bytes.Equal(a, b) {
		t.Errorf("got %s, want %s", a, b)
	}
}

func TestWhyTheModelStoppedDecidesWhatIsCompleted(t *testing.T) {
	schemaFile := filepath.Join("testdata", "weather.json")
	for _, c := range []struct {
		args, outcome string
		code          int
	}{
		{"--finish-reason stop", "repaired", exitOK},
		{"--finish-reason stop --effect", "needs-model", exitViolation},
		{"", "needs-model", exitViolation},
		{"--finish-reason length", "needs-model", exitViolation},
		{"--finish-reason tool_calls", "needs-model", exitViolation},
		{"--finish-reason content_filter", "reject", exitViolation},
		{"--finish-reason refusal", "reject", exitViolation},
	} {
		args := append([]string{"repair", "-o", "json", "--schema", schemaFile}, strings.Fields(c.args)...)
		got := runCommand(t, `{"days":2,"city":"Oulu"`, args...)
		if got.code != c.code || !strings.Contains(got.stdout, `"outcome": "`+c.outcome+`"`) {
			t.Errorf("%s: %+v", c.args, got)
		}
	}
}

func TestAnInputThatIsTooLongIsRejected(t *testing.T) {
	got := runCommand(t, strings.Repeat(" ", 300<<10)+`{"city":"Oulu","days":2}`, "repair", "-o", "json", "--schema", filepath.Join("testdata", "weather.json"))
	if got.code != exitViolation || !strings.Contains(got.stdout, `"rule": "size"`) {
		t.Errorf("%+v", got)
	}
}
