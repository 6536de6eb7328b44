package strictjson

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// parser reads one document from left to right and never turns back.
type parser struct {
	data   []byte
	at     int
	limits Limits
	path   []step
	nodes  int
	// work counts what the parser does beyond a constant: bytes visited and name bytes compared. Tests hold it to a
	// multiple of the input's length.
	work int
}

func parse(data []byte, l Limits) (node, error) {
	p := &parser{data: data, limits: l.withDefaults()}
	root, err := p.document()
	if err != nil {
		return node{}, err
	}
	return root, nil
}

// document returns *Error rather than error so that no other kind can slip in.
func (p *parser) document() (node, *Error) {
	if len(p.data) > p.limits.Bytes {
		return node{}, p.fail(RuleBytes, fmt.Sprintf("at most %d bytes", p.limits.Bytes), strconv.Itoa(len(p.data)))
	}
	p.space()
	if !p.limits.AnyRoot && p.peek() != '{' {
		return node{}, p.unexpected(RuleRoot, "an object")
	}
	root, err := p.value(1)
	if err != nil {
		return node{}, err
	}
	p.space()
	if p.at < len(p.data) {
		return node{}, p.unexpected(RuleTrailing, "the end of the document")
	}
	return root, nil
}

func (p *parser) value(depth int) (node, *Error) {
	if p.nodes++; p.nodes > p.limits.Nodes {
		return node{}, p.fail(RuleNodes, fmt.Sprintf("at most %d values", p.limits.Nodes), "more")
	}
	switch c := p.peek(); {
	case c == '{' || c == '[':
		if depth > p.limits.Depth {
			return node{}, p.fail(RuleDepth, fmt.Sprintf("at most %d levels", p.limits.Depth), "more")
		}
		p.advance(1)
		if c == '{' {
			return p.object(depth)
		}
		return p.array(depth)
	case c == '"':
		text, err := p.str()
		return node{kind: kindString, text: text}, err
	case c == '-' || isDigit(c):
		text, err := p.number()
		return node{kind: kindLiteral, text: text}, err
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if p.literal(word) {
			return node{kind: kindLiteral, text: word}, nil
		}
	}
	return node{}, p.unexpected(RuleSyntax, "a value")
}

func (p *parser) object(depth int) (node, *Error) {
	n := node{kind: kindObject}
	if p.space(); p.take('}') {
		return n, nil
	}
	seen := make(map[string]string)
	for {
		p.space()
		name, err := p.name(seen)
		if err != nil {
			return node{}, err
		}
		if len(n.members) == p.limits.Members {
			return node{}, p.fail(RuleMembers, fmt.Sprintf("at most %d members", p.limits.Members), "more")
		}
		p.path = append(p.path, step{name: name, index: -1})
		if p.space(); !p.take(':') {
			return node{}, p.unexpected(RuleSyntax, "a colon")
		}
		p.space()
		v, err := p.value(depth + 1)
		if err != nil {
			return node{}, err
		}
		p.path = p.path[:len(p.path)-1]
		n.members = append(n.members, member{name, v})
		if p.space(); p.take(',') {
			continue
		}
		if !p.take('}') {
			return node{}, p.unexpected(RuleSyntax, "a comma or a closing brace")
		}
		p.sort(n.members)
		return n, nil
	}
}

// name reads a member's name and compares it with those of its object, keyed by their folded form.
func (p *parser) name(seen map[string]string) (string, *Error) {
	start := p.at
	if p.peek() != '"' {
		return "", p.unexpected(RuleSyntax, "a member name")
	}
	name, err := p.str()
	if err != nil {
		return "", err
	}
	refuse := func(rule, want string) *Error {
		p.path = append(p.path, step{name: name, index: -1})
		p.at = start
		return p.fail(rule, want, quote([]byte(name)))
	}
	switch name {
	case "__proto__", "constructor", "prototype":
		return "", refuse(RuleForbiddenKey, "a name that is no object's in JavaScript")
	}
	folded := fold(name)
	switch other, clash := seen[folded]; {
	case clash && other == name:
		return "", refuse(RuleDuplicateKey, "each name once")
	case clash:
		return "", refuse(RuleCaseVariant, "names that differ in more than case")
	}
	seen[folded] = name
	return name, nil
}

func (p *parser) array(depth int) (node, *Error) {
	n := node{kind: kindArray}
	if p.space(); p.take(']') {
		return n, nil
	}
	for {
		p.path = append(p.path, step{index: len(n.elements)})
		p.space()
		v, err := p.value(depth + 1)
		if err != nil {
			return node{}, err
		}
		p.path = p.path[:len(p.path)-1]
		n.elements = append(n.elements, v)
		if p.space(); p.take(',') {
			continue
		}
		if !p.take(']') {
			return node{}, p.unexpected(RuleSyntax, "a comma or a closing bracket")
		}
		return n, nil
	}
}

func (p *parser) sort(members []member) {
	slices.SortFunc(members, func(a, b member) int {
		p.work += min(len(a.name), len(b.name)) + 1
		return compareUTF16(a.name, b.name)
	})
}

// peek returns the byte at hand, or 0 at the end: no token starts with a zero byte.
func (p *parser) peek() byte {
	if p.at < len(p.data) {
		return p.data[p.at]
	}
	return 0
}

func (p *parser) advance(n int) {
	p.at += n
	p.work += n
}

func (p *parser) take(c byte) bool {
	if p.at < len(p.data) && p.data[p.at] == c {
		p.advance(1)
		return true
	}
	return false
}

func (p *parser) literal(word string) bool {
	if len(p.data)-p.at < len(word) || string(p.data[p.at:p.at+len(word)]) != word {
		return false
	}
	p.advance(len(word))
	return true
}

func (p *parser) space() {
	for p.at < len(p.data) {
		switch p.data[p.at] {
		case ' ', '\t', '\n', '\r':
			p.advance(1)
		default:
			return
		}
	}
}

func (p *parser) fail(rule, want, got string) *Error {
	return &Error{Rule: rule, Pointer: pointer(p.path), Offset: p.at, Want: want, Got: got}
}

// unexpected reports the byte at hand; one that is not UTF-8 breaks that rule first.
func (p *parser) unexpected(rule, want string) *Error {
	if p.at >= len(p.data) {
		return p.fail(RuleSyntax, want, "the end of the document")
	}
	rest := p.data[p.at:]
	r, size := utf8.DecodeRune(rest)
	if r == utf8.RuneError && size == 1 {
		return p.fail(RuleUTF8, "UTF-8", fmt.Sprintf("byte 0x%02x", rest[0]))
	}
	return p.fail(rule, want, quote(rest[:size]))
}

// quote shows at most 32 bytes of the document.
func quote(b []byte) string {
	if len(b) > 32 {
		return strconv.QuoteToASCII(string(b[:32])) + "…"
	}
	return strconv.QuoteToASCII(string(b))
}
