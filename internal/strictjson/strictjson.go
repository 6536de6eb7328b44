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
)

// Member is one member of an object. Value is in canonical form.
type Member struct{ Name, Value string }

// Scan checks one document and returns the first thing wrong with it, or nil.
func Scan(data []byte, l Limits) error {
	p := newParser(data, l)
	if _, err := p.document(); err != nil {
		return err
	}
	return nil
}

// Canonical checks one document and returns it in the form of RFC 8785: no white space, members sorted by the UTF-16
// code units of their names, numbers and strings written as ECMAScript writes them.
func Canonical(data []byte, l Limits) ([]byte, error) {
	p := newParser(data, l)
	canonical, err := p.look()
	if err != nil {
		return nil, err
	}
	if canonical {
		return bytes.Clone(data), nil
	}
	root, _, err := Parse(p.source, l)
	if err != nil {
		return nil, err
	}
	return root.Canonical(), nil
}

// CanonicalText is Canonical of a text, which is returned itself if it is canonical.
func CanonicalText(text string, l Limits) (string, error) {
	p := newParser(text, l)
	canonical, err := p.look()
	if err != nil {
		return "", err
	}
	if canonical {
		return text, nil
	}
	root, _, err := Parse(text, l)
	if err != nil {
		return "", err
	}
	return string(root.Canonical()), nil
}

// Parse checks one document and returns its root, and whether it is canonical as it stands.
func Parse(text string, l Limits) (root Value, canonical bool, err error) {
	p := newParser(text, l)
	p.build = true
	p.kept = make([]node, 0, min(len(text)/16+2, 64))
	root, fault := p.document()
	if fault != nil {
		return Value{}, false, fault
	}
	return root, !p.varied, nil
}

// Object checks one document whose root is an object, whatever l.AnyRoot says, and returns the root's members in
// canonical order.
func Object(data []byte, l Limits) ([]Member, error) {
	_, members, err := Split(string(data), l)
	return members, err
}

// Split is Object of a text that also returns the canonical form of the whole: the text itself if that is canonical. The
// members' values are parts of it.
func Split(text string, l Limits) (canonical string, members []Member, err error) {
	l.AnyRoot = false
	canonical, err = split(text, l, func(m Member, more int) {
		if members == nil {
			members = make([]Member, 0, 1+more)
		}
		members = append(members, m)
	})
	return canonical, members, err
}

// Each is Split that lends the members one after another, once the whole is checked.
func Each(text string, l Limits, take func(Member)) (canonical string, err error) {
	l.AnyRoot = false
	return split(text, l, func(m Member, _ int) { take(m) })
}

// Elements checks one document whose root is an array, and returns the canonical form of its elements.
func Elements(text string, l Limits) ([]string, error) {
	l.AnyRoot = true
	var elements []string
	canonical, err := split(text, l, func(m Member, _ int) { elements = append(elements, m.Value) })
	if err != nil {
		return nil, err
	}
	if canonical[0] != '[' {
		return nil, &Error{Rule: RuleRoot, Want: "an array", Got: quote(canonical[:1])}
	}
	return elements, nil
}

// split returns the canonical form of a document and shows the values inside its
// root, which have no name if that is an array, each with how many more there are.
func split(text string, l Limits, show func(m Member, more int)) (canonical string, err error) {
	p := newParser(text, l)
	same, err := p.look()
	if err != nil {
		return "", err
	}
	if same {
		for i := range p.inside.size {
			show(p.inside.at(i), p.inside.size-1-i)
		}
		return text, nil
	}
	root, _, err := Parse(text, l)
	if err != nil {
		return "", err
	}
	canonical = string(root.Canonical())
	l.Bytes = max(l.Bytes, len(canonical))
	return split(canonical, l, show)
}

// Tree checks one document and returns it as [Value.Tree] does.
func Tree(data []byte, l Limits) (any, error) {
	root, _, err := Parse(string(data), l)
	if err != nil {
		return nil, err
	}
	return root.Tree(), nil
}

// Marshal encodes a value of our own with encoding/json and returns its canonical bytes. No size is limited, but what
// no reader would accept (a large integer, a forbidden key) is still an error.
func Marshal(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("json value: %w", err)
	}
	return Canonical(data, Unlimited())
}
