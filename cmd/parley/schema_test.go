package main

import (
	"strings"
	"testing"
)

func TestASchemaIsFoundByItsNameItsIDAndItsLastWord(t *testing.T) {
	want := runCommand(t, "", "schema", "show", "parley.envelope/v1")
	if want.code != 0 || !strings.Contains(want.stdout, "urn:schema:parley.envelope/v1") {
		t.Fatalf("exit %d: %s", want.code, want.stdout)
	}
	for _, name := range []string{"urn:schema:parley.envelope/v1", "envelope"} {
		if got := runCommand(t, "", "schema", "show", name); got.code != 0 || got.stdout != want.stdout {
			t.Errorf("%s: exit %d, %d bytes", name, got.code, len(got.stdout))
		}
	}
	if got := runCommand(t, "", "schema", "show", "env"); got.code != 3 {
		t.Errorf("half a word: exit %d, want 3", got.code)
	}
}
