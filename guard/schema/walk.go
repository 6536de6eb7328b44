package schema

import (
	"iter"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// subschemas yields the schemas directly below a node, with the pointer of each
// relative to it, in a fixed order. Data under enum, const, default and examples
// is not schema and is not visited.
func subschemas(node map[string]any) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, keyword := range slices.Sorted(maps.Keys(node)) {
			at := join("", keyword)
			switch keyword {
			case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
				table, _ := node[keyword].(map[string]any)
				for _, name := range slices.Sorted(maps.Keys(table)) {
					if !yield(join(at, name), table[name]) {
						return
					}
				}
			case "allOf", "anyOf", "oneOf", "prefixItems", "items", "additionalItems", "additionalProperties",
				"contains", "not", "if", "then", "else", "propertyNames",
				"unevaluatedItems", "unevaluatedProperties", "contentSchema":
				list, many := node[keyword].([]any)
				if !many {
					if !yield(at, node[keyword]) {
						return
					}
					continue
				}
				for i, item := range list {
					if !yield(join(at, strconv.Itoa(i)), item) {
						return
					}
				}
			}
		}
	}
}

// walk visits every schema object at and below node, the node first.
func walk(node any, pointer string, visit func(pointer string, node map[string]any) error) error {
	object, ok := node.(map[string]any)
	if !ok {
		return nil
	}
	if err := visit(pointer, object); err != nil {
		return err
	}
	for at, child := range subschemas(object) {
		if err := walk(child, pointer+at, visit); err != nil {
			return err
		}
	}
	return nil
}

// document is a schema document and the anchors that its references may name.
type document struct {
	root    map[string]any
	anchors map[string]string
	refs    map[string]any // each reference in the document and the schema it means
	weight  int            // how many schemas judge one and the same value, at most
}

// target finds what a reference within the document means: the pointer of the
// schema and the schema itself.
func (d document) target(ref string) (string, any, bool) {
	fragment, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return "", nil, false
	}
	fragment, err := url.PathUnescape(fragment)
	if err != nil {
		return "", nil, false
	}
	if pointer, ok := d.anchors[fragment]; ok {
		fragment = pointer
	}
	path, ok := tokens(fragment)
	if !ok {
		return "", nil, false
	}
	node, ok := lookup(d.root, path)
	return fragment, node, ok
}

// resolve follows $ref from a node that has nothing else to say, at most as
// often as the document could have distinct references.
func (d document) resolve(pointer string, node any) (string, any) {
	for range maxRefs {
		object, _ := node.(map[string]any)
		ref, ok := object["$ref"].(string)
		if !ok {
			break
		}
		at, next, ok := d.target(ref)
		if !ok {
			break
		}
		pointer, node = at, next
	}
	return pointer, node
}

// maxRefs bounds a chain of references that lead only to references.
const maxRefs = 64

// clone copies a JSON tree.
func clone(tree any) any {
	switch node := tree.(type) {
	case map[string]any:
		copied := make(map[string]any, len(node))
		for name, value := range node {
			copied[name] = clone(value)
		}
		return copied
	case []any:
		copied := make([]any, len(node))
		for i, value := range node {
			copied[i] = clone(value)
		}
		return copied
	default:
		return tree
	}
}
