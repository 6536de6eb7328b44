package transcript_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parley-agents/parley/transcript"
)

func TestExplore(t *testing.T) {
	files, _ := filepath.Glob("testdata/scenarios/*.trace.json")
	ok, all := map[string]int{}, map[string]int{}
	n := 0
	for _, f := range files {
		data, _ := os.ReadFile(f)
		var root map[string]any
		json.Unmarshal(data, &root)
		mutate(root, "$", func(what string) {
			n++
			k := regexp.MustCompile(`\[\d+\]`).ReplaceAllString(strings.SplitN(what, " ", 2)[0], "[]")
			if i := strings.Index(k, "."); i < 0 {
				k = "$"
			}
			k += " " + strings.SplitN(what, " ", 2)[1]
			if len(k) > 100 { k = k[:100] }
			all[k]++
			if transcript.Validate(mustEncode(root)).Valid {
				ok[k]++
			}
		})
	}
	for _, k := range slices.Sorted(maps.Keys(ok)) {
		fmt.Printf("%4d/%4d %s\n", ok[k], all[k], k)
	}
	fmt.Println(len(files), n)
}
