package schema

import (
	"strconv"
	"strings"

	"github.com/parley-agents/parley/internal/strictjson"
)

// join appends one reference token to an RFC 6901 pointer.
func join(pointer, token string) string {
	return pointer + "/" + strictjson.Escape(token)
}

func unescapeToken(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// tokens splits an RFC 6901 pointer; false if the text is not one.
func tokens(pointer string) ([]string, bool) {
	if pointer == "" {
		return nil, true
	}
	if pointer[0] != '/' {
		return nil, false
	}
	list := strings.Split(pointer[1:], "/")
	for i, token := range list {
		if rest := strings.NewReplacer("~0", "", "~1", "").Replace(token); strings.Contains(rest, "~") {
			return nil, false
		}
		list[i] = unescapeToken(token)
	}
	return list, true
}

// lookup follows reference tokens into a JSON tree.
func lookup(tree any, path []string) (any, bool) {
	for _, token := range path {
		switch node := tree.(type) {
		case map[string]any:
			next, ok := node[token]
			if !ok {
				return nil, false
			}
			tree = next
		case []any:
			i, ok := index(token)
			if !ok || i >= len(node) {
				return nil, false
			}
			tree = node[i]
		default:
			return nil, false
		}
	}
	return tree, true
}

// index reads an array index: digits without a leading zero.
func index(token string) (int, bool) {
	i, err := strconv.Atoi(token)
	if err != nil || i < 0 || strconv.Itoa(i) != token {
		return 0, false
	}
	return i, true
}
