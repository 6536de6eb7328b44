package strictjson

import (
	"cmp"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

type kind uint8

const (
	kindLiteral kind = iota // true, false, null or a number: text is its canonical form
	kindString              // text is unescaped
	kindArray
	kindObject
)

// node is a checked value; its members are in canonical order.
type node struct {
	kind     kind
	text     string
	elements []node
	members  []member
}

type member struct {
	name  string
	value node
}

// append writes each byte of the canonical form once. Its recursion is bounded by the depth limit of the parser.
func (n node) append(out []byte) []byte {
	switch n.kind {
	case kindString:
		return AppendString(out, n.text)
	case kindArray:
		out = append(out, '[')
		for i, e := range n.elements {
			if i > 0 {
				out = append(out, ',')
			}
			out = e.append(out)
		}
		return append(out, ']')
	case kindObject:
		out = append(out, '{')
		for i, m := range n.members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(AppendString(out, m.name), ':')
			out = m.value.append(out)
		}
		return append(out, '}')
	}
	return append(out, n.text...)
}

func (n node) tree() any {
	switch n.kind {
	case kindString:
		return n.text
	case kindArray:
		list := make([]any, len(n.elements))
		for i, e := range n.elements {
			list[i] = e.tree()
		}
		return list
	case kindObject:
		object := make(map[string]any, len(n.members))
		for _, m := range n.members {
			object[m.name] = m.value.tree()
		}
		return object
	}
	switch n.text {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	return json.Number(n.text)
}

// Join returns the canonical object of members whose values are canonical already. Their order does not matter; their
// names must differ.
func Join(members []Member) []byte {
	size := 2
	for _, m := range members {
		size += len(m.Name) + len(m.Value) + 4
	}
	order := func(a, b Member) int { return compareUTF16(a.Name, b.Name) }
	if !slices.IsSortedFunc(members, order) {
		members = slices.SortedFunc(slices.Values(members), order)
	}
	out := append(make([]byte, 0, size), '{')
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(AppendString(out, m.Name), ':')
		out = append(out, m.Value...)
	}
	return append(out, '}')
}

// AppendString writes a text that passed the checks, with the escapes that RFC 8785 section 3.2.2.2 asks for, of which
// the checks leave these five.
func AppendString(out []byte, s string) []byte {
	out = append(out, '"')
	run := 0
	for i := range len(s) {
		escaped := byte(0)
		switch c := s[i]; c {
		case '"', '\\':
			escaped = c
		case '\t':
			escaped = 't'
		case '\n':
			escaped = 'n'
		case '\r':
			escaped = 'r'
		default:
			continue
		}
		out = append(append(out, s[run:i]...), '\\', escaped)
		run = i + 1
	}
	return append(append(out, s[run:]...), '"')
}

// compareUTF16 orders names by their UTF-16 code units (RFC 8785 section 3.2.3). That differs from the order of bytes
// only where a surrogate pair meets a character from U+E000 to U+FFFF.
func compareUTF16(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == len(a) || i == len(b) {
		return cmp.Compare(len(a), len(b))
	}
	for i > 0 && (!utf8.RuneStart(a[i]) || !utf8.RuneStart(b[i])) {
		i-- // to the start of the character in which they differ
	}
	x, _ := utf8.DecodeRuneInString(a[i:])
	y, _ := utf8.DecodeRuneInString(b[i:])
	return cmp.Or(cmp.Compare(firstUnit(x), firstUnit(y)), cmp.Compare(x, y))
}

func firstUnit(r rune) rune {
	if r < 0x10000 {
		return r
	}
	return 0xD800 + (r-0x10000)>>10
}
