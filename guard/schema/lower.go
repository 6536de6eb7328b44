package schema

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/parley-agents/parley/internal/strictjson"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Lowered is a schema in the strict subset that model endpoints can enforce, and
// the way back from what the model then writes. It never changes and may be used
// by any number of goroutines.
type Lowered struct {
	text []byte
	form *form
}

// JSON returns a copy of the lowered document in canonical form.
func (l *Lowered) JSON() []byte { return bytes.Clone(l.text) }

// Lower rewrites the schema into the strict subset (OpenAI's structured outputs,
// as of 2026-02): every object is closed and requires all its members, a member
// that may be absent may be null instead, a map is an array of {key, value}
// objects, oneOf is anyOf, and constraints outside the subset are said in the
// description. Restore takes a value back.
//
// It is an error if the schema allows any value somewhere, needs a keyword that
// the subset cannot say, or exceeds its limits: 5000 members, 10 levels, 1000
// enum values, 120 000 characters of names. The caller then does without strict.
func (s *Schema) Lower() (*Lowered, error) {
	w := &lowering{schema: s, names: map[string]string{}, forms: map[string]*form{}, defs: map[string]any{}}
	at, root := s.doc.resolve("", s.doc.root)
	lowered, shape, err := w.node(at, root)
	if err != nil {
		return nil, fmt.Errorf("lower %s: %w", s.ID(), err)
	}
	if lowered["type"] != "object" {
		return nil, fmt.Errorf("lower %s: the root must be an object with members", s.ID())
	}
	if len(w.defs) > 0 {
		lowered["$defs"] = w.defs
	}
	if err := fits(lowered); err != nil {
		return nil, fmt.Errorf("lower %s: %w", s.ID(), err)
	}
	if err := w.compileArms(); err != nil {
		return nil, fmt.Errorf("lower %s: %w", s.ID(), err)
	}
	text, err := strictjson.Marshal(lowered)
	if err != nil {
		return nil, fmt.Errorf("lower %s: %w", s.ID(), err)
	}
	return &Lowered{text: text, form: shape}, nil
}

// form says how the lowered value of a place differs from the original one.
// The zero form is a value that does not differ.
type form struct {
	members map[string]*form // of an object
	absent  map[string]bool  // members for which null means absent
	item    *form            // of an array
	entry   *form            // value of a map that is written as an array
	arms    []arm            // alternatives
	alias   *form            // the form that a reference leads to
}

type arm struct {
	form     *form
	pointer  string // of the original alternative
	node     any
	doc      document
	original *jsonschema.Schema
}

// fits tells whether a value fits the original alternative.
func (a arm) fits(value any, left *int) bool {
	return (meter{a.doc, left}).spend(a.node, value) && a.original.Validate(value) == nil
}

// lowering is one run over a document.
type lowering struct {
	schema *Schema
	names  map[string]string // pointer of a definition → its name in the lowered document
	forms  map[string]*form
	defs   map[string]any
	unions []*form
}

// node lowers the schema at a pointer.
func (w *lowering) node(at string, node any) (map[string]any, *form, error) {
	object, ok := node.(map[string]any)
	if !ok || len(object) == 0 {
		return nil, nil, fmt.Errorf("%s allows any value", place(at))
	}
	known := words(object)
	for _, keyword := range slices.Sorted(maps.Keys(object)) {
		if !lowerable(keyword) {
			return nil, nil, fmt.Errorf("%s: %s cannot be lowered", place(at), keyword)
		}
	}
	lowered, shape, err := w.core(at, object)
	if err != nil {
		return nil, nil, err
	}
	if known == "" {
		return lowered, shape, nil
	}
	if _, ref := lowered["$ref"]; ref { // a reference must stand alone
		lowered = map[string]any{"anyOf": []any{lowered}}
	}
	if inner, ok := lowered["description"].(string); ok {
		known += " " + inner
	}
	lowered["description"] = known
	return lowered, shape, nil
}

