package envelope

import (
	"fmt"
	"strings"
)

// URI names an agent: agent://<authority>/<name>. Two agents are the same if their URIs are, byte by byte.
type URI struct{ Authority, Name string }

// String returns the URI's text.
func (u URI) String() string { return "agent://" + u.Authority + "/" + u.Name }

// ParseURI reads an agent URI. Both parts are 1 to 63 of lower-case letters, digits, dots and hyphens, with a letter or
// digit at both ends; there is no port, query or fragment.
func ParseURI(s string) (URI, error) {
	rest, ok := strings.CutPrefix(s, "agent://")
	authority, name, slash := strings.Cut(rest, "/")
	if !ok || !slash || !isPart(authority) || !isPart(name) {
		return URI{}, fmt.Errorf("agent uri %s: want agent://authority/name in lower case", quote(s))
	}
	return URI{Authority: authority, Name: name}, nil
}

func isAgent(s string) bool {
	_, err := ParseURI(s)
	return err == nil
}
