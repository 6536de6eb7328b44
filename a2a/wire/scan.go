package wire

import "bytes"

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
