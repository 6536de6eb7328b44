package wire

import (
	"bytes"
	"iter"
	"unicode/utf8"
)

// member is one member of an object: the text of its name, and its value as it
// stands.
type member struct{ name, value []byte }

// appendMembers appends the members of an object to list. Like all functions of
// this file it walks a text that check has passed.
func appendMembers(list []member, object []byte) []member {
	at := next(object, 1)
	for object[at] != '}' {
		end := skip(object, at)
		name := textOf(object[at:end])
		at = next(object, next(object, end)+1) // behind the colon
		end = skip(object, at)
		list = append(list, member{name, object[at:end:end]})
		if at = next(object, end); object[at] == ',' {
			at = next(object, at+1)
		}
	}
	return list
}

// elements are the elements of an array.
func elements(array []byte) iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) {
		at := next(array, 1)
		for array[at] != ']' {
			end := skip(array, at)
			if !yield(array[at:end:end]) {
				return
			}
			if at = next(array, end); array[at] == ',' {
				at = next(array, at+1)
			}
		}
	}
}

// next returns where the token at or behind at begins.
func next(b []byte, at int) int {
	for at < len(b) && isSpace(b[at]) {
		at++
	}
	return at
}

// skip returns where the value that begins at at ends.
func skip(b []byte, at int) int {
	if b[at] == '"' {
		return skipString(b, at)
	}
	depth := 0
	for ; at < len(b); at++ {
		switch c := b[at]; {
		case c == '"':
			at = skipString(b, at) - 1
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 {
				return at // of the object or array around a number or a word
			}
			if depth--; depth == 0 {
				return at + 1
			}
		case depth == 0 && (c == ',' || isSpace(c)):
			return at
		}
	}
	return at
}

func skipString(b []byte, at int) int {
	for at++; b[at] != '"'; at++ {
		if b[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// trim returns a checked text without the white space around its value.
func trim(text []byte) []byte {
	at := next(text, 0)
	return text[at:skip(text, at):len(text)]
}

// unquote returns the text of a string that stands in its quotes.
func unquote(quoted []byte) string { return string(textOf(quoted)) }

// textOf is unquote without a copy of what has no escapes.
func textOf(quoted []byte) []byte {
	inner := quoted[1 : len(quoted)-1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	text := make([]byte, 0, len(inner))
	for len(inner) > 0 {
		run := bytes.IndexByte(inner, '\\')
		if run < 0 {
			run = len(inner)
		}
		text, inner = append(text, inner[:run]...), inner[run:]
		if len(inner) > 0 {
			r, size := unescape(inner)
			text, inner = utf8.AppendRune(text, r), inner[size:]
		}
	}
	return text
}

// appendString writes a string in quotes. What is not UTF-8 in it becomes
// U+FFFD: JSON has no other way.
func appendString(out []byte, s string) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	written := 0
	for i := 0; i < len(s); {
		c, size := s[i], 1
		if c >= utf8.RuneSelf {
			_, size = utf8.DecodeRuneInString(s[i:])
		}
		if size > 1 || c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i += size
			continue
		}
		out = append(out, s[written:i]...)
		switch {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c == '\n':
			out = append(out, '\\', 'n')
		case c == '\r':
			out = append(out, '\\', 'r')
		case c == '\t':
			out = append(out, '\\', 't')
		case c < 0x20:
			out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			out = utf8.AppendRune(out, utf8.RuneError)
		}
		i++
		written = i
	}
	return append(append(out, s[written:]...), '"')
}

// appendRaw writes a JSON text on one line. Line ends can only stand between
// its tokens, where a space says the same; in a stream of events they would end
// the line that carries the text.
func appendRaw(out, text []byte) []byte {
	from := len(out)
	out = append(out, text...)
	if bytes.ContainsAny(text, "\r\n") {
		for i, c := range out[from:] {
			if c == '\r' || c == '\n' {
				out[from+i] = ' '
			}
		}
	}
	return out
}

// kindOf names the kind of a value for the text of an error.
func kindOf(value []byte) string {
	switch c := value[0]; {
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	case c == '"':
		return "a string"
	case c == 'n':
		return "null"
	case c == 't' || c == 'f':
		return "a boolean"
	}
	return "a number"
}

// isNull tells null from every other value: no other begins with n.
func isNull(value []byte) bool { return value[0] == 'n' }
