package strictjson

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parser reads one document from left to right and never turns back.
type parser struct {
	// source is the document, of which names and texts are parts.
	source string
	at     int
	// build: the values are kept. Else only what a look at the document tells is:
	// whether it is canonical as it stands, and the values inside the root as they stand there.
	build  bool
	varied bool
	brief  bool // the reader goes no further once varied is set
	kept   []node
	inside stack[Member]

	limits Limits
	nodes  int
	// names are those of the objects being read, one after another.
	names stack[string]
	// path leads to the place of a fault, from the innermost step out.
	path []step
	// work counts what the parser does beyond a constant: bytes visited and name bytes compared. Tests hold it to a
	// multiple of the input's length.
	work int
}

func newParser[T string | []byte](data T, l Limits) *parser {
	return &parser{source: string(data), limits: l.withDefaults()}
}

// look checks a document and tells whether it is canonical as it stands. What is
// not is checked no further than where that shows.
func (p *parser) look() (canonical bool, err error) {
	p.brief = true
	if _, err := p.document(); err != nil && err != enough {
		return false, err
	}
	return !p.varied, nil
}

// enough ends a brief look; it is no fault.
var enough = &Error{}

// document returns *Error rather than error so that no other kind can slip in.
func (p *parser) document() (Value, *Error) {
	err := p.root()
	if err != nil && err != enough {
		err.Pointer = pointer(p.path)
	}
	return Value{nodes: p.kept}, err
}

func (p *parser) root() *Error {
	if len(p.source) > p.limits.Bytes {
		return p.fail(RuleBytes, fmt.Sprintf("at most %d bytes", p.limits.Bytes), strconv.Itoa(len(p.source)))
	}
	p.space()
	if !p.limits.AnyRoot && p.peek() != '{' {
		return p.unexpected(RuleRoot, "an object")
	}
	if err := p.value("", 1); err != nil {
		return err
	}
	p.space()
	if p.at < len(p.source) {
		return p.unexpected(RuleTrailing, "the end of the document")
	}
	return nil
}

// value reads a value, which has a name if it is a member.
func (p *parser) value(name string, depth int) (err *Error) {
	if p.brief && p.varied {
		return enough
	}
	if p.nodes++; p.nodes > p.limits.Nodes {
		return p.more(RuleNodes, "values", p.limits.Nodes)
	}
	n := node{name: name}
	switch c := p.peek(); {
	case c == '{' || c == '[':
		if depth > p.limits.Depth {
			return p.more(RuleDepth, "levels", p.limits.Depth)
		}
		p.advance(1)
		if c == '{' {
			return p.object(name, depth)
		}
		return p.array(name, depth)
	case c == '"':
		n.kind = KindString
		n.text, err = p.str(p.build)
	case c == '-' || isDigit(c):
		n.kind = KindNumber
		n.text, err = p.number()
	case p.literal("true"):
		n.kind, n.text = KindBoolean, "true"
	case p.literal("false"):
		n.kind, n.text = KindBoolean, "false"
	case p.literal("null"):
		n.kind, n.text = KindNull, "null"
	default:
		return p.unexpected(RuleSyntax, "a value")
	}
	p.keep(n)
	return err
}

// keep keeps a value and returns where, if values are kept.
func (p *parser) keep(n node) int {
	if !p.build {
		return 0
	}
	at := len(p.kept)
	n.next = at + 1
	p.kept = append(p.kept, n)
	return at
}

// end says that all inside of an array or object is read.
func (p *parser) end(at int) {
	if p.build {
		p.kept[at].next = len(p.kept)
	}
}

// within says that a value of the root, or of something inside it, is read, and
// where in the path its faults are.
func (p *parser) within(s step, from, depth int, err *Error) *Error {
	if err == enough {
		return err
	}
	if err != nil {
		p.path = append(p.path, s)
		return err
	}
	if depth == 1 && !p.build {
		p.inside.push(Member{s.name, p.source[from:p.at]})
	}
	return nil
}

