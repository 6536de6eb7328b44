package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits of the strict subset.
const (
	maxMembers = 5000
	maxLevels  = 10
	maxValues  = 1000
	maxText    = 120_000
)

// lowerable tells whether the lowering knows what to do with a keyword. What
// only informs, or can be said in words, it knows.
func lowerable(keyword string) bool {
	switch keyword {
	case "$schema", "$id", "$anchor", "$comment", "$defs", "definitions", "$ref",
		"type", "enum", "const", "properties", "required", "additionalProperties", "items", "anyOf", "oneOf", "allOf",
		"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems",
		"minLength", "maxLength", "pattern", "format", "uniqueItems", "minProperties", "maxProperties", "propertyNames",
		"contentEncoding", "contentMediaType":
		return true
	}
	return strings.HasPrefix(keyword, "x-")
}

// kept copies the constraints that the subset can say.
func kept(object map[string]any) map[string]any {
	lowered := map[string]any{}
	for _, keyword := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems"} {
		if value, ok := object[keyword]; ok && !implied(value) {
			lowered[keyword] = value
		}
	}
	if format, _ := object["format"].(string); strictFormat(format) {
		lowered["format"] = format
	}
	return lowered
}

// implied tells the bound that every integer has here; to a model it is noise.
func implied(value any) bool {
	return value == text(exact) || value == text(-exact)
}

func strictFormat(name string) bool {
	switch name {
	case "date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid":
		return true
	}
	return false
}

// words is the description of a schema, followed by the constraints that the
// subset cannot say.
func words(object map[string]any) string {
	var said []string
	if description, _ := object["description"].(string); description != "" {
		said = append(said, description)
	}
	say := func(keyword, sentence string) {
		if value, ok := object[keyword]; ok {
			said = append(said, fmt.Sprintf(sentence, plain(value)))
		}
	}
	say("minLength", "At least %s characters.")
	say("maxLength", "At most %s characters.")
	say("pattern", "Matches the regular expression %s .")
	if format, _ := object["format"].(string); !strictFormat(format) {
		say("format", "In the format %s.")
	}
	say("contentEncoding", "Encoded as %s.")
	say("contentMediaType", "Holds %s.")
	say("minProperties", "At least %s entries.")
	say("maxProperties", "At most %s entries.")
	if names, ok := object["propertyNames"].(map[string]any); ok {
		if rule := words(names); rule != "" {
			said = append(said, "Each key: "+rule)
		}
	}
	if object["uniqueItems"] == true {
		said = append(said, "No two items are equal.")
	}
	say("default", "If left out: %s.")
	return strings.Join(said, " ")
}

func plain(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	text, err := json.Marshal(value)
	if err != nil {
		return typeName(value)
	}
	return string(text)
}

// fits checks a lowered document against the limits of the subset.
func fits(root map[string]any) error {
	var members, values, text int
	err := walk(root, "", func(_ string, node map[string]any) error {
		for _, table := range []string{"properties", "$defs"} {
			named, _ := node[table].(map[string]any)
			for name := range named {
				text += utf8.RuneCountInString(name)
			}
			if table == "properties" {
				members += len(named)
			}
		}
		list, _ := node["enum"].([]any)
		values += len(list)
		var long int
		for _, value := range list {
			long += utf8.RuneCountInString(plain(value))
		}
		if text += long; len(list) > 250 && long > 15_000 {
			return fmt.Errorf("one enum of more than 250 values has more than 15000 characters")
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case members > maxMembers:
		return fmt.Errorf("%d members are more than %d", members, maxMembers)
	case values > maxValues:
		return fmt.Errorf("%d enum values are more than %d", values, maxValues)
	case text > maxText:
		return fmt.Errorf("%d characters of names and values are more than %d", text, maxText)
	}
	if deep := levels(root); deep > maxLevels {
		return fmt.Errorf("%d levels are more than %d", deep, maxLevels)
	}
	return nil
}

// levels counts the objects and arrays that a document writes inside one another;
// a reference starts anew.
func levels(node map[string]any) int {
	own, deepest := 0, 0
	for _, keyword := range []string{"properties", "items"} {
		if _, ok := node[keyword]; ok {
			own = 1
		}
	}
	for at, child := range subschemas(node) {
		object, _ := child.(map[string]any)
		below := levels(object)
		if strings.HasPrefix(at, "/$defs/") {
			below -= own // a definition does not stand inside the root
		}
		deepest = max(deepest, below)
	}
	return own + deepest
}
