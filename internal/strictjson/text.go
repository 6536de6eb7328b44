package strictjson

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string, with the parser at its opening quote, and returns its text unescaped if that is wanted.
func (p *parser) str(wanted bool) (string, *Error) {
	p.advance(1)
	start := p.at
	var text []byte // what came before the run at hand, if it is wanted
	length := 0     // of it
	run := p.at
	for p.at < len(p.source) {
		if length+p.at-run > p.limits.StringBytes {
			return "", p.tooLong()
		}
		switch c := p.source[p.at]; {
		case c == '"' && run == start:
			p.advance(1)
			return p.source[start : p.at-1], nil
		case c == '"':
			if wanted {
				text = append(text, p.source[run:p.at]...)
			}
			p.advance(1)
			return string(text), nil
		case c == '\\':
			length += p.at - run
			before := p.source[run:p.at]
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			length += utf8.RuneLen(r)
			if wanted {
				text = utf8.AppendRune(append(text, before...), r)
			}
			run = p.at
		case c < 0x20:
			return "", p.control(rune(c))
		case c < 0x7f:
			p.plain(p.limits.StringBytes - length - (p.at - run))
		default:
			r, size := utf8.DecodeRuneInString(p.source[p.at:])
			if r == utf8.RuneError && size == 1 {
				return "", p.unexpected(RuleUTF8, "UTF-8")
			}
			if unicode.IsControl(r) {
				return "", p.control(r)
			}
			p.advance(size)
		}
	}
	return "", p.unexpected(RuleSyntax, "a closing quote")
}

// plain goes on over characters of ASCII that stand for themselves, at most one more than there is room for.
func (p *parser) plain(room int) {
	rest := p.source[p.at:]
	if room < len(rest) {
		rest = rest[:room+1]
	}
	n := 0
	for n < len(rest) && stands(rest[n]) {
		n++
	}
	p.advance(n)
}

// stands reports whether a character of ASCII stands for itself in a string.
func stands(c byte) bool { return ' ' <= c && c < 0x7f && c != '"' && c != '\\' }

func (p *parser) control(r rune) *Error {
	return p.fail(RuleControl, "control characters left out", fmt.Sprintf("U+%04X", r))
}

func (p *parser) tooLong() *Error {
	return p.fail(RuleString, fmt.Sprintf("strings of at most %d bytes", p.limits.StringBytes), "more")
}

// escape reads one escape sequence, or the two of a surrogate pair. Of the control characters only tab, line feed and
// carriage return may be meant.
func (p *parser) escape() (rune, *Error) {
	start := p.at
	p.advance(1)
	c := p.peek()
	r := rune(c)
	switch c {
	case '"', '\\':
	case '/':
		p.varied = true
	case 't':
		r = '\t'
	case 'n':
		r = '\n'
	case 'r':
		r = '\r'
	case 'b':
		r = '\b'
	case 'f':
		r = '\f'
	case 'u':
		p.at = start
		return p.unicodeEscape()
	default:
		return 0, p.unexpected(RuleSyntax, "an escape")
	}
	p.advance(1)
	return p.allowed(r, start)
}

func (p *parser) unicodeEscape() (rune, *Error) {
	start := p.at
	p.varied = true
	r, ok := p.hex()
	if !ok {
		return 0, p.fail(RuleSyntax, `four hexadecimal digits after \u`, "")
	}
	if utf16.IsSurrogate(r) {
		low, ok := p.hex()
		if r = utf16.DecodeRune(r, low); !ok || r == unicode.ReplacementChar {
			p.at = start
			return 0, p.fail(RuleSurrogate, "surrogates in pairs", quote(p.source[start:start+6]))
		}
	}
	return p.allowed(r, start)
}

// hex reads `\uXXXX`.
func (p *parser) hex() (rune, bool) {
	if len(p.source)-p.at < 6 || p.source[p.at] != '\\' || p.source[p.at+1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(p.source[p.at+2:p.at+6], 16, 16)
	if err != nil {
		return 0, false
	}
	p.advance(6)
	return rune(unit), true
}

func (p *parser) allowed(r rune, start int) (rune, *Error) {
	if unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' {
		p.at = start
		return 0, p.control(r)
	}
	return r, nil
}

// fold maps every name that differs in case only to one text, including the long s and the Kelvin sign, which several
// decoders take for s and k.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			if 'a' <= r && r <= 'z' {
				return r - 'a' + 'A' // the least of its orbit
			}
			return r
		}
		least := r
		for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
			least = min(least, o)
		}
		return least
	}, name)
}
