package schema

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
)

// use is one place where a type is used.
type use struct {
	typ    reflect.Type
	path   string
	tags   []tag
	elided bool
	quoted bool
}

// mend returns the node that describes what encoding/json writes at a place.
func (b *builder) mend(u use, node any) (any, error) {
	t, null := u.typ, false
	for elided := u.elided; ; elided = false {
		null = null || nilable(t) && !elided
		if t.Kind() != reflect.Pointer {
			break
		}
		t = t.Elem()
	}
	kind, _ := shapeOf(t)
	if u.quoted {
		if kind < shapeInteger {
			return nil, fmt.Errorf("%s: the json option string is for numbers and booleans", u.path)
		}
	}
	mended, err := b.shaped(kind, t, u, node)
	if err != nil {
		return nil, err
	}
	if object, ok := mended.(map[string]any); ok {
		annotate(object, u.tags)
	}
	if null {
		return nullable(mended), nil
	}
	return mended, nil
}

func (b *builder) shaped(kind shape, t reflect.Type, u use, node any) (any, error) {
	if u.quoted {
		return b.constrained(quoted(kind), shapeText, t, u)
	}
	switch kind {
	case shapeCustom:
		object, ok := node.(map[string]any)
		if !ok {
			return node, unconstrained(t, u)
		}
		object = maps.Clone(object)
		if _, referred := object["$ref"]; referred {
			object = map[string]any{"$ref": object["$ref"]}
		}
		return object, unconstrained(t, u)
	case shapeObject:
		if err := b.structure(t, u.path); err != nil {
			return nil, err
		}
		return map[string]any{"$ref": defsPrefix + b.name(t)}, unconstrained(t, u)
	case shapeTable, shapeList:
		return b.collection(kind, t, u, node)
	case shapeBytes:
		return b.constrained(map[string]any{"type": "string", "contentEncoding": "base64"}, kind, t, u)
	case shapeText:
		return b.constrained(map[string]any{"type": "string"}, kind, t, u)
	case shapeTime:
		return b.constrained(map[string]any{"type": "string", "format": "date-time"}, kind, t, u)
	case shapeBoolean:
		return b.constrained(map[string]any{"type": "boolean"}, kind, t, u)
	case shapeNumber:
		// Strict JSON keeps numbers well inside what a float32 can hold.
		return b.constrained(map[string]any{"type": "number"}, kind, t, u)
	default:
		low, high := integerBounds(t)
		return b.constrained(map[string]any{"type": "integer", "minimum": low, "maximum": high}, kind, t, u)
	}
}

func unconstrained(t reflect.Type, u use) error {
	if _, err := constrain(map[string]any{}, shapeCustom, t, u.tags); err != nil {
		return fmt.Errorf("%s: %w", u.path, err)
	}
	return nil
}

// constrained adds a place's tags, which may narrow what the type allows but
// never widen it.
func (b *builder) constrained(node map[string]any, kind shape, t reflect.Type, u use) (any, error) {
	low, high := rational(node["minimum"]), rational(node["maximum"])
	rest, err := constrain(node, kind, t, u.tags)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u.path, err)
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%s: jsonschema keyword %q does not apply to %s", u.path, rest[0].keyword, t)
	}
	for _, keyword := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} {
		value := rational(node[keyword])
		if value != nil && low != nil && (value.Cmp(low) < 0 || value.Cmp(high) > 0) {
			return nil, fmt.Errorf("%s: %s %v is outside what %s can hold", u.path, keyword, node[keyword], t)
		}
	}
	return node, nil
}

// quoted is the schema of a number or boolean written as a string.
func quoted(kind shape) map[string]any {
	switch kind {
	case shapeBoolean:
		return map[string]any{"type": "string", "enum": []any{"true", "false"}}
	case shapeInteger:
		return map[string]any{"type": "string", "pattern": `^-?(0|[1-9][0-9]*)$`}
	default:
		return map[string]any{"type": "string", "pattern": `^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`}
	}
}

// collection mends a slice, an array or a map and what it holds.
func (b *builder) collection(kind shape, t reflect.Type, u use, node any) (any, error) {
	inner, at, inside := "items", "[]", map[string]any{"type": "array"}
	if kind == shapeTable {
		inner, at, inside = "additionalProperties", "{}", map[string]any{"type": "object"}
	}
	source, _ := node.(map[string]any)
	// A named slice is written out: its uses differ in their constraints.
	if ref, ok := source["$ref"].(string); ok {
		source, _ = b.defs[strings.TrimPrefix(ref, defsPrefix)].(map[string]any)
	}
	rest, err := constrain(inside, kind, t, u.tags)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u.path, err)
	}
	if t.Kind() == reflect.Array {
		if inside["minItems"] != nil || inside["maxItems"] != nil {
			return nil, fmt.Errorf("%s: the length of %s is fixed", u.path, t)
		}
		inside["minItems"], inside["maxItems"] = text(int64(t.Len())), text(int64(t.Len()))
	}
	inside[inner], err = b.mend(use{typ: t.Elem(), path: u.path + at, tags: rest}, source[inner])
	if err != nil {
		return nil, err
	}
	return inside, nil
}

// structure mends the definition of a struct, once.
func (b *builder) structure(t reflect.Type, path string) error {
	if b.done[t] {
		return nil
	}
	b.done[t] = true
	definition, ok := b.defs[b.name(t)].(map[string]any)
	if !ok {
		return fmt.Errorf("%s: the reflector gave it no definition", path)
	}
	made, _ := definition["properties"].(map[string]any)
	properties, required := map[string]any{}, []any{}
	for _, f := range b.fields[t] {
		at := path + "." + f.path
		node, ok := made[f.name]
		if !ok {
			return fmt.Errorf("%s: its tags hide the member %q, which encoding/json writes", at, f.name)
		}
		mended, err := b.mend(use{typ: f.typ, path: at, tags: f.tags, elided: f.elided, quoted: f.quoted}, node)
		if err != nil {
			return err
		}
		properties[f.name] = mended
		if !f.optional {
			required = append(required, f.name)
		}
	}
	definition["properties"], definition["additionalProperties"] = properties, false
	delete(definition, "required")
	if len(required) > 0 {
		definition["required"] = required
	}
	return nil
}

// nullable lets a node also be null. What is said about the place stays outside.
func nullable(node any) any {
	object, ok := node.(map[string]any)
	if !ok {
		return node // true already allows it
	}
	null := map[string]any{"type": "null"}
	if name, ok := object["type"].(string); ok && object["enum"] == nil && object["const"] == nil {
		object["type"] = []any{name, "null"}
		return object
	}
	outer := map[string]any{}
	for _, keyword := range []string{"title", "description", "default", "examples"} {
		if value, ok := object[keyword]; ok {
			outer[keyword] = value
			delete(object, keyword)
		}
	}
	outer["anyOf"] = []any{object, null}
	return outer
}
