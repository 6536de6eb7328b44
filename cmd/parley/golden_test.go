package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestEveryVerbPrintsItsGoldenOutput(t *testing.T) {
	withoutModel(t)
	path := filledStore(t)
	dir := filepath.Dir(path)
	t.Setenv("PARLEY_DB", path)
	schemaFile := filepath.Join("testdata", "weather.json")
	for _, c := range []struct {
		name, stdin string
		args        string
		code        int
	}{
		{"help", "", "", exitOK},
		{"version", "", "version", exitOK},
		{"version.json", "", "version -o json", exitOK},
		{"doctor", "", "doctor", exitOK},
		{"doctor.json", "", "doctor -o json", exitOK},
		{"schema-ls", "", "schema ls", exitOK},
		{"schema-ls.json", "", "schema ls -o json", exitOK},
		{"schema-show", "", "schema show parley.refusal/v1", exitOK},
		{"schema-show", "", "schema show urn:schema:parley.refusal/v1 -o json", exitOK},
		{"repair-ok.json", `{"days":2,"city":"Oulu"}`, "repair -o json --schema " + schemaFile, exitOK},
		{"repair-repaired", "Sure:\n```json\n{'city': \"Oulu\", \"days\": \"3\",}\n```", "repair --schema " + schemaFile, exitOK},
		{"repair-repaired.json", "Sure:\n```json\n{'city': \"Oulu\", \"days\": \"3\",}\n```", "repair -o json --schema " + schemaFile, exitOK},
		{"repair-needs-model", `{"city":"Ou`, "repair --finish-reason length --schema " + schemaFile, exitViolation},
		{"repair-needs-model.json", `{"city":7}`, "repair -o json --schema " + schemaFile, exitViolation},
		{"repair-reject.json", `{"city":"Oulu","days":2}`, "repair -o json --finish-reason content_filter --schema " + schemaFile, exitViolation},
		{"conversation-ls", "", "conversation ls", exitOK},
		{"conversation-ls.json", "", "conversation ls -o json", exitOK},
		{"conversation-ls.jsonl", "", "conversation ls -o jsonl", exitOK},
		{"version.jsonl", "", "version -o jsonl", exitOK},
		{"conversation-ls-owner.json", "", "conversation ls --owner planner --limit 1 -o json", exitOK},
		{"conversation-ls-none.json", "", "conversation ls --owner agent://acme/nobody -o json", exitOK},
		{"conversation-show", "", "conversation show " + conversation1, exitOK},
		{"conversation-show-envelopes", "", "conversation show --envelopes --owner flights " + conversation1, exitOK},
		{"conversation-show.json", "", "conversation show -o json " + conversation1, exitOK},
		{"conversation-watch", "", "conversation watch " + conversation1, exitOK},
		{"conversation-watch.jsonl", "", "conversation watch -o jsonl " + conversation1, exitOK},
		{"trace-validate", "", "trace validate testdata/trace.json", exitOK},
		{"trace-validate.json", "", "trace validate -o json testdata/trace.json", exitOK},
		{"trace-validate-faulty", "", "trace validate testdata/trace-faulty.json", exitFailed},
		{"trace-validate-faulty.json", "", "trace validate -o json testdata/trace-faulty.json", exitFailed},
		{"conversation-show-envelopes.json", "", "conversation show -o json --envelopes --owner flights " + conversation1, exitOK},
	} {
		got := runCommand(t, c.stdin, strings.Fields(c.args)...)
		if got.code != c.code {
			t.Errorf("%s: exit code %d, want %d: %s", c.name, got.code, c.code, got.stderr)
		}
		if (got.stderr != "") != (c.code != exitOK) {
			t.Errorf("%s: exit code %d with %q on standard error", c.name, got.code, got.stderr)
		}
		wantGolden(t, c.name, stable(got.stdout, dir))
		if strings.HasSuffix(c.name, ".json") && !json.Valid([]byte(got.stdout)) {
			t.Errorf("%s is not JSON", c.name)
		}
		if strings.HasSuffix(c.name, ".jsonl") {
			for line := range strings.Lines(got.stdout) {
				if !json.Valid([]byte(line)) {
					t.Errorf("%s: %q is not JSON", c.name, line)
				}
			}
		}
	}
}

func TestSchemaShowPrintsEveryDocumentThatIsListed(t *testing.T) {
	var listed struct{ Schemas []publishedSchema }
	if err := json.Unmarshal([]byte(runCommand(t, "", "schema", "ls", "-o", "json").stdout), &listed); err != nil {
		t.Fatal(err)
	}
	if len(listed.Schemas) < 5 || listed.Schemas[0].Name != "parley.envelope/v1" {
		t.Errorf("listed %v", listed.Schemas)
	}
	for _, s := range listed.Schemas {
		var document struct {
			ID string `json:"$id"`
		}
		if err := json.Unmarshal([]byte(runCommand(t, "", "schema", "show", s.Name).stdout), &document); err != nil || document.ID != s.ID {
			t.Errorf("%s: the document is of %q (%v)", s.Name, document.ID, err)
		}
	}
}

func TestTheVersionsAreThoseOfThisProgram(t *testing.T) {
	v, err := versions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v.Parley == "" || !strings.HasPrefix(v.Go, "go") && !strings.HasPrefix(v.Go, "devel") || !strings.HasPrefix(v.SQLite, "3.") || v.Envelope != "1.0" {
		t.Errorf("%+v", v)
	}
}

func TestTheHelpOfAVerbNamesEveryMemberOfItsJSON(t *testing.T) {
	for golden, verb := range map[string]string{
		"version.json": "version", "doctor.json": "doctor", "schema-ls.json": "schema ls", "repair-repaired.json": "repair",
		"repair-needs-model.json": "repair", "conversation-ls.json": "conversation ls",
		"conversation-show.json": "conversation show", "conversation-show-envelopes.json": "conversation show",
		"trace-validate-faulty.json": "trace validate",
	} {
		data, err := os.ReadFile(filepath.Join("testdata", golden+".golden"))
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal(data, &value); err != nil {
			t.Fatal(err)
		}
		help := runCommand(t, "", append(strings.Fields(verb), "--help")...).stdout
		for _, name := range memberNames(value) {
			if !strings.Contains(help, `"`+name+`"`) {
				t.Errorf("the help of %s does not name %q", verb, name)
			}
		}
	}
}

// memberNames are the names of all members; what is inside a value or an envelope is not the command's.
func memberNames(value any) []string {
	var names []string
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			names = append(names, name)
			if !slices.Contains([]string{"value", "envelope", "header", "content"}, name) {
				names = append(names, memberNames(inner)...)
			}
		}
	case []any:
		for _, inner := range v {
			names = append(names, memberNames(inner)...)
		}
	}
	return names
}