func (p *parser) object(name string, depth int) *Error {
	at := p.keep(node{kind: KindObject, name: name})
	if p.space(); p.take('}') {
		return nil
	}
	names := members{first: p.names.size, apart: true}
	for count := 0; ; count++ {
		p.space()
		name, err := p.name(&names)
		if err != nil {
			return err
		}
		if count == p.limits.Members {
			return p.more(RuleMembers, "members", p.limits.Members)
		}
		if p.space(); !p.take(':') {
			return p.within(step{name: name, index: -1}, 0, depth, p.unexpected(RuleSyntax, "a colon"))
		}
		p.space()
		from := p.at
		if err := p.within(step{name: name, index: -1}, from, depth, p.value(name, depth+1)); err != nil {
			return err
		}
		if p.space(); p.take(',') {
			continue
		}
		if !p.take('}') {
			return p.unexpected(RuleSyntax, "a comma or a closing brace")
		}
		p.end(at)
		if p.build {
			p.kept[at].mixed = names.mixed
		}
		p.names.cut(names.first)
		return nil
	}
}

func (p *parser) array(name string, depth int) *Error {
	at := p.keep(node{kind: KindArray, name: name})
	if p.space(); p.take(']') {
		return nil
	}
	for index := 0; ; index++ {
		p.space()
		from := p.at
		if err := p.within(step{index: index}, from, depth, p.value("", depth+1)); err != nil {
			return err
		}
		if p.space(); p.take(',') {
			continue
		}
		if !p.take(']') {
			return p.unexpected(RuleSyntax, "a comma or a closing bracket")
		}
		p.end(at)
		return nil
	}
}

// peek returns the byte at hand, or 0 at the end: no token starts with a zero byte.
func (p *parser) peek() byte {
	if p.at < len(p.source) {
		return p.source[p.at]
	}
	return 0
}

func (p *parser) advance(n int) {
	p.at += n
	p.work += n
}

func (p *parser) take(c byte) bool {
	if p.at < len(p.source) && p.source[p.at] == c {
		p.advance(1)
		return true
	}
	return false
}

func (p *parser) literal(word string) bool {
	if !strings.HasPrefix(p.source[p.at:], word) {
		return false
	}
	p.advance(len(word))
	return true
}

func (p *parser) space() {
	if p.peek() <= ' ' {
		p.spaces()
	}
}

func (p *parser) spaces() {
	for p.at < len(p.source) {
		switch p.source[p.at] {
		case ' ', '\t', '\n', '\r':
			p.varied = true
			p.advance(1)
		default:
			return
		}
	}
}

// fail reports a fault at hand; where that is, document says.
func (p *parser) fail(rule, want, got string) *Error {
	return &Error{Rule: rule, Offset: p.at, Want: want, Got: got}
}

// more reports that there are more of something than the limit.
func (p *parser) more(rule, of string, limit int) *Error {
	return p.fail(rule, fmt.Sprintf("at most %d %s", limit, of), "more")
}

// unexpected reports the byte at hand; one that is not UTF-8 breaks that rule first.
func (p *parser) unexpected(rule, want string) *Error {
	if p.at >= len(p.source) {
		return p.fail(RuleSyntax, want, "the end of the document")
	}
	rest := p.source[p.at:]
	r, size := utf8.DecodeRuneInString(rest)
	if r == utf8.RuneError && size == 1 {
		return p.fail(RuleUTF8, "UTF-8", fmt.Sprintf("byte 0x%02x", rest[0]))
	}
	return p.fail(rule, want, quote(rest[:size]))
}

// quote shows at most 32 bytes of the document.
func quote(s string) string {
	if len(s) > 32 {
		return strconv.QuoteToASCII(s[:32]) + "…"
	}
	return strconv.QuoteToASCII(s)
}
