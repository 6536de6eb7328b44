package wire

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep arrays and objects may stand inside one another, the
// root counting as one: what a Parley document may have, and room for the task
// around it.
const maxDepth = 64

// check reads a JSON text once, from left to right, and returns a ParseError
// for the first thing in it that no reader should accept: what RFC 8259
// forbids, bytes that are not UTF-8, a surrogate without its pair, more depth
// than maxDepth, and an object with the same name twice. The last is legal
// JSON, but readers differ in which of the two they take, so a signature or a
// policy could judge one and an agent obey the other.
//
// Everything else in this package walks texts that have passed it.
func check(data []byte) *Error {
	s := scanner{data: data}
	if err := s.value(1); err != nil {
		return err
	}
	if s.space(); s.at < len(data) {
		return s.fail("the end of the JSON text")
	}
	return nil
}

type scanner struct {
	data []byte
	at   int
}

func (s *scanner) fail(want string) *Error {
	got := "something else"
	if s.at >= len(s.data) {
		got = "the end"
	}
	return Errorf(ParseError, "invalid JSON at byte %d: expected %s, got %s", s.at, want, got)
}

// peek returns the byte at hand, or 0, which no token starts with, at the end.
func (s *scanner) peek() byte {
	if s.at < len(s.data) {
		return s.data[s.at]
	}
	return 0
}

func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.at++
	return true
}

func (s *scanner) space() {
	for s.at < len(s.data) && isSpace(s.data[s.at]) {
		s.at++
	}
}

func (s *scanner) value(depth int) *Error {
	s.space()
	switch c := s.peek(); {
	case c == '{' || c == '[':
		if depth > maxDepth {
			return Errorf(ParseError, "invalid JSON at byte %d: expected at most %d levels, got more", s.at, maxDepth)
		}
		s.at++
		if c == '{' {
			return s.object(depth)
		}
		return s.array(depth)
	case c == '"':
		return s.str()
	case c == '-' || isDigit(c):
		return s.number()
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if bytes.HasPrefix(s.data[s.at:], []byte(word)) {
			s.at += len(word)
			return nil
		}
	}
	return s.fail("a value")
}

func (s *scanner) array(depth int) *Error {
	if s.space(); s.take(']') {
		return nil
	}
	for {
		if err := s.value(depth + 1); err != nil {
			return err
		}
		if s.space(); s.take(']') {
			return nil
		}
		if !s.take(',') {
			return s.fail("a comma or a closing bracket")
		}
	}
}

func (s *scanner) object(depth int) *Error {
	if s.space(); s.take('}') {
		return nil
	}
	var seen names
	for {
		s.space()
		start := s.at
		if s.peek() != '"' {
			return s.fail("a name")
		}
		if err := s.str(); err != nil {
			return err
		}
		if !seen.add(s.data[start:s.at]) {
			return Errorf(ParseError, "invalid JSON at byte %d: expected each name once in an object, got one twice", start)
		}
		if s.space(); !s.take(':') {
			return s.fail("a colon")
		}
		if err := s.value(depth + 1); err != nil {
			return err
		}
		if s.space(); s.take('}') {
			return nil
		}
		if !s.take(',') {
			return s.fail("a comma or a closing brace")
		}
	}
}

// str reads a string, from its opening to its closing quote.
func (s *scanner) str() *Error {
	s.at++
	for s.at < len(s.data) {
		switch c := s.data[s.at]; {
		case c == '"':
			s.at++
			return nil
		case c == '\\':
			if !s.escape() {
				return s.fail("an escape that names a character")
			}
		case c < 0x20:
			return s.fail("control characters escaped")
		case c < utf8.RuneSelf:
			s.at++
		default:
			r, size := utf8.DecodeRune(s.data[s.at:])
			if r == utf8.RuneError && size == 1 {
				return s.fail("UTF-8")
			}
			s.at += size
		}
	}
	return s.fail("a closing quote")
}

// escape reads one escape sequence, or the two of a surrogate pair.
func (s *scanner) escape() bool {
	_, size := unescape(s.data[s.at:])
	s.at += size
	return size > 0
}

// unescape returns the character of the escape sequence that b starts with,
// and its length: 0 if it names none.
func unescape(b []byte) (r rune, size int) {
	if len(b) < 2 {
		return 0, 0
	}
	if i := bytes.IndexByte([]byte(`"\/bfnrt`), b[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2
	}
	r = hex4(b)
	if r < 0 {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if r = utf16.DecodeRune(r, hex4(b[6:])); r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

// hex4 returns the code unit of the `\uXXXX` that b starts with, or -1.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case isDigit(c):
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

func (s *scanner) number() *Error {
	s.take('-')
	if !s.take('0') && !s.digits() {
		return s.fail("a digit")
	}
	if s.take('.') && !s.digits() {
		return s.fail("a digit")
	}
	if s.take('e') || s.take('E') {
		_ = s.take('+') || s.take('-')
		if !s.digits() {
			return s.fail("a digit")
		}
	}
	return nil
}

func (s *scanner) digits() bool {
	start := s.at
	for isDigit(s.peek()) {
		s.at++
	}
	return s.at > start
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// names is a set of the names of one object: a few side by side, which is most
// objects, then a map, so that many do not cost the square of their number.
type names struct {
	few  [8][]byte
	n    int
	many map[string]struct{}
}

// add takes a name as it stands, in its quotes, and reports whether it is new.
func (s *names) add(quoted []byte) bool {
	name := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = []byte(unquote(quoted))
	}
	for _, other := range s.few[:s.n] {
		if bytes.Equal(other, name) {
			return false
		}
	}
	if s.n < len(s.few) {
		s.few[s.n] = name
		s.n++
		return true
	}
	if s.many == nil {
		s.many = map[string]struct{}{}
	}
	before := len(s.many)
	s.many[string(name)] = struct{}{}
	return len(s.many) > before
}
