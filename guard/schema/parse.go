package schema

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/parley-agents/parley/internal/strictjson"
)

// documentDepth is how deep a schema document may nest; documents nest about
// twice as deep as the values they describe.
const documentDepth = 64

// Parse reads a schema document that somebody else wrote, such as the input
// schema of an MCP tool. Drafts 2020-12 (the default), 2019-09 and 7 are read.
// The document must be strict JSON of at most 256 KiB, 64 levels and 10 000
// values; its references must stay inside it, and only the root may have an
// $id. The error names the place. Nothing is ever loaded.
func Parse(text []byte) (*Schema, error) {
	tree, err := strictjson.Tree(text, strictjson.Limits{Depth: documentDepth})
	if err != nil {
		return nil, fmt.Errorf("schema: the document cannot be read: %w", err)
	}
	root, ok := tree.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("schema: the document must be an object")
	}
	return build(root, false)
}

// inspectDocument applies the rules on identity and references.
func inspectDocument(root map[string]any) (document, error) {
	doc := document{root: root, anchors: map[string]string{}, refs: map[string]any{}}
	err := walk(root, "", func(pointer string, node map[string]any) error {
		if pointer != "" {
			for _, keyword := range []string{"$id", "$schema"} {
				if _, ok := node[keyword]; ok {
					return refused(join(pointer, keyword), "only the root of a document may have it")
				}
			}
		}
		if anchor, ok := node["$anchor"].(string); ok {
			doc.anchors[anchor] = pointer
		}
		return nil
	})
	if err != nil {
		return document{}, err
	}
	if err := knownDraft(root); err != nil {
		return document{}, err
	}
	err = walk(root, "", func(pointer string, node map[string]any) error {
		for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
			ref, ok := node[keyword].(string)
			if !ok {
				continue
			}
			if !strings.HasPrefix(ref, "#") {
				return refused(join(pointer, keyword), fmt.Sprintf("%s is outside the document", excerpt(ref)))
			}
			_, schema, found := doc.target(ref)
			if !found && keyword == "$ref" {
				return refused(join(pointer, keyword), fmt.Sprintf("%s is nowhere in the document", excerpt(ref)))
			}
			doc.refs[ref] = schema
		}
		return nil
	})
	if err != nil {
		return document{}, err
	}
	doc.weight, err = doc.weigh()
	return doc, err
}

func knownDraft(root map[string]any) error {
	value, ok := root["$schema"]
	if !ok {
		return nil
	}
	text, _ := value.(string)
	name := strings.TrimSuffix(text, "#")
	if _, after, found := strings.Cut(name, "://"); found {
		name = after
	}
	switch name {
	case "json-schema.org/draft/2020-12/schema", "json-schema.org/draft/2019-09/schema", "json-schema.org/draft-07/schema":
		return nil
	}
	return refused("/$schema", excerpt(value)+" is not draft 2020-12, 2019-09 or 7")
}

func refused(pointer, reason string) error {
	return fmt.Errorf("schema: document refused at %s: %s", printable(cut(pointer)), reason)
}

// fragment writes a pointer as the fragment of a URI.
func fragment(pointer string) string {
	parts := strings.Split(pointer, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/")
}
