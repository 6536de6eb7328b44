package strictjson

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parser reads one document from left to right and never turns back.
type parser struct {
	data []byte
	// source is data as a string, of which names and texts are parts.
	source string
	at     int
	// build: the values are kept as a tree. Else only what a look at the
	// document tells is: whether it is canonical as it stands, and where in it the
	// values of the root are.
	build  bool
	varied bool
	parts  []part

	limits Limits
	path   []step
	nodes  int
	// names are those of the objects being read, one after another.
	names []string
	// work counts what the parser does beyond a constant: bytes visited and name bytes compared. Tests hold it to a
	// multiple of the input's length.
	work int
}

// part is a value of the root, with its name in an object.
type part struct {
	name     string
	from, to int
}

func newParser(data []byte, l Limits) parser {
	// Room for as many members as an ordinary document of this length has.
	n := min(len(data)/24+2, 32)
	return parser{data: data, source: string(data), limits: l.withDefaults(),
		parts: make([]part, 0, n), names: make([]string, 0, n), path: make([]step, 0, 4)}
}

// parse checks a document and keeps it as a tree.
func parse(data []byte, l Limits) (node, error) {
	p := newParser(data, l)
	p.build = true
	root, err := p.document()
	if err != nil {
		return node{}, err
	}
	return root, nil
}

// look checks a document and tells whether it is canonical as it stands; parts, if
// not nil, gets the values of the root then.
func look(data []byte, l Limits, parts func([]part)) (canonical bool, err error) {
	p := newParser(data, l)
	if _, err := p.document(); err != nil {
		return false, err
	}
	if !p.varied && parts != nil {
		parts(p.parts)
	}
	return !p.varied, nil
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
	first := len(p.names)
	defer func() { p.names = p.names[:first] }()
	var many map[string]string
	for count := 0; ; count++ {
		p.space()
		name, err := p.name(first, &many)
		if err != nil {
			return node{}, err
		}
		if count == p.limits.Members {
			return node{}, p.fail(RuleMembers, fmt.Sprintf("at most %d members", p.limits.Members), "more")
		}
		p.path = append(p.path, step{name: name, index: -1})
		if p.space(); !p.take(':') {
			return node{}, p.unexpected(RuleSyntax, "a colon")
		}
		p.space()
		from := p.at
		v, err := p.value(depth + 1)
		if err != nil {
			return node{}, err
		}
		p.path = p.path[:len(p.path)-1]
		p.keep(&n, depth, name, from, v)
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

// few is up to how many names are compared one by one.
const few = 32

// name reads a member's name and compares it with those of its object, which begin
// at first; many has them by their folded form once there are more than a few.
func (p *parser) name(first int, many *map[string]string) (string, *Error) {
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
	switch other, clash := p.clash(name, p.names[first:], many); {
	case clash && other == name:
		return "", refuse(RuleDuplicateKey, "each name once")
	case clash:
		return "", refuse(RuleCaseVariant, "names that differ in more than case")
	}
	if n := len(p.names); n > first && !p.varied {
		p.varied = compareUTF16(p.names[n-1], name) > 0
	}
	p.names = append(p.names, name)
	return name, nil
}

// clash finds a name of the same object that differs in case at most.
func (p *parser) clash(name string, before []string, many *map[string]string) (other string, found bool) {
	if len(before) < few {
		for _, other := range before {
			p.work += min(len(name), len(other)) + 1
			if strings.EqualFold(name, other) {
				return other, true
			}
		}
		return "", false
	}
	if *many == nil {
		*many = make(map[string]string, 2*few)
		for _, other := range before {
			(*many)[fold(other)] = other
		}
	}
	folded := fold(name)
	other, found = (*many)[folded]
	(*many)[folded] = name
	return other, found
}

// keep keeps a value of the object or array at hand: in the tree, or where it
// stands if it is one of the root's.
func (p *parser) keep(n *node, depth int, name string, from int, value node) {
	switch {
	case !p.build:
		if depth == 1 {
			p.parts = append(p.parts, part{name, from, p.at})
		}
	case n.kind == kindObject:
		n.members = append(n.members, member{name, value})
	default:
		n.elements = append(n.elements, value)
	}
}

func (p *parser) array(depth int) (node, *Error) {
	n := node{kind: kindArray}
	if p.space(); p.take(']') {
		return n, nil
	}
	for index := 0; ; index++ {
		p.path = append(p.path, step{index: index})
		p.space()
		from := p.at
		v, err := p.value(depth + 1)
		if err != nil {
			return node{}, err
		}
		p.path = p.path[:len(p.path)-1]
		p.keep(&n, depth, "", from, v)
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
			p.varied = true
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
