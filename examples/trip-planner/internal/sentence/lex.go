package sentence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type kind int

const (
	end kind = iota
	word
	numeral // a run of ASCII digits
	mark    // one rune of anything else
)

// token is one word, number or mark. Its norm is what rules compare: a word in lower case, dashes as "-", arrows as ">".
type token struct {
	kind       kind
	text, norm string
	start, end int  // bytes
	gap        bool // space or the sentence's beginning stands before it
}

func lex(text string) []token {
	var all []token
	gap := true
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		t := token{kind: mark, start: i, end: i + size, gap: gap}
		switch {
		case unicode.IsSpace(r) || unicode.Is(unicode.Cf, r):
			gap = true
			i += size
			continue
		case r >= '0' && r <= '9':
			t.kind = numeral
			for t.end < len(text) && text[t.end] >= '0' && text[t.end] <= '9' {
				t.end++
			}
		case unicode.IsLetter(r):
			t.kind = word
			t.end = wordEnd(text, t.end)
		}
		t.text = text[t.start:t.end]
		t.norm = norm(t)
		all = append(all, t)
		gap = false
		i = t.end
	}
	return all
}

// wordEnd returns where the word that began before i ends; an apostrophe between two letters is inside.
func wordEnd(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if strings.ContainsRune("'’ʻ`", r) {
			if next, _ := utf8.DecodeRuneInString(text[i+size:]); !unicode.IsLetter(next) {
				return i
			}
		} else if !unicode.IsLetter(r) && !unicode.Is(unicode.Mn, r) {
			return i
		}
		i += size
	}
	return i
}

func norm(t token) string {
	if t.kind == word {
		return strings.ReplaceAll(strings.ToLower(t.text), "’", "'")
	}
	switch t.text {
	case "–", "—", "−", "‐", "‑", "―":
		return "-"
	case "→", "⇒", "➔", "➜", "⟶", "►", "▶", "›", "»":
		return ">"
	}
	return t.text
}

// capital reports whether a word begins with a capital letter.
func (t token) capital() bool {
	r, _ := utf8.DecodeRuneInString(t.text)
	return t.kind == word && unicode.IsUpper(r)
}

// allCapitals reports whether no letter of a word is small.
func (t token) allCapitals() bool { return t.kind == word && t.text == strings.ToUpper(t.text) }

// shouted reports whether a sentence of several words is all in capitals, so that capitals say nothing.
func shouted(tokens []token) bool {
	long := 0
	for _, t := range tokens {
		if t.kind != word {
			continue
		}
		if !t.allCapitals() {
			return false
		}
		if utf8.RuneCountInString(t.text) != 3 {
			long++
		}
	}
	return long > 1
}
