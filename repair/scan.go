package repair

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/parley-agents/parley/internal/strictjson"
	"github.com/parley-agents/parley/llm"
)

// span is a value that was found in a text and not yet judged.
type span struct {
	lexer  *lexer
	start  int
	whole  bool // false if the text ended first
	merged bool // no word stands between it and the span before: both were meant
}

// maxSpans is how many values a text may hold before it is ambiguous, whatever they are.
const maxSpans = 16

// dialects begin what some servers leave in the text of a function call or of reasoning. Here nobody knows the function
// that was called, so that its arguments could be anybody's, nor where such reasoning ends.
var dialects = [...]string{
	"<function", "<tool", "<invoke", "<parameter", "<call", "<thought", "<|", "[tool", "[function", "[think", "functools[",
}

func dialect(src []byte) bool {
	for _, mark := range dialects {
		if beginsWith(src, mark) {
			return true
		}
	}
	return false
}

// scan finds the objects and arrays that stand in prose, outside reasoning, and takes the one that is meant.
func (t *text) scan() (Mended, draft) {
	var spans []span
	words, fences := -1, -1 // offsets of the first of each; words are all that is neither value nor fence
	spoken := false         // a word since the last span
	for i := t.lo; i < t.hi; {
		rest := t.src[i:t.hi]
		t.steps++
		switch c := rest[0]; {
		case (c == '<' || c == '[' || c == 'f') && dialect(rest):
			return t.give("dialect", "a value", "the marks of another format", i)
		case c == '{' || c == '[':
			l := newLexer(t.src, i, t.hi)
			verdict := l.run()
			t.steps += l.steps
			if verdict == broken {
				size := aside(rest)
				t.steps += size
				if size == 0 {
					return t.syntax(l.i)
				}
				spoken = true
				words = first(words, i)
				i += size
				continue
			}
			if len(spans) == maxSpans {
				return t.give("ambiguous", "one value", "many", i)
			}
			spans = append(spans, span{lexer: l, start: i, whole: verdict == complete, merged: len(spans) > 0 && !spoken})
			spoken = false
			i = l.i
		case c == '<':
			size, closing := reasoningTag(rest)
			if size == 0 {
				words = first(words, i)
				i++
				continue
			}
			length := -1
			if closing != "" {
				length = closed(rest, closing)
			}
			if length < 0 {
				return t.give("reasoning", "reasoning that begins and ends", "half of it", i)
			}
			t.fixes = append(t.fixes, Fix{Op: opReasoning, Offset: i})
			i += length
			t.steps += length
		case c == '`':
			if n := backticks(rest); n >= 3 {
				fences = first(fences, i)
				i += n
				for i < t.hi && t.src[i] != '\n' && isInfo(rune(t.src[i])) {
					i++
				}
				continue
			}
			words = first(words, i)
			i++
		default:
			if !isSpace(c) {
				words = first(words, i)
			}
			spoken = spoken || c >= utf8.RuneSelf || isWord(c)
			i++
		}
	}
	if fences >= 0 {
		t.fixes = append(t.fixes, Fix{Op: opFence, Offset: fences})
	}
	if words >= 0 {
		t.fixes = append(t.fixes, Fix{Op: opProse, Offset: words})
	}
	return t.choose(spans)
}

func first(known, offset int) int {
	if known >= 0 {
		return known
	}
	return offset
}

// aside returns the size of a bracket that is part of the prose, such as [1] or {city}: no other bracket, no quote and
// no comment in it. Zero means that it is something else, so that nothing inside may be taken for a value of its own.
func aside(src []byte) int {
	end := closer(src[0])
	for i, c := range src[1:] {
		switch {
		case c == end:
			return i + 2
		case isWord(c) || isSpace(c) || bytes.IndexByte([]byte(".,;:-+!?"), c) >= 0:
		default:
			return 0
		}
	}
	return 0
}

// choose takes the one value that satisfies the schema.
func (t *text) choose(spans []span) (Mended, draft) {
	switch {
	case len(spans) == 0:
		return t.syntax(t.lo)
	case len(spans) == 1:
		return t.one(spans[0])
	case !slices.ContainsFunc(spans, func(s span) bool { return s.merged || !s.whole }):
	case len(spans) == 2 && spans[1].whole && string(spans[0].lexer.out) == "{}" && len(check(map[string]any{}, t.schema)) > 0:
		// Some endpoints send an empty object first, as the place where the arguments will go.
		t.fixes = append(t.fixes, Fix{Op: opPlaceholder, Offset: spans[0].start})
		return t.one(spans[1])
	default:
		return t.ambiguous(len(spans), spans[1].start)
	}
	var found []Mended
	for _, s := range spans {
		if mended, _ := t.one(s); mended.Outcome == Repaired {
			found = append(found, mended)
		}
	}
	if len(found) != 1 {
		return t.ambiguous(len(spans), spans[1].start)
	}
	return found[0], draft{steps: t.steps}
}

func (t *text) ambiguous(count, offset int) (Mended, draft) {
	return t.give("ambiguous", "one value", strconv.Itoa(count)+" values", offset)
}

// syntax says why the text is not a value, in the words of the strict reader if it got further.
func (t *text) syntax(offset int) (Mended, draft) {
	list := strictViolations(t.strict)
	if len(list) == 0 {
		list = []Violation{{Rule: strictjson.RuleSyntax, Want: "a value"}}
	}
	return t.leave(list, offset)
}

// one judges the only value of a text.
func (t *text) one(s span) (Mended, draft) {
	out, fixes := s.lexer.out, s.lexer.fixes
	if !s.whole {
		if !s.lexer.closable || t.options.Effect || t.options.Finish != llm.FinishStop {
			return t.give("truncated", "a whole value", "the beginning of one", t.hi)
		}
		out = append(slices.Clip(out), s.lexer.closers()...)
		fixes = append(slices.Clip(fixes), Fix{Op: opClose, Offset: t.hi})
	}
	tree, err := strictjson.Tree(out, limits)
	if err != nil {
		return t.leave(strictViolations(err), s.start)
	}
	if violations := check(tree, t.schema); len(violations) > 0 && !s.whole {
		return t.leave(violations, t.hi)
	}
	v := value{start: s.start, tree: tree, fixes: slices.Concat(t.fixes, fixes)}
	mended, d := fit(v, t.schema, t.options)
	d.steps = t.steps
	if mended.Outcome == Repaired && len(mended.Violations) == 0 {
		mended.Violations = strictViolations(t.strict)
	}
	d.offset = cmp.Or(d.offset, s.start)
	return mended, d
}
