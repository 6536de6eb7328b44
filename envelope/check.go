package envelope

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parley-agents/parley/internal/strictjson"
)

// check holds a header and its canonical content, of which digest is, to the shape of an envelope, and returns the first
// thing wrong. Seal and Decode both ask it, so that what one makes the other accepts. It brings the raw members into
// their canonical form.
func (h *Header) check(content, digest string) *ShapeError {
	f := &faults{}
	h.checkKind(f)
	h.checkWhat(f, content, digest)
	h.checkError(f)
	h.checkWho(f)
	h.checkThread(f)
	h.checkTime(f)
	h.checkEffect(f)
	h.checkMulti(f)
	h.checkLabels(f)
	h.checkProvenance(f)
	h.checkTrace(f)
	h.checkSignatures(f)
	h.checkExtensions(f)
	return f.first
}

func (h *Header) isAct() bool { return h.Performative != "" }

func (h *Header) is(acts ...Performative) bool { return slices.Contains(acts, h.Performative) }

// under reports whether the message belongs to the named protocol, in any version.
func (h *Header) under(protocol string) bool {
	name, _, _ := strings.Cut(h.Protocol, "/")
	return name == protocol
}

// isAward reports whether the message accepts a bid: in a contract net nothing else is an agree.
func (h *Header) isAward() bool { return h.is(Agree) && h.under("contract-net") }

// need asks for a member where who says that there must be one.
func (f *faults) need(pointer string, present bool, who string) {
	if !present {
		f.add(pointer, RuleRequired, "a value on "+who, "nothing")
	}
}

// never refuses a member everywhere but on whose.
func (f *faults) never(pointer string, present bool, whose string) {
	if present {
		f.add(pointer, RuleForbidden, "nothing except on "+whose, "a value")
	}
}

// only asks for a member exactly on whose.
func (f *faults) only(pointer string, present, here bool, whose string) {
	if here {
		f.need(pointer, present, whose)
	} else {
		f.never(pointer, present, whose)
	}
}

// form holds a text that is there to its form.
func (f *faults) form(pointer, value string, ok func(string) bool, want string) {
	if value != "" && !ok(value) {
		f.add(pointer, RuleGrammar, want, quote(value))
	}
}

// must is need and form for what every message has.
func (f *faults) must(pointer, value string, ok func(string) bool, want string) {
	f.need(pointer, value != "", "every message")
	f.form(pointer, value, ok, want)
}

// free bounds a text for people.
func (f *faults) free(pointer, value string) {
	if !utf8.ValidString(value) {
		f.add(pointer, strictjson.RuleUTF8, "UTF-8", quote(value))
	}
	if len(value) > maxText {
		f.add(pointer, RuleRange, "at most "+strconv.Itoa(maxText)+" bytes", strconv.Itoa(len(value)))
	}
}

func (f *faults) between(pointer string, n, least, most int64) {
	if n < least || n > most {
		want := "from " + strconv.FormatInt(least, 10) + " to " + strconv.FormatInt(most, 10)
		f.add(pointer, RuleRange, want, strconv.FormatInt(n, 10))
	}
}

// oneOf holds a word that is there to a closed set.
func oneOf[T ~string](f *faults, pointer string, value T, set []T) {
	if value != "" && !slices.Contains(set, value) {
		words := make([]string, len(set))
		for i, w := range set {
			words[i] = string(w)
		}
		f.add(pointer, RuleEnum, "one of "+strings.Join(words, ", "), quote(string(value)))
	}
}