// core lowers what a schema asks for; node adds what it says.
func (w *lowering) core(at string, object map[string]any) (map[string]any, *form, error) {
	ref, referred := object["$ref"].(string)
	var union string
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		if _, ok := object[keyword]; !ok {
			continue
		}
		if union != "" || referred {
			return nil, nil, fmt.Errorf("%s: %s beside another of its kind cannot be lowered", place(at), keyword)
		}
		union = keyword
	}
	types := stringList(object["type"])
	if name, ok := object["type"].(string); ok {
		types = []string{name}
	}
	switch {
	case referred || union != "":
		for _, keyword := range []string{"properties", "items", "additionalProperties", "enum", "const", "required"} {
			if _, ok := object[keyword]; ok {
				return nil, nil, fmt.Errorf("%s: %s beside a reference or alternatives cannot be lowered", place(at), keyword)
			}
		}
		if referred {
			return w.reference(ref)
		}
		return w.union(at, union, object[union].([]any))
	case object["enum"] != nil || has(object, "const"):
		return w.closedValues(at, object)
	case len(types) == 0:
		return nil, nil, fmt.Errorf("%s allows any type", place(at))
	case len(types) == 1 && types[0] == "object":
		return w.object(at, object)
	case len(types) == 1 && types[0] == "array":
		return w.array(at, object)
	}
	if slices.Contains(types, "object") || slices.Contains(types, "array") {
		return w.mixed(at, object, types)
	}
	lowered := kept(object)
	lowered["type"] = object["type"]
	return lowered, &form{}, nil
}

// mixed lowers a type that may be null besides an object or array.
func (w *lowering) mixed(at string, object map[string]any, types []string) (map[string]any, *form, error) {
	if len(types) != 2 || !slices.Contains(types, "null") {
		return nil, nil, fmt.Errorf("%s: the types %v together cannot be lowered", place(at), types)
	}
	single := maps.Clone(object)
	single["type"] = types[0]
	if types[0] == "null" {
		single["type"] = types[1]
	}
	lowered, shape, err := w.core(at, single)
	if err != nil {
		return nil, nil, err
	}
	return orNull(lowered), shape, nil
}

func (w *lowering) reference(ref string) (map[string]any, *form, error) {
	at, target, ok := w.schema.doc.target(ref)
	if !ok {
		return nil, nil, fmt.Errorf("%s is nowhere in the document", ref)
	}
	name, met := w.names[at]
	if !met {
		name = definitionName(at, func(name string) bool { return w.defs[name] != nil })
		// Both are there before the target is lowered: it may refer to itself.
		w.names[at], w.forms[at], w.defs[name] = name, &form{}, true
		lowered, shape, err := w.node(at, target)
		if err != nil {
			return nil, nil, err
		}
		w.defs[name], w.forms[at].alias = lowered, shape
	}
	return map[string]any{"$ref": defsPrefix + name}, w.forms[at], nil
}

func (w *lowering) union(at, keyword string, arms []any) (map[string]any, *form, error) {
	if keyword == "allOf" {
		if len(arms) != 1 {
			return nil, nil, fmt.Errorf("%s: allOf cannot be lowered", place(at))
		}
		return w.node(at+"/allOf/0", arms[0])
	}
	shape := &form{}
	lowered := make([]any, 0, len(arms))
	for i, alternative := range arms {
		pointer := at + "/" + keyword + "/" + strconv.Itoa(i)
		node, inner, err := w.node(pointer, alternative)
		if err != nil {
			return nil, nil, err
		}
		lowered = append(lowered, node)
		shape.arms = append(shape.arms, arm{form: inner, pointer: pointer, node: alternative, doc: w.schema.doc})
	}
	w.unions = append(w.unions, shape)
	return map[string]any{"anyOf": lowered}, shape, nil
}

func (w *lowering) closedValues(at string, object map[string]any) (map[string]any, *form, error) {
	values, _ := object["enum"].([]any)
	if value, ok := object["const"]; ok {
		values = []any{value}
	}
	var types []any
	for _, value := range values {
		name := typeName(value)
		if name == "object" || name == "array" {
			return nil, nil, fmt.Errorf("%s: an %s among the allowed values cannot be lowered", place(at), name)
		}
		if !slices.Contains(types, any(name)) {
			types = append(types, name)
		}
	}
	lowered := map[string]any{"enum": values}
	switch {
	case object["type"] != nil:
		lowered["type"] = object["type"]
	case len(types) == 1:
		lowered["type"] = types[0]
	default:
		lowered["type"] = types
	}
	return lowered, &form{}, nil
}

