package schema

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parley-agents/parley/internal/strictjson"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// sieve lets pass what plainly fits a schema, without a tree of the value and
// without a word on what it finds. What it holds back may fit all the same: that
// is for the validator to judge and to explain.
type sieve struct {
	shut  bool // it lets nothing pass
	kinds uint // a bit for each strictjson.Kind that the value may have
	whole bool // a number must be an integer

	ref  *sieve   // it must let pass too
	arms []*sieve // one of them must
	only []string // the texts among which the value must be, if it is not nil

	length   span
	format   func(any) error
	pattern  jsonschema.Regexp
	encoding func(string) ([]byte, error)

	bounded   bool
	low, high int64

	size     span
	members  map[string]*sieve
	required []string
	others   *sieve // for members that are not declared; nil lets all pass

	count span
	items *sieve
}

// span is a range of whole numbers, both ends in it.
type span struct{ least, most int }

func (s span) holds(n int) bool { return s.least <= n && n <= s.most }

// passes reports whether a value plainly fits. It meets each value once for every
// schema in a chain of references and alternatives.
func (s *sieve) passes(v strictjson.Value) bool {
	kind := v.Kind()
	if s.shut || s.kinds&(1<<kind) == 0 {
		return false
	}
	if s.ref != nil && !s.ref.passes(v) {
		return false
	}
	if s.arms != nil && !slices.ContainsFunc(s.arms, func(arm *sieve) bool { return arm.passes(v) }) {
		return false
	}
	if s.only != nil && (kind != strictjson.KindString || !slices.Contains(s.only, v.Text())) {
		return false
	}
	switch kind {
	case strictjson.KindString:
		return s.passesText(v.Text())
	case strictjson.KindNumber:
		return s.passesNumber(v.Text())
	case strictjson.KindArray:
		return s.passesArray(v)
	case strictjson.KindObject:
		return s.passesObject(v)
	}
	return true
}

func (s *sieve) passesText(text string) bool {
	if !s.length.holds(utf8.RuneCountInString(text)) {
		return false
	}
	if s.format != nil && s.format(text) != nil {
		return false
	}
	if s.pattern != nil && !s.pattern.MatchString(text) {
		return false
	}
	if s.encoding == nil {
		return true
	}
	_, err := s.encoding(text)
	return err == nil
}

// passesNumber judges the bounds of integers only. The canonical text of a number
// has a point or an exponent exactly if it is none.
func (s *sieve) passesNumber(text string) bool {
	if strings.ContainsAny(text, ".e") {
		return !s.whole && !s.bounded
	}
	if !s.bounded {
		return true
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && s.low <= n && n <= s.high
}

func (s *sieve) passesArray(v strictjson.Value) bool {
	count := 0
	for _, item := range v.Inside() {
		if s.items != nil && !s.items.passes(item) {
			return false
		}
		count++
	}
	return s.count.holds(count)
}

func (s *sieve) passesObject(v strictjson.Value) bool {
	size, required := 0, 0
	for name, member := range v.Inside() {
		below, declared := s.members[name]
		if !declared {
			below = s.others
		}
		if below != nil && !below.passes(member) {
			return false
		}
		if slices.Contains(s.required, name) {
			required++
		}
		size++
	}
	return required == len(s.required) && s.size.holds(size)
}
