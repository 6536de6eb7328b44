package schema

// maxSteps bounds the schemas that one document may meet while it is checked, and
// the forms it may meet while it is restored. A plain document of the largest
// size needs a small part of it; alternatives inside alternatives multiply.
const maxSteps = 200_000

// meter counts, without judging, the steps that checking a value would take, so
// that a schema and a value made for each other cannot keep the process busy.
type meter struct {
	doc  document
	left *int
}

// spend counts for one value and one schema; false once nothing is left.
func (m meter) spend(node, value any) bool {
	if *m.left--; *m.left < 0 {
		return false
	}
	object, ok := node.(map[string]any)
	if !ok || !typeFits(object["type"], value) {
		return true // the validator stops here too
	}
	for keyword, part := range object {
		if !m.keyword(object, keyword, part, value) {
			return false
		}
	}
	return true
}

func (m meter) keyword(object map[string]any, keyword string, part, value any) bool {
	switch keyword {
	case "$ref", "$dynamicRef", "$recursiveRef":
		ref, _ := part.(string)
		return m.spend(m.doc.refs[ref], value)
	case "not", "if", "then", "else":
		return m.spend(part, value)
	case "allOf", "anyOf", "oneOf":
		arms, _ := part.([]any)
		return all(arms, func(arm any) bool { return m.spend(arm, value) })
	case "dependentSchemas", "dependencies":
		table, _ := part.(map[string]any)
		for _, schema := range table {
			if !m.spend(schema, value) {
				return false
			}
		}
		return true
	}
	switch value := value.(type) {
	case map[string]any:
		return m.members(object, keyword, part, value)
	case []any:
		return m.items(keyword, part, value)
	}
	return true
}

func (m meter) members(object map[string]any, keyword string, part any, value map[string]any) bool {
	switch keyword {
	case "properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames":
	default:
		return true
	}
	declared, _ := object["properties"].(map[string]any)
	table, _ := part.(map[string]any)
	for name, member := range value {
		switch keyword {
		case "properties":
			if schema, ok := table[name]; ok && !m.spend(schema, member) {
				return false
			}
		case "patternProperties":
			for _, schema := range table {
				if !m.spend(schema, member) {
					return false
				}
			}
		case "propertyNames":
			if !m.spend(part, name) {
				return false
			}
		default:
			if _, known := declared[name]; !known && !m.spend(part, member) {
				return false
			}
		}
	}
	return true
}

func (m meter) items(keyword string, part any, value []any) bool {
	switch keyword {
	case "items", "prefixItems", "additionalItems", "contains", "unevaluatedItems":
	default:
		return true
	}
	tuple, isTuple := part.([]any)
	for i, item := range value {
		schema := part
		if isTuple {
			if i >= len(tuple) {
				break
			}
			schema = tuple[i]
		}
		if !m.spend(schema, item) {
			return false
		}
	}
	return true
}

// typeFits tells whether the type keyword lets a value pass.
func typeFits(want, value any) bool {
	got := typeName(value)
	fits := func(name any) bool { return name == got || name == "integer" && got == "number" }
	switch want := want.(type) {
	case string:
		return fits(want)
	case []any:
		for _, name := range want {
			if fits(name) {
				return true
			}
		}
		return false
	}
	return true
}
