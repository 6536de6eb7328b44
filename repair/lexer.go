package repair

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// verdict is how reading one value ended.
type verdict int

const (
	complete verdict = iota // a whole value
	cut                     // the text ended first
	broken                  // not a value, even with the spelling mended
)

// expectation is what the next token must be.
type expectation int

const (
	wantValue    expectation = iota // at the root and after a colon
	wantElement                     // in an array, where it may also close
	wantKey                         // in an object, where it may also close
	wantColon                       //
	wantNextItem                    // a comma or a closer
)

// maxDepth is one more than the strict reader allows, so that it is the one to complain.
const maxDepth = 33

// lexer reads one value of relaxed JSON and writes it as strict JSON. It never looks back: its work is linear in what
// it consumes. What it writes is spelled right but not yet checked.
type lexer struct {
	src   []byte
	i     int // next byte
	end   int
	out   []byte
	fixes []Fix
	stack []byte // open brackets
	comma int    // offset of a comma that is not written yet, else -1
	// closable says that the last token was certainly whole: the text may end here if closers are all it lacks.
	closable bool
	steps    int
}

func newLexer(src []byte, start, end int) *lexer {
	return &lexer{src: src, i: start, end: end, comma: -1}
}

// run reads one value. Afterwards i is the end of the value, or where reading stopped.
func (l *lexer) run() verdict {
	expect := wantValue
	for {
		if v := l.gap(); v != complete {
			return v
		}
		if l.i >= l.end {
			l.closable = l.closable && expect == wantNextItem
			return cut
		}
		c := l.src[l.i]
		l.steps++
		var v verdict
		switch {
		case c == '}' || c == ']':
			if !l.close(c, expect) {
				return broken
			}
			expect = wantNextItem
		case expect == wantNextItem:
			if c != ',' {
				return broken
			}
			l.comma = l.i
			l.i++
			l.closable = false
			expect = l.inside()
		case expect == wantColon:
			if c != ':' {
				return broken
			}
			l.put(c)
			expect = wantValue
		case expect == wantKey:
			l.flushComma()
			if v = l.key(); v != complete {
				return v
			}
			expect = wantColon
		case c == '{' || c == '[':
			l.flushComma()
			if len(l.stack) == maxDepth {
				return broken
			}
			l.stack = append(l.stack, c)
			l.put(c)
			l.closable = false
			expect = l.inside()
		default:
			l.flushComma()
			if v = l.scalar(); v != complete {
				return v
			}
			expect = wantNextItem
		}
		if expect == wantNextItem && len(l.stack) == 0 {
			return complete
		}
	}
}

// inside is what comes first in the innermost bracket, or after a comma in it.
func (l *lexer) inside() expectation {
	if l.stack[len(l.stack)-1] == '{' {
		return wantKey
	}
	return wantElement
}

// close ends the innermost bracket with c, dropping one comma before it.
func (l *lexer) close(c byte, expect expectation) bool {
	if len(l.stack) == 0 || expect == wantValue || expect == wantColon || l.stack[len(l.stack)-1] != opener(c) {
		return false
	}
	if l.comma >= 0 {
		l.fix(opTrailingComma, l.comma)
		l.comma = -1
	}
	l.stack = l.stack[:len(l.stack)-1]
	l.put(c)
	l.closable = true
	return true
}

// closers are what is missing at the end.
func (l *lexer) closers() []byte {
	list := make([]byte, 0, len(l.stack))
	for i := len(l.stack) - 1; i >= 0; i-- {
		list = append(list, closer(l.stack[i]))
	}
	return list
}

func opener(c byte) byte {
	if c == '}' {
		return '{'
	}
	return '['
}

func closer(c byte) byte {
	if c == '{' {
		return '}'
	}
	return ']'
}

// gap skips white space and comments.
func (l *lexer) gap() verdict {
	for l.i < l.end {
		l.steps++
		rest := l.src[l.i:l.end]
		switch {
		case isSpace(rest[0]):
			l.i++
		case rest[0] == '#' || bytes.HasPrefix(rest, []byte("//")):
			length := bytes.IndexByte(rest, '\n')
			if length < 0 {
				// The rest of the comment may have been cut off, and more with it.
				return l.stop()
			}
			l.comment(length)
		case bytes.HasPrefix(rest, []byte("/*")):
			length := bytes.Index(rest[2:], []byte("*/"))
			if length < 0 {
				return l.stop()
			}
			l.comment(length + 4)
		default:
			return complete
		}
	}
	return complete
}

func (l *lexer) comment(length int) {
	l.fix(opComment, l.i)
	l.i += length
	l.steps += length
}

// stop is the end of the text within a token.
func (l *lexer) stop() verdict {
	l.steps += l.end - l.i
	l.i = l.end
	l.closable = false
	return cut
}

