package llm

import (
	"strings"
	"unicode"
)

const (
	thinkOpens  = "<think>"
	thinkCloses = "</think>"
)

// splitThinking separates a leading, closed <think> block from the answer. One that
// stands elsewhere, or is not closed, may be the answer's own text and stays.
func splitThinking(s string) (thoughts, answer string) {
	body, ok := strings.CutPrefix(strings.TrimSpace(s), thinkOpens)
	if !ok {
		return "", s
	}
	thoughts, answer, ok = strings.Cut(body, thinkCloses)
	if !ok {
		return "", s
	}
	return strings.TrimSpace(thoughts), strings.TrimSpace(answer)
}

// thinkSplitter does what splitThinking does to text that comes in pieces. It holds
// back only what may be part of a mark, or white space that may end the text.
type thinkSplitter struct {
	state    int
	space    strings.Builder // white space before the opening mark
	held     string          // what may be part of a mark
	thoughts trimmer
	answer   trimmer
}

// The states of a thinkSplitter.
const (
	thinkMayOpen = iota // only white space and a part of the opening mark came
	thinkOpen           // inside the block
	thinkClosed         // after the block
	thinkAbsent         // the text begins with something else
)

// add takes the next piece and returns what it makes certain.
func (t *thinkSplitter) add(s string) (said, thought string) {
	if t.state == thinkMayOpen {
		if t.held == "" {
			text := strings.TrimLeftFunc(s, unicode.IsSpace)
			t.space.WriteString(s[:len(s)-len(text)])
			s = text
		}
		t.held += s
		switch body, ok := strings.CutPrefix(t.held, thinkOpens); {
		case ok:
			t.state, t.held, s = thinkOpen, "", body
		case strings.HasPrefix(thinkOpens, t.held):
			return "", ""
		default:
			t.state, s = thinkAbsent, t.space.String()+t.held
		}
	}
	if t.state == thinkOpen {
		s = t.held + s
		body, rest, closed := strings.Cut(s, thinkCloses)
		if !closed {
			keep := partOfMark(s)
			t.held = s[len(s)-keep:]
			return "", t.thoughts.add(s[:len(s)-keep])
		}
		t.state, t.held = thinkClosed, ""
		return t.answer.add(rest), t.thoughts.add(body)
	}
	if t.state == thinkClosed {
		return t.answer.add(s), ""
	}
	return s, ""
}

// rest returns, when whole has come, the part of the answer that was not returned.
func (t *thinkSplitter) rest(whole string) string {
	if t.state == thinkMayOpen || t.state == thinkOpen {
		return whole // no block after all
	}
	return ""
}

// partOfMark is how many bytes at the end of s may begin the closing mark.
func partOfMark(s string) int {
	for n := min(len(s), len(thinkCloses)-1); n > 0; n-- {
		if strings.HasSuffix(s, thinkCloses[:n]) {
			return n
		}
	}
	return 0
}

// trimmer is strings.TrimSpace of text that comes in pieces.
type trimmer struct {
	begun bool
	held  strings.Builder // white space that is dropped unless more follows
}

func (t *trimmer) add(s string) string {
	if !t.begun {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
	}
	text := strings.TrimRightFunc(s, unicode.IsSpace)
	if text != "" {
		text, s = t.held.String()+text, s[len(text):]
		t.begun = true
		t.held.Reset()
	}
	t.held.WriteString(s)
	return text
}
