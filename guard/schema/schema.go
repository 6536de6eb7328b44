package schema

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-agents/parley/internal/strictjson"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Draft is the dialect of every schema that this package writes.
const Draft = "https://json-schema.org/draft/2020-12/schema"

// Schema is one compiled JSON Schema. It never changes: any number of
// goroutines may use it at once.
type Schema struct {
	doc      document
	text     []byte
	compiled *jsonschema.Schema
	sieve    *sieve
	content  bool // contentEncoding is a rule, as it is in documents made by For
}

// ID returns the document's $id, or "" if it has none.
func (s *Schema) ID() string {
	id, _ := s.doc.root["$id"].(string)
	return id
}

// JSON returns a copy of the document in its canonical form (RFC 8785).
func (s *Schema) JSON() []byte { return bytes.Clone(s.text) }

// Required returns the names of the members that a document must have, sorted.
func (s *Schema) Required() []string {
	_, root := s.doc.resolve("", s.doc.root)
	object, _ := root.(map[string]any)
	names := stringList(object["required"])
	slices.Sort(names)
	return slices.Compact(names)
}

// Properties returns the names of the members that the root declares, sorted.
func (s *Schema) Properties() []string {
	_, root := s.doc.resolve("", s.doc.root)
	object, _ := root.(map[string]any)
	properties, _ := object["properties"].(map[string]any)
	return slices.Sorted(maps.Keys(properties))
}

// stringList reads a JSON array of strings.
func stringList(value any) []string {
	list, _ := value.([]any)
	names := make([]string, 0, len(list))
	for _, item := range list {
		if name, ok := item.(string); ok {
			names = append(names, name)
		}
	}
	return names
}

// Open returns the same schema with unknown members allowed everywhere: what a
// reader uses for a message whose minor version is newer than its own. What is
// known is checked as before.
func (s *Schema) Open() *Schema {
	root := clone(s.doc.root).(map[string]any)
	// The keyword turns true instead of going away, so that a reference to its
	// place still finds a schema. The visitor cannot fail.
	_ = walk(root, "", func(_ string, node map[string]any) error {
		for _, keyword := range []string{"additionalProperties", "unevaluatedProperties"} {
			if node[keyword] == false {
				node[keyword] = true
			}
		}
		return nil
	})
	opened, err := build(root, s.content)
	if err != nil {
		return s
	}
	return opened
}

// build checks, canonicalises and compiles a document. It keeps root.
func build(root map[string]any, content bool) (*Schema, error) {
	doc, err := inspectDocument(root)
	if err != nil {
		return nil, err
	}
	text, err := strictjson.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	s := &Schema{doc: doc, text: text, content: content}
	if s.compiled, err = s.compile(""); err != nil {
		return nil, err
	}
	s.sieve = sifter{}.sieve(s.compiled)
	return s, nil
}

// location is the base that schemas compile under; it never leaves the package.
const location = "urn:parley:document"

// closed loads nothing: a schema has no business outside its own document.
type closed struct{}

func (closed) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is outside the document", url)
}

// compile compiles the sub-schema at a pointer.
func (s *Schema) compile(pointer string) (*jsonschema.Schema, error) {
	compiled, err := s.compileAll([]string{pointer})
	if err != nil {
		return nil, err
	}
	return compiled[0], nil
}

// compileAll compiles the sub-schemas at several pointers of one document.
func (s *Schema) compileAll(pointers []string) (list []*jsonschema.Schema, err error) {
	// The document of a stranger must not stop the process, not even through a
	// mistake of the compiler.
	defer func() {
		if reason := recover(); reason != nil {
			list, err = nil, fmt.Errorf("schema: the document cannot be compiled: %v", reason)
		}
	}()
	// References are all local, so the name would only be one more thing to resolve.
	anonymous := maps.Clone(s.doc.root)
	delete(anonymous, "$id")
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(closed{})
	compiler.AssertFormat()
	if s.content {
		compiler.AssertContent()
	}
	if err := compiler.AddResource(location, anonymous); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	for _, pointer := range pointers {
		compiled, err := compiler.Compile(location + "#" + fragment(pointer))
		if err != nil {
			return nil, compileError(err)
		}
		list = append(list, compiled)
	}
	return list, nil
}

// compileError says where in the document the compiler stopped.
func compileError(err error) error {
	var invalid *jsonschema.SchemaValidationError
	if !errors.As(err, &invalid) {
		return fmt.Errorf("schema: %s", strings.ReplaceAll(err.Error(), location, ""))
	}
	var cause *jsonschema.ValidationError
	if !errors.As(invalid.Err, &cause) {
		return fmt.Errorf("schema: %w", invalid.Err)
	}
	found := collector{}.leaves(cause)
	slices.SortFunc(found, compareViolations)
	return fmt.Errorf("schema: the document is not a valid schema: %s", found[0])
}
