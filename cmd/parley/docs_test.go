package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestTheCommandLinesOfTheDocumentationUseVerbsAndFlagsThatAreThere(t *testing.T) {
	line := regexp.MustCompile(`(?m)^(?:go run \./cmd/parley|parley) ([^#\n]*)`)
	for path, least := range map[string]int{"../../README.md": 20, "../../docs/serving.md": 5} {
		data, err := os.ReadFile(path)
		must(t, err)
		found := line.FindAllStringSubmatch(string(data), -1)
		if len(found) < least {
			t.Errorf("%s has only %d command lines", path, len(found))
		}
		for _, l := range found {
			verb, rest, err := process{}.command().Find(strings.Fields(l[1]))
			if err != nil || verb.HasSubCommands() {
				t.Errorf("%s: %s: %v", path, l[0], err)
				continue
			}
			for _, word := range rest {
				if name, long := strings.CutPrefix(word, "--"); long && verb.Flags().Lookup(name) == nil {
					t.Errorf("%s: %s: there is no flag %s", path, l[0], word)
				}
			}
		}
	}
}
