// Package strictjson reads JSON that came from outside and writes the one byte form that digests are taken over.
//
// It accepts less than RFC 8259 allows: only what every reader, in every language, understands the same way
// (I-JSON, RFC 7493, and a little less). It reads its input once, or once more if that has to be written anew, in time linear in its length up to the sorting of
// member names, and its nesting is bounded. All functions are pure and safe for concurrent use; all errors are *Error,
// except that [Marshal] also returns those of encoding/json.
package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
)

// Member is one member of an object. Value holds canonical bytes.
type Member struct {
	Name  string
	Value []byte
}

// Scan checks one document and returns the first thing wrong with it, or nil.
func Scan(data []byte, l Limits) error {
	_, err := look(data, l, nil)
	return err
}

// Canonical checks one document and returns it in the form of RFC 8785: no white space, members sorted by the UTF-16
// code units of their names, numbers and strings written as ECMAScript writes them.
func Canonical(data []byte, l Limits) ([]byte, error) {
	canonical, err := look(data, l, nil)
	if err != nil {
		return nil, err
	}
	if canonical {
		return bytes.Clone(data), nil
	}
	root, err := parse(data, l)
	if err != nil {
		return nil, err
	}
	return root.append(make([]byte, 0, len(data))), nil
}

// Object checks one document whose root is an object, whatever l.AnyRoot says, and returns the root's members in
// canonical order.
func Object(data []byte, l Limits) ([]Member, error) {
	l.AnyRoot = false
	var members []Member
	canonical, err := look(data, l, func(parts []part) { members = membersAt(bytes.Clone(data), parts) })
	if err != nil || canonical {
		return members, err
	}
	root, err := parse(data, l)
	if err != nil {
		return nil, err
	}
	members = make([]Member, len(root.members))
	for i, m := range root.members {
		members[i] = Member{Name: m.name, Value: m.value.append(nil)}
	}
	return members, nil
}

func membersAt(data []byte, parts []part) []Member {
	members := make([]Member, len(parts))
	for i, at := range parts {
		members[i] = Member{Name: at.name, Value: data[at.from:at.to:at.to]}
	}
	return members
}

// Elements checks one document whose root is an array, and returns the canonical bytes of its elements.
func Elements(data []byte, l Limits) ([][]byte, error) {
	l.AnyRoot = true
	canonical, err := Canonical(data, l)
	if err != nil {
		return nil, err
	}
	if canonical[0] != '[' {
		return nil, &Error{Rule: RuleRoot, Want: "an array", Got: quote(canonical[:1])}
	}
	var elements [][]byte
	_, err = look(canonical, l, func(parts []part) {
		elements = make([][]byte, len(parts))
		for i, at := range parts {
			elements[i] = canonical[at.from:at.to:at.to]
		}
	})
	return elements, err
}

// Tree checks one document and returns it as map[string]any, []any, string, json.Number, bool and nil. A number keeps
// its canonical text, so that a tree says the same as the canonical bytes.
func Tree(data []byte, l Limits) (any, error) {
	root, err := parse(data, l)
	if err != nil {
		return nil, err
	}
	return root.tree(), nil
}

// Marshal encodes a value of our own with encoding/json and returns its canonical bytes. No size is limited, but what
// no reader would accept (a large integer, a forbidden key) is still an error.
func Marshal(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("json value: %w", err)
	}
	const lifted = math.MaxInt
	return Canonical(data, Limits{Bytes: lifted, Depth: lifted, Members: lifted, StringBytes: lifted, Nodes: lifted, AnyRoot: true})
}
