package llm

// outline follows the brackets and strings of JSON text byte by byte, so that a
// stream of fragments is looked at once. It does not check the text.
type outline struct {
	began   bool // a bracket was opened
	depth   int
	quoted  bool
	escaped bool
}

func (o *outline) add(s string) {
	for i := range len(s) {
		switch c := s[i]; {
		case o.escaped:
			o.escaped = false
		case o.quoted && c == '\\':
			o.escaped = true
		case c == '"':
			o.quoted = !o.quoted
		case o.quoted:
		case c == '{' || c == '[':
			o.began = true
			o.depth++
		case c == '}' || c == ']':
			o.depth--
		}
	}
}

// whole reports whether every bracket opened so far is closed.
func (o *outline) whole() bool { return o.began && o.depth <= 0 && !o.quoted }