// key reads a member name.
func (l *lexer) key() verdict {
	if quote, _ := quoted(l.src[l.i:l.end]); quote != "" {
		return l.text()
	}
	word := l.word()
	if len(word) == 0 || word[0] >= '0' && word[0] <= '9' {
		return broken
	}
	if l.i == l.end {
		return l.stop()
	}
	l.fix(opBareKey, l.i-len(word))
	l.out = append(append(append(l.out, '"'), word...), '"')
	return complete
}

// scalar reads a string, a number or a literal.
func (l *lexer) scalar() verdict {
	c := l.src[l.i]
	if quote, _ := quoted(l.src[l.i:l.end]); quote != "" {
		l.closable = true
		return l.text()
	}
	if c == '-' || c >= '0' && c <= '9' {
		// A number never shows that it is whole: a digit may have been cut off.
		l.closable = false
		return l.number()
	}
	word := l.word()
	l.closable = true
	switch string(word) {
	case "true", "false", "null":
		l.out = append(l.out, word...)
		return complete
	case "True", "False", "None":
		l.fix(opLiteral, l.i-len(word))
		l.out = append(l.out, map[byte]string{'T': "true", 'F': "false", 'N': "null"}[word[0]]...)
		return complete
	}
	return broken
}

// word reads letters, digits, _ and $.
func (l *lexer) word() []byte {
	start := l.i
	for l.i < l.end && isWord(l.src[l.i]) {
		l.i++
		l.steps++
	}
	return l.src[start:l.i]
}

// number reads a number of RFC 8259 section 6 and nothing more lenient.
func (l *lexer) number() verdict {
	start := l.i
	digits := func() int {
		from := l.i
		for l.i < l.end && l.src[l.i] >= '0' && l.src[l.i] <= '9' {
			l.i++
			l.steps++
		}
		return l.i - from
	}
	at := func(set string) bool { return l.i < l.end && bytes.IndexByte([]byte(set), l.src[l.i]) >= 0 }
	if at("-") {
		l.i++
	}
	zero := at("0")
	if n := digits(); n == 0 || zero && n > 1 {
		return broken
	}
	if at(".") {
		l.i++
		if digits() == 0 {
			return broken
		}
	}
	if at("eE") {
		l.i++
		if at("+-") {
			l.i++
		}
		if digits() == 0 {
			return broken
		}
	}
	if l.i < l.end && !isSpace(l.src[l.i]) && !at(",]}/#") {
		return broken
	}
	l.out = append(l.out, l.src[start:l.i]...)
	return complete
}

// text reads a string in any of the known quotes.
func (l *lexer) text() verdict {
	end, size := quoted(l.src[l.i:l.end])
	straight := end == `"`
	if !straight {
		l.fix(opQuotes, l.i)
	}
	l.i += size
	l.out = append(l.out, '"')
	for l.i < l.end {
		l.steps++
		c := l.src[l.i]
		switch {
		case c == end[0] && bytes.HasPrefix(l.src[l.i:l.end], []byte(end)):
			l.i += len(end)
			l.out = append(l.out, '"')
			return complete
		case c == '\\':
			if l.i+1 >= l.end {
				return l.stop()
			}
			if !l.escape(straight) {
				return broken
			}
		case c < 0x20:
			l.fix(opControl, l.i)
			l.out = append(l.out, controlEscape(c)...)
			l.i++
		case c == '"':
			l.out = append(l.out, '\\', '"')
			l.i++
		default:
			l.put(c)
		}
	}
	return l.stop()
}

// escape copies an escape sequence; the strict reader checks the digits of \u.
func (l *lexer) escape(straight bool) bool {
	c := l.src[l.i+1]
	switch {
	case bytes.IndexByte([]byte(`"\/bfnrtu`), c) >= 0:
		l.out = append(l.out, '\\', c)
	case c == '\'' && !straight:
		l.out = append(l.out, c)
	default:
		return false
	}
	l.i += 2
	return true
}

func controlEscape(c byte) string {
	switch c {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	return fmt.Sprintf(`\u%04x`, c) // refused by the strict reader
}

// quoted returns the quote that ends a string which begins with src, and the size of the one that begins it.
func quoted(src []byte) (end string, size int) {
	r, size := utf8.DecodeRune(src)
	switch r {
	case '"', '\'':
		return string(r), size
	case '“', '”':
		return "”", size
	case '‘', '’':
		return "’", size
	}
	return "", 0
}

func (l *lexer) put(c byte) {
	l.out = append(l.out, c)
	l.i++
}

func (l *lexer) flushComma() {
	if l.comma >= 0 {
		l.out = append(l.out, ',')
		l.comma = -1
	}
}

func (l *lexer) fix(op string, offset int) {
	l.fixes = append(l.fixes, Fix{Op: op, Offset: offset})
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
