package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/invopop/jsonschema"
	"github.com/parley-agents/parley/internal/strictjson"
)

// For derives the schema of T: a struct, or a type whose JSON is an object. The
// name becomes the $id, urn:schema:<name>.
//
// The schema is closed and describes what encoding/json writes: a member is
// required unless omitempty, omitzero or an embedded pointer can leave it out,
// and a nil pointer, slice or map that is not left out may be null. Integers
// have the bounds of their Go type, and never more than ±(2^53−1). The tags
// jsonschema and jsonschema_description add constraints (title, description,
// required, enum, const, default, example, minimum, maximum, exclusiveMinimum,
// exclusiveMaximum, multipleOf, minLength, maxLength, pattern, format, minItems,
// maxItems, uniqueItems, minProperties, maxProperties); on a slice, those of its
// items too. A type with a JSONSchema() *jsonschema.Schema method
// (invopop/jsonschema) has the last word on itself.
//
// What a schema cannot promise is an error that names the field, such as
// "Booking.Extra: an interface may hold anything: …".
func For[T any](name string) (*Schema, error) { return Of(reflect.TypeFor[T](), name) }

// Of is For where the type is a value.
func Of(t reflect.Type, name string) (*Schema, error) {
	s, err := derive(t, name)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	return s, nil
}

func derive(t reflect.Type, name string) (*Schema, error) {
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`).MatchString(name) {
		return nil, fmt.Errorf("the name %q is not made of letters, digits and . _ - /", name)
	}
	b := &builder{names: map[reflect.Type]string{}, taken: map[string]bool{}, fields: map[reflect.Type][]field{}, done: map[reflect.Type]bool{}}
	for range maxRefs {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
	}
	path := t.Name()
	if path == "" {
		path = t.String()
	}
	if err := b.inspect(t, path, nil); err != nil {
		return nil, err
	}
	root, err := b.reflect(t, path)
	if err != nil {
		return nil, err
	}
	root["$schema"], root["$id"] = Draft, "urn:schema:"+name
	s, err := build(root, true)
	if err != nil {
		return nil, err
	}
	if root["type"] != "object" {
		return nil, fmt.Errorf("%s: the root of a document must be an object", path)
	}
	return s, nil
}

// builder derives one schema: the reflector says what a type is made of, the
// builder mends it where that is not what encoding/json writes.
type builder struct {
	names  map[reflect.Type]string
	taken  map[string]bool
	fields map[reflect.Type][]field // of every struct met
	defs   map[string]any
	done   map[reflect.Type]bool
}

// inspect refuses what has no schema before the reflector, which would panic,
// loop or guess, sees it. The trail holds the slices and maps since the last struct.
func (b *builder) inspect(t reflect.Type, path string, trail []reflect.Type) error {
	for ; t.Kind() == reflect.Pointer; t = t.Elem() {
		if slices.Contains(trail, t) {
			return fmt.Errorf("%s: it is made of itself", path)
		}
		trail = append(trail, t)
	}
	if slices.Contains(trail, t) {
		return fmt.Errorf("%s: it is made of itself: put a struct between", path)
	}
	kind, reason := shapeOf(t)
	switch kind {
	case shapeNone:
		return fmt.Errorf("%s: %s", path, reason)
	case shapeList:
		return b.inspect(t.Elem(), path+"[]", append(trail, t))
	case shapeTable:
		return b.inspect(t.Elem(), path+"{}", append(trail, t))
	case shapeObject:
		if _, ok := b.fields[t]; ok {
			return nil
		}
		fields, err := fieldsOf(t)
		if err != nil {
			return fmt.Errorf("%s.%w", path, err)
		}
		b.fields[t] = fields
		for _, f := range fields {
			if err := b.inspect(f.typ, path+"."+f.path, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// reflect runs the reflector and mends what it made; definitions that nothing
// refers to any more are dropped.
func (b *builder) reflect(t reflect.Type, path string) (map[string]any, error) {
	reflector := jsonschema.Reflector{Anonymous: true, Namer: b.name}
	raw, err := json.Marshal(reflector.ReflectFromType(t))
	if err != nil {
		return nil, err
	}
	tree, err := strictjson.Tree(raw, strictjson.Limits{Bytes: 16 << 20, Depth: 1000, Members: 100_000, Nodes: 1_000_000, AnyRoot: true})
	if err != nil {
		return nil, err
	}
	root, _ := tree.(map[string]any)
	b.defs, _ = root["$defs"].(map[string]any)
	delete(root, "$defs")
	mended, err := b.mend(use{typ: t, path: path, elided: true}, root)
	if err != nil {
		return nil, err
	}
	root, ok := mended.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: the root of a document must be an object", path)
	}
	if ref, ok := root["$ref"].(string); ok {
		definition, ok := b.defs[strings.TrimPrefix(ref, defsPrefix)].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s: the root of a document must be an object", path)
		}
		root = maps.Clone(definition)
	}
	if used := reachable(root, b.defs); len(used) > 0 {
		root["$defs"] = used
	}
	return root, nil
}

const defsPrefix = "#/$defs/"

// reachable picks the definitions that a node refers to, directly or not.
func reachable(node any, defs map[string]any) map[string]any {
	used := map[string]any{}
	var visit func(any)
	visit = func(node any) {
		// The visitor cannot fail.
		_ = walk(node, "", func(_ string, node map[string]any) error {
			ref, _ := node["$ref"].(string)
			name := strings.TrimPrefix(ref, defsPrefix)
			if definition, ok := defs[name]; ok && used[name] == nil {
				used[name] = definition
				visit(definition)
			}
			return nil
		})
	}
	visit(node)
	return used
}

// name gives each type its own definition, whatever package it comes from and
// whatever its type arguments are; the reflector alone would let two types of
// one name share a definition.
func (b *builder) name(t reflect.Type) string {
	if name, ok := b.names[t]; ok {
		return name
	}
	full := t.PkgPath() + "." + t.Name()
	switch {
	case t.Name() == "" && t.Kind() == reflect.Struct:
		full = "struct"
	case t.Name() == "":
		return ""
	}
	base := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, full)
	name := base
	for i := 2; b.taken[strings.ToLower(name)]; i++ {
		name = fmt.Sprintf("%s_%d", base, i)
	}
	b.taken[strings.ToLower(name)] = true
	b.names[t] = name
	return name
}
