package schema

import (
	"fmt"
	"strings"
)

// maxCost bounds how many schemas may judge one and the same value.
const maxCost = 2000

// weigher counts, for one place of a document, the schemas that apply to the
// same value as it does. References multiply: thirty lines can make a billion
// checks, and a cycle never ends.
type weigher struct {
	doc  document
	cost map[string]int // -1 while it is being counted
}

// weigh returns how many schemas judge one and the same value at most. It refuses
// a document in which that is too often.
func (d document) weigh() (most int, err error) {
	w := weigher{doc: d, cost: map[string]int{}}
	err = walk(d.root, "", func(pointer string, node map[string]any) error {
		cost, err := w.count(pointer, node)
		most = max(most, cost)
		return err
	})
	return most, err
}

func (w weigher) count(pointer string, node any) (int, error) {
	object, ok := node.(map[string]any)
	if !ok {
		return 1, nil
	}
	switch known := w.cost[pointer]; {
	case known < 0:
		return 0, refused(pointer, "it refers to itself without going deeper into the value")
	case known > 0:
		return known, nil
	}
	w.cost[pointer] = -1
	total := 1
	add := func(pointer string, node any) error {
		cost, err := w.count(pointer, node)
		total += cost
		if err == nil && total > maxCost {
			err = refused(pointer, fmt.Sprintf("more than %d schemas would judge one value", maxCost))
		}
		return err
	}
	for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		ref, _ := object[keyword].(string)
		if at, next, found := w.doc.target(ref); found {
			if err := add(at, next); err != nil {
				return 0, err
			}
		}
	}
	for at, child := range subschemas(object) {
		if !inPlace(at) {
			continue
		}
		if err := add(pointer+at, child); err != nil {
			return 0, err
		}
	}
	w.cost[pointer] = total
	return total, nil
}

// inPlace tells whether a sub-schema judges the same value as its parent.
func inPlace(at string) bool {
	keyword, _, _ := strings.Cut(at[1:], "/")
	switch keyword {
	case "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies":
		return true
	}
	return false
}
