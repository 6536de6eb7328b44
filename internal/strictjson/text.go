package strictjson

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string, with the parser at its opening quote, and returns its text unescaped.
func (p *parser) str() (string, *Error) {
	p.advance(1)
	start := p.at
	var text []byte // what came before the run at hand
	run := p.at
	for p.at < len(p.data) {
		if len(text)+p.at-run > p.limits.StringBytes {
			return "", p.tooLong()
		}
		switch c := p.data[p.at]; {
		case c == '"' && run == start:
			p.advance(1)
			return p.source[start : p.at-1], nil
		case c == '"':
			text = append(text, p.data[run:p.at]...)
			p.advance(1)
			p.varied = p.varied || !p.written(string(text), start)
			return string(text), nil
		case c == '\\':
			text = append(text, p.data[run:p.at]...)
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			text = utf8.AppendRune(text, r)
			run = p.at
		case c < 0x20:
			return "", p.fail(RuleControl, "control characters left out", fmt.Sprintf("U+%04X", c))
		case c < 0x7f:
			p.advance(1)
		default:
			r, size := utf8.DecodeRune(p.data[p.at:])
			if r == utf8.RuneError && size == 1 {
				return "", p.unexpected(RuleUTF8, "UTF-8")
			}
			if unicode.IsControl(r) {
				return "", p.fail(RuleControl, "control characters left out", fmt.Sprintf("U+%04X", r))
			}
			p.advance(size)
		}
	}
	return "", p.unexpected(RuleSyntax, "a closing quote")
}

// written reports whether a text with escapes stands there in its canonical form.
func (p *parser) written(text string, start int) bool {
	p.work += len(text)
	return string(AppendString(nil, text)) == p.source[start-1:p.at]
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
	case '"', '\\', '/':
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
	r, ok := p.hex()
	if !ok {
		return 0, p.fail(RuleSyntax, `four hexadecimal digits after \u`, "")
	}
	if utf16.IsSurrogate(r) {
		low, ok := p.hex()
		if r = utf16.DecodeRune(r, low); !ok || r == unicode.ReplacementChar {
			p.at = start
			return 0, p.fail(RuleSurrogate, "surrogates in pairs", quote(p.data[start:start+6]))
		}
	}
	return p.allowed(r, start)
}

// hex reads `\uXXXX`.
func (p *parser) hex() (rune, bool) {
	if len(p.data)-p.at < 6 || p.data[p.at] != '\\' || p.data[p.at+1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(p.data[p.at+2:p.at+6]), 16, 16)
	if err != nil {
		return 0, false
	}
	p.advance(6)
	return rune(unit), true
}

func (p *parser) allowed(r rune, start int) (rune, *Error) {
	if unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' {
		p.at = start
		return 0, p.fail(RuleControl, "control characters left out", fmt.Sprintf("U+%04X", r))
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
