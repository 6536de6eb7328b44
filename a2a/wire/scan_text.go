package wire

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

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

// names is a set of the names of one object: a few side by side, which is most
// objects, then a map, so that many do not cost the square of their number.
type names struct {
	few  [8][]byte
	n    int
	many map[string]struct{}
}

// add takes a name as it stands, in its quotes, and reports whether it is new.
func (s *names) add(quoted []byte) bool {
	name := textOf(quoted)
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
