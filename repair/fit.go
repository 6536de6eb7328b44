package repair

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/internal/strictjson"
)

// maxRounds bounds how often a value is checked again after a mend; one round mends every violation that is reported.
const maxRounds = 8

// fit mends what the schema shows to have exactly one meaning. It changes v's tree.
func fit(v value, s *schema.Schema, o Options) (Mended, draft) {
	was := check(v.tree, s)
	left := was
	fixes := v.fixes
	for range maxRounds {
		changed := false
		for _, violation := range left {
			at := violation.Pointer
			op, with, ok := reading(v.tree, at, s, o)
			if !ok {
				continue
			}
			v.tree, _ = replace(v.tree, at, with)
			fixes = append(fixes, Fix{Op: op, Offset: v.start, Pointer: at})
			changed = true
		}
		if !changed {
			break
		}
		left = check(v.tree, s)
	}
	if len(left) > 0 {
		return Mended{Outcome: NeedsModel, Violations: was},
			draft{parsed: true, tree: v.tree, fixes: fixes, violations: left}
	}
	return Mended{Outcome: Repaired, Value: canonical(v.tree), Fixes: fixes, Violations: was}, draft{}
}

// reading returns what a string at a pointer means to a schema that allows no such string, if that is certain.
func reading(tree any, at string, s *schema.Schema, o Options) (op string, with any, ok bool) {
	node, ok := lookup(tree, at)
	written, isString := node.(string)
	if !ok || !isString {
		return "", nil, false
	}
	wanted, ok := wants(s, at)
	if !ok {
		return "", nil, false
	}
	if wanted.container() {
		with, ok = decode(written, wanted)
		return opDecode, with, ok
	}
	if fixed(at) || o.Exact != nil && o.Exact(at) {
		return "", nil, false
	}
	if wanted.integer() && isInteger(written) {
		return opInteger, json.Number(written), true
	}
	with, ok = wanted.fold(written)
	return opEnum, with, ok
}

// decode reads a container that was written as a string, or as a string within a string.
func decode(written string, wanted want) (any, bool) {
	for range 2 {
		tree, err := strictjson.Tree([]byte(written), limits)
		if err != nil {
			return nil, false
		}
		switch tree := tree.(type) {
		case map[string]any:
			return tree, slices.Contains(wanted.types, "object")
		case []any:
			return tree, slices.Contains(wanted.types, "array")
		case string:
			written = tree
		default:
			return nil, false
		}
	}
	return nil, false
}

// isInteger tells the canonical text of an integer that a double holds exactly: no sign but a minus, no leading zero,
// no fraction, exponent or separator.
func isInteger(text string) bool {
	const most = 1<<53 - 1
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == text && n >= -most && n <= most
}

// fixed says that a member decides which message this is or whom it concerns. Such a member is never mended, not even
// where the mend looks certain: a wrong one is a different message, not a misspelt one.
func fixed(pointer string) bool {
	name := ""
	for _, token := range tokens(pointer) {
		if _, err := strconv.Atoi(token); err != nil {
			name = token
		}
	}
	for _, ending := range []string{"_id", "-id", "_ids", "-ids", "Id", "ID", "Ids", "IDs"} {
		if strings.HasSuffix(name, ending) {
			return true
		}
	}
	switch strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name)) {
	case "performative", "receipt", "contenttype", "version", "v", "protocol", "schema", "capability",
		"sender", "receiver", "actor", "tenant", "id", "ids", "inreplyto", "replyto":
		return true
	}
	return false
}

// want is what a schema says about the values of one place, as far as mending needs it.
type want struct {
	types []string
	enum  []string
}

// wants reads the schema of one place. It is false if the schema does not say which types are allowed.
func wants(s *schema.Schema, pointer string) (want, bool) {
	text, ok := s.At(pointer)
	if !ok {
		return want{}, false
	}
	var document struct {
		Definitions map[string]json.RawMessage `json:"$defs"`
	}
	if json.Unmarshal(text, &document) != nil {
		return want{}, false
	}
	var w want
	known := w.read(text, document.Definitions, maxArms)
	return w, known
}

// maxArms bounds how far unions and references are followed into one another.
const maxArms = 8

// read adds what one schema allows; false if that is not said.
func (w *want) read(text json.RawMessage, definitions map[string]json.RawMessage, depth int) bool {
	var node struct {
		Type  any               `json:"type"`
		Enum  []any             `json:"enum"`
		AnyOf []json.RawMessage `json:"anyOf"`
		OneOf []json.RawMessage `json:"oneOf"`
		Ref   string            `json:"$ref"`
	}
	if depth == 0 || json.Unmarshal(text, &node) != nil {
		return false
	}
	if node.Ref != "" {
		target, ok := definitions[strings.TrimPrefix(node.Ref, "#/$defs/")]
		return ok && w.read(target, definitions, depth-1)
	}
	for _, value := range node.Enum {
		if name, ok := value.(string); ok {
			w.enum = append(w.enum, name)
			w.types = append(w.types, "string")
		}
	}
	arms := slices.Concat(node.AnyOf, node.OneOf)
	for _, arm := range arms {
		if !w.read(arm, definitions, depth-1) {
			return false
		}
	}
	switch types := node.Type.(type) {
	case string:
		w.types = append(w.types, types)
	case []any:
		for _, name := range types {
			if name, ok := name.(string); ok {
				w.types = append(w.types, name)
			}
		}
	default:
		return len(arms) > 0 || len(node.Enum) > 0
	}
	return true
}

// container says that an object or array must stand here, and no string may.
func (w want) container() bool {
	return !slices.Contains(w.types, "string") &&
		(slices.Contains(w.types, "object") || slices.Contains(w.types, "array"))
}

// integer says that an integer must stand here, or at most null instead.
func (w want) integer() bool {
	return slices.Contains(w.types, "integer") &&
		!slices.ContainsFunc(w.types, func(t string) bool { return t != "integer" && t != "null" })
}

// fold finds the one enum value that differs from the text in case only. Letters whose case changes their length in
// UTF-8 do not count: the Kelvin sign is not the letter K.
func (w want) fold(text string) (string, bool) {
	var found []string
	for _, value := range w.enum {
		if len(value) == len(text) && strings.EqualFold(value, text) && !slices.Contains(found, value) {
			found = append(found, value)
		}
	}
	if len(found) != 1 || found[0] == text {
		return "", false
	}
	return found[0], true
}
