package strictjson

import (
	"cmp"
	"encoding/json"
	"iter"
	"slices"
	"unicode/utf8"
)

// Kind is what a value is.
type Kind uint8

// The kinds of values.
const (
	KindNull Kind = iota
	KindBoolean
	KindNumber
	KindString
	KindArray
	KindObject
)

// node is one checked value of a document. What is inside an array or object follows it, in the order of the document.
type node struct {
	kind Kind
	// mixed: the members are not in canonical order.
	mixed bool
	name  string // of a member
	text  string // unescaped, of a string; else the canonical form, of what has nothing inside
	next  int    // where what follows all inside of it is
}

// Value is a value of a document that was checked. It never changes.
type Value struct {
	nodes []node
	at    int
}

// Kind returns what the value is.
func (v Value) Kind() Kind { return v.nodes[v.at].kind }

// Text returns the text of a string, unescaped, and the canonical form of a number, a boolean or null.
func (v Value) Text() string { return v.nodes[v.at].text }

// Size returns how many values there are, this one and all inside it.
func (v Value) Size() int { return v.nodes[v.at].next - v.at }

// Inside yields the elements of an array, each with no name, or the members of an object, in the order of the document.
func (v Value) Inside() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		end := v.nodes[v.at].next
		for at := v.at + 1; at < end; at = v.nodes[at].next {
			if !yield(v.nodes[at].name, Value{v.nodes, at}) {
				return
			}
		}
	}
}

// len returns how many elements or members there are.
func (v Value) len() int {
	n := 0
	for range v.Inside() {
		n++
	}
	return n
}

// sorted returns the members of an object in canonical order.
func (v Value) sorted() []Value {
	list := make([]Value, 0, v.len())
	for _, member := range v.Inside() {
		list = append(list, member)
	}
	slices.SortFunc(list, func(a, b Value) int { return compareUTF16(a.name(), b.name()) })
	return list
}

func (v Value) name() string { return v.nodes[v.at].name }

// Canonical returns the value in the form of RFC 8785.
func (v Value) Canonical() []byte {
	size := 2
	for _, n := range v.nodes[v.at:v.nodes[v.at].next] {
		size += len(n.name) + len(n.text) + 6
	}
	return v.append(make([]byte, 0, size))
}

// append writes each byte of the canonical form once. Its recursion is bounded by the depth limit of the parser.
func (v Value) append(out []byte) []byte {
	switch n := v.nodes[v.at]; n.kind {
	case KindString:
		return AppendString(out, n.text)
	case KindArray:
		out = append(out, '[')
		for _, element := range v.Inside() {
			out = append(element.append(out), ',')
		}
		return closed(out, ']')
	case KindObject:
		out = append(out, '{')
		if n.mixed {
			for _, member := range v.sorted() {
				out = member.appendMember(out)
			}
			return closed(out, '}')
		}
		for _, member := range v.Inside() {
			out = member.appendMember(out)
		}
		return closed(out, '}')
	default:
		return append(out, n.text...)
	}
}

func (v Value) appendMember(out []byte) []byte {
	out = append(AppendString(out, v.name()), ':')
	return append(v.append(out), ',')
}

// closed ends a list after whose last part there is a comma.
func closed(out []byte, bracket byte) []byte {
	if last := len(out) - 1; out[last] == ',' {
		out[last] = bracket
		return out
	}
	return append(out, bracket)
}

// Tree returns the value as map[string]any, []any, string, json.Number, bool and nil. A number keeps its canonical
// text, so that a tree says the same as the canonical bytes.
func (v Value) Tree() any {
	switch n := v.nodes[v.at]; n.kind {
	case KindNull:
		return nil
	case KindBoolean:
		return n.text == "true"
	case KindNumber:
		return json.Number(n.text)
	case KindString:
		return n.text
	case KindArray:
		list := make([]any, 0, v.len())
		for _, element := range v.Inside() {
			list = append(list, element.Tree())
		}
		return list
	default:
		object := make(map[string]any, v.len())
		for name, member := range v.Inside() {
			object[name] = member.Tree()
		}
		return object
	}
}

// AppendString writes a text with the escapes that RFC 8785 section 3.2.2.2 asks for. What is no UTF-8 stays as it is.
func AppendString(out []byte, s string) []byte {
	out = append(out, '"')
	run := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		out = append(append(out, s[run:i]...), '\\')
		run = i + 1
		switch c {
		case '\b':
			out = append(out, 'b')
		case '\t':
			out = append(out, 't')
		case '\n':
			out = append(out, 'n')
		case '\f':
			out = append(out, 'f')
		case '\r':
			out = append(out, 'r')
		case '"', '\\':
			out = append(out, c)
		default:
			const hex = "0123456789abcdef"
			out = append(out, 'u', '0', '0', hex[c>>4], hex[c&15])
		}
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
	if a[i] < utf8.RuneSelf && b[i] < utf8.RuneSelf {
		return cmp.Compare(a[i], b[i])
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
