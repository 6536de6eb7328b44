package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-agents/parley/internal/strictjson"
)

// At returns the schema that governs the place of an instance to which an RFC
// 6901 pointer leads: what to show when only that part is asked for again. It is
// a document of its own: what it refers to comes with it under $defs. False if
// the pointer is none, leads to where no member can be, or the schema uses
// dynamic references. Among alternatives the first that can have the place counts.
func (s *Schema) At(pointer string) (json.RawMessage, bool) {
	path, ok := tokens(pointer)
	if !ok {
		return nil, false
	}
	at, node := "", any(s.doc.root)
	for _, token := range path {
		if at, node, ok = s.doc.step(at, node, token); !ok {
			return nil, false
		}
	}
	return s.doc.extract(at, node)
}

// step goes from the schema of a value to that of its member or item.
func (d document) step(at string, node any, token string) (string, any, bool) {
	object, ok := node.(map[string]any)
	if !ok {
		return "", nil, false
	}
	down := func(keyword string, names ...string) (string, any, bool) {
		below, node := join(at, keyword), object[keyword]
		for _, name := range names {
			below = join(below, name)
		}
		node, ok := lookup(node, names)
		return below, node, ok && node != false
	}
	if below, next, ok := down("properties", token); ok {
		return below, next, true
	}
	patterns, _ := object["patternProperties"].(map[string]any)
	for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
		if match, err := regexp.MatchString(pattern, token); err == nil && match {
			return down("patternProperties", pattern)
		}
	}
	if _, numeric := index(token); numeric {
		if below, next, ok := down("prefixItems", token); ok {
			return below, next, true
		}
		if below, next, ok := down("items", token); ok { // the tuples of older drafts
			return below, next, true
		}
		if _, schema := object["items"].(map[string]any); schema {
			return down("items")
		}
	}
	if _, schema := object["additionalProperties"].(map[string]any); schema {
		return down("additionalProperties")
	}
	if ref, ok := object["$ref"].(string); ok {
		if at, next, ok := d.target(ref); ok {
			if below, next, ok := d.step(at, next, token); ok {
				return below, next, true
			}
		}
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		arms, _ := object[keyword].([]any)
		for i, arm := range arms {
			if below, next, ok := d.step(fmt.Sprintf("%s/%s/%d", at, keyword, i), arm, token); ok {
				return below, next, true
			}
		}
	}
	return "", nil, false
}

// extractor copies schemas out of a document and renames what they refer to.
type extractor struct {
	doc   document
	names map[string]string // pointer of a target → its name under $defs
	defs  map[string]any
}

func (d document) extract(at string, node any) (json.RawMessage, bool) {
	object, ok := node.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	e := extractor{doc: d, names: map[string]string{}, defs: map[string]any{}}
	copied, ok := e.copy(object)
	if !ok {
		return nil, false
	}
	root := copied.(map[string]any)
	for _, keyword := range []string{"$id", "$schema", "$defs", "definitions"} {
		delete(root, keyword)
	}
	if draft, ok := d.root["$schema"]; ok {
		root["$schema"] = draft
	}
	if len(e.defs) > 0 {
		root["$defs"] = e.defs
	}
	text, err := strictjson.Marshal(root)
	return text, err == nil
}

// copy returns a node with its references rewritten; false if one is dynamic.
func (e extractor) copy(node map[string]any) (any, bool) {
	copied := clone(node)
	delete(copied.(map[string]any), "$defs")
	delete(copied.(map[string]any), "definitions")
	err := walk(copied, "", func(pointer string, node map[string]any) error {
		if node["$dynamicRef"] != nil || node["$recursiveRef"] != nil {
			return fmt.Errorf("%s: dynamic reference", pointer)
		}
		delete(node, "$anchor")
		delete(node, "$dynamicAnchor")
		ref, ok := node["$ref"].(string)
		if !ok {
			return nil
		}
		name, ok := e.carry(ref)
		if !ok {
			return fmt.Errorf("%s: reference to nowhere", pointer)
		}
		node["$ref"] = defsPrefix + name
		return nil
	})
	return copied, err == nil
}

// carry takes the target of a reference along and returns its new name.
func (e extractor) carry(ref string) (string, bool) {
	at, target, ok := e.doc.target(ref)
	if !ok {
		return "", false
	}
	if name, ok := e.names[at]; ok {
		return name, true
	}
	name := definitionName(at, func(name string) bool { return e.defs[name] != nil })
	e.names[at] = name
	e.defs[name] = true
	object, ok := target.(map[string]any)
	if !ok {
		e.defs[name] = target
		return name, true
	}
	copied, ok := e.copy(object)
	if !ok {
		return "", false
	}
	definition := copied.(map[string]any)
	delete(definition, "$id")
	delete(definition, "$schema")
	e.defs[name] = definition
	return name, true
}

// definitionName makes a name for the schema at a pointer: its own if it is a
// definition already.
func definitionName(pointer string, taken func(string) bool) string {
	base := "root"
	if pointer != "" {
		base = strings.TrimPrefix(strings.TrimPrefix(pointer, "/$defs/"), "/definitions/")
		base = strings.Map(func(r rune) rune {
			if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
				return r
			}
			return '_'
		}, strings.TrimPrefix(base, "/"))
	}
	name := base
	for i := 2; taken(name); i++ {
		name = fmt.Sprintf("%s_%d", base, i)
	}
	return name
}
