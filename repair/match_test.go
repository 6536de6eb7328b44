package repair

import "testing"

func TestOnlyAnInventedPrefixIsTakenOffAFunctionName(t *testing.T) {
	known := []string{"search", "book_seat", "book", "twice", "twice"}
	for name, want := range map[string]string{
		"search":                     "search",
		"default_api:search":         "search",
		"functions.search":           "search",
		"default_api::search":        "search",
		"functions.book":             "book",
		"functions.book_seat":        "book_seat",
		"twice":                      "twice",
		"Search":                     "",
		"searc":                      "",
		"searches":                   "",
		"functions.Search":           "",
		"functions.other":            "",
		"a.b.search":                 "",
		".search":                    "",
		"functions.":                 "",
		"two words.search":           "",
		"functions.twice":            "",
		"default_api/search":         "",
		"multi_tool_use.parallel":    "",
		"":                           "",
		"functions.search.":          "",
		"функции.search":             "",
		"functions.search\u200b":     "",
		"functions. search":          "",
		"default_api:functions.book": "",
	} {
		got, ok := MatchFunction(name, known)
		if got != want || ok != (want != "") {
			t.Errorf("%q: got %q %v, want %q", name, got, ok, want)
		}
	}
}
