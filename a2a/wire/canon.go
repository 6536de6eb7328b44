package wire

import (
	"fmt"
	"slices"

	"github.com/parley-agents/parley/internal/strictjson"
)

// shape says which members of an object a signature does not cover at their
// default value (section 8.4.1): those that are neither REQUIRED nor optional
// in the proto, nor objects. Members it does not name are kept as they are.
type shape struct {
	plain []string         // dropped when "", false, [] or {}
	child map[string]shape // objects, or arrays of objects
	maps  map[string]shape // objects by name, with the shape of each
}

// cardShape is the shape of an AgentCard.
func cardShape() shape {
	requirement := shape{plain: []string{"schemes"}, maps: map[string]shape{"schemes": {plain: []string{"list"}}}}
	refresh := shape{plain: []string{"refreshUrl"}}
	deprecated := shape{plain: []string{"authorizationUrl", "tokenUrl", "refreshUrl", "scopes"}}
	described := shape{plain: []string{"description"}}
	scheme := shape{child: map[string]shape{
		"apiKeySecurityScheme":   described,
		"httpAuthSecurityScheme": {plain: []string{"description", "bearerFormat"}},
		"oauth2SecurityScheme": {
			plain: []string{"description", "oauth2MetadataUrl"},
			child: map[string]shape{"flows": {child: map[string]shape{
				"authorizationCode": {plain: []string{"refreshUrl", "pkceRequired"}},
				"clientCredentials": refresh,
				"deviceCode":        refresh,
				"implicit":          deprecated,
				"password":          deprecated,
			}}},
		},
		"openIdConnectSecurityScheme": described,
		"mtlsSecurityScheme":          described,
	}}
	return shape{
		plain: []string{"securitySchemes", "securityRequirements", "signatures"},
		child: map[string]shape{
			"supportedInterfaces": {plain: []string{"tenant"}},
			"capabilities": {
				plain: []string{"extensions"},
				child: map[string]shape{"extensions": {plain: []string{"uri", "description", "required"}}},
			},
			"securityRequirements": requirement,
			"skills": {
				plain: []string{"examples", "inputModes", "outputModes", "securityRequirements"},
				child: map[string]shape{"securityRequirements": requirement},
			},
		},
		maps: map[string]shape{"securitySchemes": scheme},
	}
}

// signedBytes is what a signature of a card is over: RFC 8785 of the tree that
// came, without its signatures and without what says nothing. The card is a
// checked text of an object.
func signedBytes(card []byte) ([]byte, error) {
	bare := codec{writing: true, out: []byte("{")}
	for _, m := range appendMembers(nil, card) {
		if string(m.name) != "signatures" {
			bare.key(string(m.name))
			bare.out = append(bare.out, m.value...)
		}
	}
	pruned := cardShape().prune(nil, append(bare.out, '}'))
	limits := strictjson.Limits{Bytes: 1 << 20, StringBytes: 1 << 20, Nodes: 100_000, Depth: maxDepth}
	payload, err := strictjson.Canonical(pruned, limits)
	if err != nil {
		return nil, fmt.Errorf("agent card has no canonical form: %w", err)
	}
	return payload, nil
}

// prune appends a value to out: an object, or an array of them, without the
// members that say nothing; anything else as it is.
func (s shape) prune(out, value []byte) []byte {
	switch value[0] {
	case '[':
		return s.pruneArray(out, value)
	case '{':
	default:
		return append(out, value...)
	}
	c := codec{out: append(out, '{')}
	for _, m := range appendMembers(nil, value) {
		name := string(m.name)
		if isNull(m.value) || slices.Contains(s.plain, name) && isDefault(m.value) {
			continue
		}
		c.key(name)
		if child, ok := s.child[name]; ok {
			c.out = child.prune(c.out, m.value)
		} else if each, ok := s.maps[name]; ok && m.value[0] == '{' {
			c.out = each.pruneMap(c.out, m.value)
		} else {
			c.out = append(c.out, m.value...)
		}
	}
	return append(c.out, '}')
}

func (s shape) pruneArray(out, array []byte) []byte {
	out = append(out, '[')
	for e := range elements(array) {
		if out[len(out)-1] != '[' {
			out = append(out, ',')
		}
		out = s.prune(out, e)
	}
	return append(out, ']')
}

func (s shape) pruneMap(out, object []byte) []byte {
	c := codec{out: append(out, '{')}
	for _, m := range appendMembers(nil, object) {
		c.key(string(m.name))
		c.out = s.prune(c.out, m.value)
	}
	return append(c.out, '}')
}

func isDefault(value []byte) bool {
	switch value[0] {
	case '"':
		return len(value) == len(`""`)
	case '[', '{':
		return next(value, 1) == len(value)-1
	}
	return string(value) == "false"
}
