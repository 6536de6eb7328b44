package repair

import (
	"slices"
	"strings"
)

// MatchFunction returns the known function that a model meant by name.
//
// A name must be known exactly. One exception: some models put a namespace of their own before it, as in
// default_api:search or functions.search; one such prefix is taken off if exactly one known function has the rest for
// its name. Anything else is answered with false, for the caller to tell the model which names there are: the nearest
// name is a guess, and a guessed call is an effect that nobody asked for.
func MatchFunction(name string, known []string) (string, bool) {
	if slices.Contains(known, name) {
		return name, true
	}
	cut := strings.IndexAny(name, ":.")
	if cut <= 0 || strings.ContainsFunc(name[:cut], func(r rune) bool { return r > 'z' || !isWord(byte(r)) }) {
		return "", false
	}
	rest := strings.TrimPrefix(name[cut+1:], ":")
	matches := 0
	for _, k := range known {
		if k == rest {
			matches++
		}
	}
	if matches != 1 {
		return "", false
	}
	return rest, true
}
