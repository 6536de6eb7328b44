package repair

import (
	"strconv"
	"strings"

	"github.com/parley-agents/parley/internal/strictjson"
)

// tokens splits an RFC 6901 pointer.
func tokens(pointer string) []string {
	if pointer == "" {
		return nil
	}
	list := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, token := range list {
		list[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	}
	return list
}

// lookup finds the value at a pointer.
func lookup(tree any, pointer string) (any, bool) {
	for _, token := range tokens(pointer) {
		switch node := tree.(type) {
		case map[string]any:
			child, ok := node[token]
			if !ok {
				return nil, false
			}
			tree = child
		case []any:
			i, ok := index(token, len(node))
			if !ok {
				return nil, false
			}
			tree = node[i]
		default:
			return nil, false
		}
	}
	return tree, true
}

// replace returns the tree with another value at a pointer. The array or object that is to hold it must be there; an
// object gets the member if it lacks it. It changes the tree in place below the root.
func replace(tree any, pointer string, with any) (any, bool) {
	if pointer == "" {
		return with, true
	}
	cut := strings.LastIndexByte(pointer, '/')
	last := tokens(pointer[cut:])[0]
	parent, ok := lookup(tree, pointer[:cut])
	if !ok {
		return tree, false
	}
	switch node := parent.(type) {
	case map[string]any:
		node[last] = with
		return tree, true
	case []any:
		i, ok := index(last, len(node))
		if ok {
			node[i] = with
		}
		return tree, ok
	}
	return tree, false
}

// index reads an array index below length.
func index(token string, length int) (int, bool) {
	i, err := strconv.Atoi(token)
	return i, err == nil && i >= 0 && i < length && strconv.Itoa(i) == token
}

// parent is the pointer one level up.
func parent(pointer string) string { return pointer[:max(0, strings.LastIndexByte(pointer, '/'))] }

// common is the deepest pointer that all violations are at or below.
func common(list []Violation) string {
	if len(list) == 0 {
		return ""
	}
	path := tokens(list[0].Pointer)
	for _, v := range list[1:] {
		other := tokens(v.Pointer)
		n := 0
		for n < len(path) && n < len(other) && path[n] == other[n] {
			n++
		}
		path = path[:n]
	}
	pointer := ""
	for _, token := range path {
		pointer += "/" + strictjson.Escape(token)
	}
	return pointer
}
