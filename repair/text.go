package repair

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/internal/strictjson"
)

// text is a reply that is not strict JSON as it stands. Its window [lo, hi) shrinks as what surrounds the value is
// taken off; offsets stay those of src.
type text struct {
	src     []byte
	lo, hi  int
	schema  *schema.Schema
	options Options
	strict  error // why the strict parse of src failed
	fixes   []Fix
	steps   int
}

// value is one value read from a text.
type value struct {
	start int
	tree  any
	fixes []Fix
}

func (t text) mend() (Mended, draft) {
	t.trim()
	if t.lo == t.hi {
		return t.empty()
	}
	if !t.leadingReasoning() {
		return t.give("reasoning", "an answer after the reasoning", "reasoning that does not end", t.hi)
	}
	t.fence()
	if t.lo == t.hi {
		return t.give(strictjson.RuleSyntax, "a value", "nothing", t.hi)
	}
	if c := t.src[t.lo]; c != '{' && c != '[' {
		l := newLexer(t.src, t.lo, t.hi)
		v := l.run()
		t.steps += l.steps
		if v == complete && l.i == t.hi {
			return t.one(span{lexer: l, start: t.lo, whole: true})
		}
	}
	return t.scan()
}

// give leaves the text to the model.
func (t *text) give(rule, want, got string, offset int) (Mended, draft) {
	return t.leave([]Violation{{Rule: rule, Want: want, Got: got}}, offset)
}

func (t *text) leave(violations []Violation, offset int) (Mended, draft) {
	return unfinished(draft{offset: offset, steps: t.steps, violations: violations})
}

// trim takes off what is white space to people: JSON's own silently, the rest as a fix.
func (t *text) trim() {
	blank := func(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' || r == '\u200B' }
	from, to := t.lo, t.hi
	t.lo = to - len(bytes.TrimLeftFunc(t.src[from:to], blank))
	t.hi = t.lo + len(bytes.TrimRightFunc(t.src[t.lo:to], blank))
	t.steps += to - from - (t.hi - t.lo)
	for _, edge := range [][2]int{{from, t.lo}, {t.hi, to}} {
		for i := edge[0]; i < edge[1]; i++ {
			if !isSpace(t.src[i]) {
				t.fixes = append(t.fixes, Fix{Op: opTrim, Offset: i})
				break
			}
		}
	}
}

// empty reads no text at all as no members, which is how some endpoints write a call without arguments. For an effect
// the schema must declare no member either: "all of them" is then not what an omitted filter could mean.
func (t *text) empty() (Mended, draft) {
	tree := map[string]any{}
	violations := check(tree, t.schema)
	if len(violations) > 0 {
		return t.leave(violations, 0)
	}
	if t.options.Effect && len(t.schema.Properties()) > 0 {
		return t.give(strictjson.RuleSyntax, "an object", "nothing", 0)
	}
	t.fixes = append(t.fixes, Fix{Op: opEmpty})
	return Mended{Outcome: Repaired, Value: canonical(tree), Fixes: t.fixes, Violations: strictViolations(t.strict)}, draft{}
}

// reasoningTags are the names of blocks in which a model thinks aloud.
var reasoningTags = [...]string{"thinking", "think", "reasoning"}

// reasoningTag returns the size of the reasoning tag that src begins with, in any case, and, for an opening tag, the
// closing one.
func reasoningTag(src []byte) (size int, closing string) {
	for _, name := range reasoningTags {
		if beginsWith(src, "<"+name+">") {
			return len(name) + 2, "</" + name + ">"
		}
		if beginsWith(src, "</"+name+">") {
			return len(name) + 3, ""
		}
	}
	return 0, ""
}

// closed returns where a closing tag ends, or -1.
func closed(src []byte, tag string) int {
	for i := range src {
		if src[i] == '<' && beginsWith(src[i:], tag) {
			return i + len(tag)
		}
	}
	return -1
}

// beginsWith ignores the case of letters.
func beginsWith(src []byte, mark string) bool {
	return len(src) >= len(mark) && strings.EqualFold(string(src[:len(mark)]), mark)
}

// leadingReasoning takes off one leading block of reasoning; false if it is not closed.
func (t *text) leadingReasoning() bool {
	_, closing := reasoningTag(t.src[t.lo:t.hi])
	if closing == "" {
		return true
	}
	length := closed(t.src[t.lo:t.hi], closing)
	t.steps += t.hi - t.lo
	if length < 0 {
		return false
	}
	t.fixes = append(t.fixes, Fix{Op: opReasoning, Offset: t.lo})
	t.lo += length
	t.trim()
	return true
}

// fence takes off a code fence that holds everything.
func (t *text) fence() {
	body := t.src[t.lo:t.hi]
	open := backticks(body)
	if open < 3 {
		return
	}
	line := bytes.IndexByte(body, '\n')
	t.steps += len(body)
	if line < 0 || len(bytes.TrimFunc(body[open:line], isInfo)) > 0 {
		return
	}
	trimmed := len(bytes.TrimRight(body, "`"))
	if trimmed <= line || len(body)-trimmed < 3 {
		return
	}
	t.fixes = append(t.fixes, Fix{Op: opFence, Offset: t.lo})
	t.lo, t.hi = t.lo+line+1, t.lo+trimmed
	t.trim()
}

// backticks counts how many of them src begins with.
func backticks(src []byte) int { return len(src) - len(bytes.TrimLeft(src, "`")) }

// isInfo tells the characters of a fence's language.
func isInfo(r rune) bool {
	return r < utf8.RuneSelf && (isWord(byte(r)) || r == '+' || r == '-' || isSpace(byte(r)))
}
