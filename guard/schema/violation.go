package schema

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

func compareViolations(a, b Violation) int {
	return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Keyword, b.Keyword),
		cmp.Compare(a.Want, b.Want), cmp.Compare(a.Got, b.Got))
}

// collector turns the validator's tree of errors into violations.
type collector struct {
	root map[string]any // the schema document
	tree any            // the instance
}

// leaves returns the violations at the ends of the error tree.
func (c collector) leaves(e *jsonschema.ValidationError) []Violation {
	at := c.pointer(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		return c.missing(at, "required", k.Missing)
	case *kind.DependentRequired:
		return c.missing(at, "dependentRequired", k.Missing)
	case *kind.Dependency:
		return c.missing(at, "dependencies", k.Missing)
	case *kind.AdditionalProperties:
		found := make([]Violation, 0, len(k.Properties))
		want := c.knownMembers(e.SchemaURL)
		for _, name := range k.Properties {
			found = append(found, c.violation(join(at, name), "additionalProperties", want))
		}
		return found
	case *kind.PropertyNames:
		want := "a member name that the schema allows"
		if len(e.Causes) > 0 {
			if inner := c.leaves(e.Causes[0]); len(inner) > 0 {
				want = "a name that is " + inner[0].Want
			}
		}
		return []Violation{c.violation(join(c.holder(at, k.Property), k.Property), "propertyNames", want)}
	case *kind.AnyOf:
		return c.union(at, "anyOf", e.Causes)
	case *kind.OneOf:
		if k.Subschemas == nil {
			return c.union(at, "oneOf", e.Causes)
		}
	case *kind.Contains, *kind.MinContains, *kind.ContentSchema:
		return []Violation{c.violation(at, keyword(k), want(k))}
	}
	if len(e.Causes) == 0 {
		return []Violation{c.violation(at, keyword(e.ErrorKind), want(e.ErrorKind))}
	}
	var found []Violation
	for _, cause := range e.Causes {
		found = append(found, c.leaves(cause)...)
	}
	return found
}

// union reports the alternatives that a value may have meant: those whose type
// it has. If it has the type of none, one violation names all the types.
func (c collector) union(at, keyword string, arms []*jsonschema.ValidationError) []Violation {
	var meant []Violation
	var types []string
	for _, arm := range arms {
		found := c.leaves(arm)
		if len(found) == 1 && found[0].Pointer == at && found[0].Keyword == "type" {
			types = append(types, found[0].Want)
			continue
		}
		meant = append(meant, found...)
	}
	if len(meant) > 0 {
		return meant
	}
	if len(types) == 0 {
		return []Violation{c.violation(at, keyword, "one of the alternatives")}
	}
	slices.Sort(types)
	return []Violation{c.violation(at, "type", strings.Join(slices.Compact(types), " or "))}
}

func (c collector) missing(at, keyword string, names []string) []Violation {
	found := make([]Violation, 0, len(names))
	for _, name := range names {
		found = append(found, Violation{Pointer: join(at, name), Keyword: keyword, Want: "the member", Got: "nothing"})
	}
	return found
}

func (c collector) violation(at, keyword, want string) Violation {
	got := "nothing"
	if path, ok := tokens(at); ok {
		if value, ok := lookup(c.tree, path); ok {
			got = describe(value)
		}
	}
	return Violation{Pointer: at, Keyword: keyword, Want: want, Got: got}
}

func (c collector) pointer(path []string) string {
	var at string
	for _, token := range path {
		at = join(at, token)
	}
	return at
}

// holder finds the object whose member name was refused. The validator lends its
// own path for this one kind of error and may have moved on since, so the place
// it names is only believed if the member is there.
func (c collector) holder(at, name string) string {
	if path, ok := tokens(at); ok {
		if _, ok := lookup(c.tree, append(path, name)); ok {
			return at
		}
	}
	place, _ := holderOf(c.tree, "", name)
	return place
}

func holderOf(tree any, at, name string) (string, bool) {
	switch node := tree.(type) {
	case map[string]any:
		if _, ok := node[name]; ok {
			return at, true
		}
		for _, member := range slices.Sorted(maps.Keys(node)) {
			if place, ok := holderOf(node[member], join(at, member), name); ok {
				return place, true
			}
		}
	case []any:
		for i, item := range node {
			if place, ok := holderOf(item, fmt.Sprintf("%s/%d", at, i), name); ok {
				return place, true
			}
		}
	}
	return "", false
}

// knownMembers lists what the schema at a location declares, for the one who
// wrote another name.
func (c collector) knownMembers(location string) string {
	_, encoded, _ := strings.Cut(location, "#")
	pointer, err := url.PathUnescape(encoded)
	if err != nil {
		return "a known member"
	}
	path, _ := tokens(pointer)
	node, _ := lookup(c.root, path)
	object, _ := node.(map[string]any)
	properties, _ := object["properties"].(map[string]any)
	names := slices.Sorted(maps.Keys(properties))
	if len(names) == 0 {
		return "no such member"
	}
	return "one of " + shorten(names)
}

// maxNames is how many names or values a violation lists.
const maxNames = 12

func shorten(names []string) string {
	if more := len(names) - maxNames; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNames], ", "), more)
	}
	return strings.Join(names, ", ")
}

func keyword(k jsonschema.ErrorKind) string {
	if _, ok := k.(*kind.FalseSchema); ok {
		return "false"
	}
	if k == nil || len(k.KeywordPath()) == 0 {
		return "schema"
	}
	return k.KeywordPath()[0]
}

// want says what a keyword asks for, in words.
func want(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return strings.Join(k.Want, " or ")
	case *kind.Enum:
		values := make([]string, len(k.Want))
		for i, value := range k.Want {
			values[i] = excerpt(value)
		}
		return "one of " + shorten(values)
	case *kind.Const:
		return excerpt(k.Want)
	case *kind.Format:
		return "format " + k.Want
	case *kind.Pattern:
		return "a match of " + printable(cut(k.Want))
	case *kind.MinLength:
		return fmt.Sprintf("at least %d characters", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("at most %d characters", k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("at least %d items", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("at most %d items", k.Want)
	case *kind.MinProperties:
		return fmt.Sprintf("at least %d members", k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("at most %d members", k.Want)
	case *kind.Minimum:
		return "at least " + number(k.Want)
	case *kind.Maximum:
		return "at most " + number(k.Want)
	case *kind.ExclusiveMinimum:
		return "more than " + number(k.Want)
	case *kind.ExclusiveMaximum:
		return "less than " + number(k.Want)
	case *kind.MultipleOf:
		return "a multiple of " + number(k.Want)
	case *kind.UniqueItems:
		return "items that differ"
	case *kind.Contains:
		return "an item that fits"
	case *kind.MinContains:
		return fmt.Sprintf("at least %d items that fit", k.Want)
	case *kind.MaxContains:
		return fmt.Sprintf("at most %d items that fit", k.Want)
	case *kind.ContentEncoding:
		return k.Want + " text"
	case *kind.ContentMediaType:
		return "a text of type " + printable(cut(k.Want))
	case *kind.FalseSchema:
		return "nothing here"
	case *kind.OneOf:
		return "exactly one of the alternatives"
	}
	return "a value that the schema allows"
}

func number(r *big.Rat) string {
	if r.IsInt() {
		return cut(r.Num().String())
	}
	value, _ := r.Float64()
	return fmt.Sprint(value)
}
