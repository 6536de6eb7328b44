package transcript_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/transcript"
)

// neutral are the changes of one value after which the trace is still valid: expressions for a path and for a change.
func neutral() [][3]string {
	const text = `longer|padded|in other case|as "\?"`
	return [][3]string{
		{`\$\.observedAt`, `a day (earlier|later)|by a (slow|fast) clock|as a date only|in other case`, "when the trace was taken binds nothing"},
		{`\$\.limits\.maxMessages`, `one more|one less|as 2e\+300`, "there are fewer messages still"},
		{`\$\.(limits|gathers\[0])\.deadlineAt`, `a day later|by a (slow|fast) clock|in other case`, "every message is in time still"},
		{`\$\.messages\[.]\.expiresAt`, `a day later|by a (slow|fast) clock|in other case`, "the message is observed before it still"},
		{`\$\.messages\[.]\.observedAt`, `a day earlier|by a (slow|fast) clock|as a date only|in other case`, "clocks differ; order is that of the list"},
		{`\$\.participants\[.]\.role`, text, "roles are the protocol's affair"},
		{`\$\.participants\[.]\.audiences`, `with a stranger`, "one may accept labels that nobody uses"},
		{`\$\.participants\[0]\.audiences`, `without the first`, "plan is a label that nobody uses"},
		{`\$\.participants\[1]\.audiences`, `without the last`, "book is a label that nobody uses"},
		{`\$\.participants\[(0]\.audiences\[0|1]\.audiences\[1)]`, text, "labels that nobody uses"},
		{`\$\.messages\[[156]]\.messageId`, text, "nothing refers to these three"},
		{`\$\.messages\[[034]]\.audience`, `without the (first|last)`, "nobody has to be addressed"},
		{`\$\.messages\[.]\.correlationId`, text + `|as null`, "correlation is the caller's affair"},
		{`\$\.messages\[[1-4]]\.causationId`, `as null`, "only an ACK must have a cause"},
		{`\$\.messages\[.]\.payloadType`, text, "payload types are the protocol's affair"},
		{`\$\.messages\[.]\.verificationReceiptRef`, text, "the receipt is not looked up"},
	}
}

func TestEachChangeOfOneValueIsRefusedUnlessItIsNeutral(t *testing.T) {
	var rules []*regexp.Regexp
	for _, n := range neutral() {
		rules = append(rules, regexp.MustCompile(`^`+n[0]+` (`+n[1]+`)$`))
	}
	root, total, met := tree(t), 0, make([]bool, len(rules))
	mutate(root, "$", func(what string) {
		total++
		got := transcript.Validate(encode(t, root))
		rule := slices.IndexFunc(rules, func(r *regexp.Regexp) bool { return r.MatchString(what) })
		if rule >= 0 {
			met[rule] = true
		}
		if got.Valid != (rule >= 0) {
			t.Errorf("%s: valid %t, want %t: %v", what, got.Valid, rule >= 0, got.Errors)
		}
		if strings.HasSuffix(what, " removed") && !slices.Contains(codes(got), transcript.CodeRequired) ||
			strings.HasSuffix(what, " extra") && !slices.Contains(codes(got), transcript.CodeUnknownField) {
			t.Errorf("%s: %v", what, got.Errors)
		}
	})
	for i, n := range neutral() {
		if !met[i] {
			t.Errorf("no change is neutral because %s", n[2])
		}
	}
	if total < 2000 || !transcript.Validate(encode(t, root)).Valid {
		t.Errorf("%d changes, or one was not undone", total)
	}
}

// mutate changes one value at a time below an object, calls try for each change, and undoes it.
func mutate(o map[string]any, path string, try func(what string)) {
	o["extra"] = 1.0
	try(path + " extra")
	delete(o, "extra")
	for _, name := range slices.Sorted(maps.Keys(o)) {
		at, old := path+"."+name, o[name]
		delete(o, name)
		try(at + " removed")
		for _, c := range others(old) {
			o[name] = c.value
			try(at + " " + c.what)
		}
		o[name] = old
		if inner, ok := old.(map[string]any); ok {
			mutate(inner, at, try)
		}
		list, _ := old.([]any)
		for i, old := range list {
			at := fmt.Sprintf("%s[%d]", at, i)
			for _, c := range others(old) {
				list[i] = c.value
				try(at + " " + c.what)
			}
			list[i] = old
			if inner, ok := old.(map[string]any); ok {
				mutate(inner, at, try)
			}
		}
	}
}

type change struct {
	what  string
	value any
}

// others are values of other types, and values of the same type that differ.
func others(old any) []change {
	var found []change
	for _, value := range []any{nil, true, false, 0.0, 1.5, 2e300, "", "?", []any{}, []any{nil}, []any{"?"}, map[string]any{}} {
		if text := string(mustEncode(value)); text != string(mustEncode(old)) {
			found = append(found, change{"as " + text, value})
		}
	}
	switch v := old.(type) {
	case string:
		found = append(found, change{"longer", v + "x"}, change{"padded", " " + v})
		if other := swapCase(v); other != v {
			found = append(found, change{"in other case", other})
		}
		if at, err := time.Parse(time.RFC3339, v); err == nil {
			found = append(found, change{"as a date only", v[:10]},
				change{"a day earlier", at.AddDate(0, 0, -1)}, change{"a day later", at.AddDate(0, 0, 1)},
				change{"by a slow clock", at.Add(-time.Minute)}, change{"by a fast clock", at.Add(time.Minute)})
		}
	case float64:
		found = append(found, change{"one more", v + 1}, change{"one less", v - 1}, change{"negative", -v}, change{"as text", fmt.Sprint(v)})
	case []any:
		if len(v) > 0 {
			found = append(found, change{"without the first", v[1:]}, change{"without the last", v[:len(v)-1]},
				change{"with the first twice", append(slices.Clone(v), v[0])}, change{"as its first", v[0]})
		}
		found = append(found, change{"with a stranger", append(slices.Clone(v), nobody)})
	}
	return found
}

func mustEncode(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return data
}

func swapCase(s string) string {
	if upper := strings.ToUpper(s); upper != s {
		return upper
	}
	return strings.ToLower(s)
}