func (w *lowering) object(at string, object map[string]any) (map[string]any, *form, error) {
	properties, _ := object["properties"].(map[string]any)
	entry, isMap := object["additionalProperties"].(map[string]any)
	if len(properties) == 0 && object["additionalProperties"] != false {
		if !isMap {
			return nil, nil, fmt.Errorf("%s allows any members", place(at))
		}
		return w.table(at, entry)
	}
	if isMap {
		return nil, nil, fmt.Errorf("%s: members of any name beside known ones cannot be lowered", place(at))
	}
	required := stringList(object["required"])
	shape := &form{members: map[string]*form{}, absent: map[string]bool{}}
	members, names := map[string]any{}, []any{}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		below := join(join(at, "properties"), name)
		lowered, inner, err := w.node(below, properties[name])
		if err != nil {
			return nil, nil, err
		}
		if !slices.Contains(required, name) && !w.schema.doc.allowsNull(properties[name], 0) {
			lowered = orNull(lowered)
			shape.absent[name] = true
		}
		members[name], shape.members[name] = lowered, inner
		names = append(names, name)
	}
	for _, name := range required {
		if _, ok := members[name]; !ok {
			return nil, nil, fmt.Errorf("%s requires %q but does not say what it is", place(at), name)
		}
	}
	return closedObject(members, names), shape, nil
}

func closedObject(members map[string]any, names []any) map[string]any {
	return map[string]any{"type": "object", "properties": members, "required": names, "additionalProperties": false}
}

// table lowers a map to an array of its entries.
func (w *lowering) table(at string, entry map[string]any) (map[string]any, *form, error) {
	value, inner, err := w.node(join(at, "additionalProperties"), entry)
	if err != nil {
		return nil, nil, err
	}
	pair := closedObject(map[string]any{"key": map[string]any{"type": "string"}, "value": value}, []any{"key", "value"})
	return map[string]any{"type": "array", "items": pair}, &form{entry: inner}, nil
}

func (w *lowering) array(at string, object map[string]any) (map[string]any, *form, error) {
	items, ok := object["items"]
	if !ok {
		return nil, nil, fmt.Errorf("%s allows any items", place(at))
	}
	inside, inner, err := w.node(join(at, "items"), items)
	if err != nil {
		return nil, nil, err
	}
	lowered := kept(object)
	lowered["type"], lowered["items"] = "array", inside
	return lowered, &form{item: inner}, nil
}

// compileArms prepares the choice among alternatives.
func (w *lowering) compileArms() error {
	var pointers []string
	for _, union := range w.unions {
		for _, a := range union.arms {
			pointers = append(pointers, a.pointer)
		}
	}
	compiled, err := w.schema.compileAll(pointers)
	if err != nil {
		return err
	}
	for _, union := range w.unions {
		for i := range union.arms {
			union.arms[i].original, compiled = compiled[0], compiled[1:]
		}
	}
	return nil
}

// allowsNull tells whether a schema lets a value be null.
func (d document) allowsNull(node any, depth int) bool {
	object, ok := node.(map[string]any)
	if !ok || depth > maxRefs {
		return node == true
	}
	if ref, ok := object["$ref"].(string); ok {
		if _, target, ok := d.target(ref); ok && !d.allowsNull(target, depth+1) {
			return false
		}
	}
	if name, ok := object["type"].(string); ok && name != "null" {
		return false
	}
	if list, ok := object["type"].([]any); ok && !slices.Contains(list, any("null")) {
		return false
	}
	if values, ok := object["enum"].([]any); ok && !slices.Contains(values, nil) {
		return false
	}
	if value, ok := object["const"]; ok && value != nil {
		return false
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		arms, ok := object[keyword].([]any)
		if !ok {
			continue
		}
		allows := func(arm any) bool { return d.allowsNull(arm, depth+1) }
		if keyword == "allOf" && !all(arms, allows) || keyword != "allOf" && !slices.ContainsFunc(arms, allows) {
			return false
		}
	}
	return true
}

func all(list []any, test func(any) bool) bool {
	return !slices.ContainsFunc(list, func(item any) bool { return !test(item) })
}

func has(object map[string]any, keyword string) bool {
	_, ok := object[keyword]
	return ok
}

// orNull lets a lowered node also be null.
func orNull(node map[string]any) map[string]any {
	null := map[string]any{"type": "null"}
	if arms, ok := node["anyOf"].([]any); ok {
		for _, arm := range arms {
			if object, ok := arm.(map[string]any); ok && object["type"] == "null" {
				return node
			}
		}
		node["anyOf"] = append(arms, null)
		return node
	}
	types, ok := node["type"].([]any)
	if name, single := node["type"].(string); single {
		types, ok = []any{name}, true
	}
	if !ok {
		return map[string]any{"anyOf": []any{node, null}}
	}
	if !slices.Contains(types, any("null")) {
		node["type"] = append(slices.Clip(types), "null")
	}
	if values, ok := node["enum"].([]any); ok && !slices.Contains(values, nil) {
		node["enum"] = append(slices.Clip(values), nil)
	}
	return node
}

func place(pointer string) string {
	if pointer == "" {
		return "the root"
	}
	return printable(cut(pointer))
}
