package envelope

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-agents/parley/internal/strictjson"
)

// faults keeps the first thing found wrong.
type faults struct{ first *ShapeError }

func (f *faults) add(pointer, rule, want, got string) {
	if f.first == nil {
		f.first = &ShapeError{Pointer: pointer, Rule: rule, Want: want, Got: got}
	}
}

// reader takes the members of one closed object, each by its exact name and type. Absent members read as zero values;
// whether they may be absent is for check to say, where a zero value can tell.
type reader struct {
	*faults
	pointer string
	members []strictjson.Member
}

func newReader(f *faults, pointer string, members []strictjson.Member) reader {
	return reader{faults: f, pointer: pointer, members: members}
}

// find returns the value of a member, nothing if there is none.
func (r reader) find(name string) string {
	for i := range r.members {
		if r.members[i].Name == name {
			return r.members[i].Value
		}
	}
	return ""
}

func (r reader) at(name string) string { return r.pointer + "/" + strictjson.Escape(name) }

// closed refuses every member that is not named.
func (r reader) closed(names ...string) {
	var unknown []string
	for _, m := range r.members {
		if !slices.Contains(names, m.Name) {
			unknown = append(unknown, m.Name)
		}
	}
	if len(unknown) > 0 {
		name := slices.Min(unknown)
		r.add(within(r.pointer, name), RuleUnknown, "only the members of the envelope", quote(name))
	}
}

func (r reader) need(names ...string) {
	for _, name := range names {
		if r.find(name) == "" {
			r.add(r.at(name), RuleRequired, "a value", "nothing")
		}
	}
}

// get returns a member's value if its first byte is one of those that begin the wanted type.
func (r reader) get(name, begins, want string) string {
	value := r.find(name)
	if value == "" {
		return ""
	}
	if strings.IndexByte(begins, value[0]) < 0 {
		r.add(r.at(name), RuleType, want, kindOf(value))
		return ""
	}
	return value
}

// text reads a string. An empty one is refused: it would read as an absent member.
func (r reader) text(name string) string {
	value := r.get(name, `"`, "a string")
	if value == "" {
		return ""
	}
	s := unquote(value)
	if s == "" {
		r.add(r.at(name), RuleRange, "a string that is not empty", `""`)
	}
	return s
}

// integer reads a whole number of at least least, which strict JSON keeps within ±(2^53-1).
func (r reader) integer(name string, least int64) int64 {
	value := r.get(name, "-0123456789", "an integer")
	if value == "" {
		return 0
	}
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case err != nil:
		r.add(r.at(name), RuleType, "an integer", value)
	case n < least:
		r.add(r.at(name), RuleRange, "at least "+strconv.FormatInt(least, 10), value)
	}
	return n
}

func (r reader) boolean(name string) bool {
	return r.get(name, "tf", "a boolean") == "true"
}

// object opens a nested object, or says that it is not there.
func (r reader) object(name string) (reader, bool) {
	value := r.get(name, "{", "an object")
	if value == "" {
		return reader{}, false
	}
	return newReader(r.faults, r.at(name), membersOf(value)), true
}

// list reads an array; its elements are left as they are.
func (r reader) list(name string) []string {
	value := r.get(name, "[", "an array")
	if value == "" {
		return nil
	}
	elements, _ := strictjson.Elements(value, limits) // the canonical form of an array
	return elements
}

func (r reader) texts(name string) []string {
	var texts []string
	for i, value := range r.list(name) {
		if value[0] != '"' {
			r.add(r.at(name)+"/"+strconv.Itoa(i), RuleType, "a string", kindOf(value))
			return nil
		}
		texts = append(texts, unquote(value))
	}
	return texts
}

// membersOf splits the canonical form of an object that was part of an accepted document.
func membersOf(value string) []strictjson.Member {
	_, members, _ := strictjson.Split(value, limits)
	return members
}

func unquote(value string) string {
	if strings.IndexByte(value, '\\') < 0 {
		return strings.Clone(value[1 : len(value)-1]) // so that an id that is kept does not keep the document
	}
	var s string
	_ = json.Unmarshal([]byte(value), &s) // the canonical form of a string
	return s
}

func kindOf(value string) string {
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// within points at a member whose name the sender chose, or at its parent if that name is long.
func within(parent, name string) string {
	if len(name) > maxURI {
		return parent
	}
	return parent + "/" + strictjson.Escape(name)
}
