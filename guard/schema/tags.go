package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// tag is one keyword=value of a jsonschema struct tag.
type tag struct{ keyword, value string }

// parseTags splits a jsonschema tag. A comma inside a value is written \\, in
// the source of the tag.
func parseTags(text string) ([]tag, error) {
	var tags []tag
	for _, part := range splitTag(text) {
		keyword, value, given := strings.Cut(part, "=")
		_, bare := group(keyword)
		switch {
		case keyword == "":
			continue
		case keyword == "required" && !given, keyword == "uniqueItems" && !given:
		case !bare:
			return nil, fmt.Errorf("jsonschema keyword %q is unknown (a comma in a value is written \\\\,)", keyword)
		case keyword == "required" || !given:
			return nil, fmt.Errorf("jsonschema keyword %q is not written %q", keyword, part)
		}
		again := slices.ContainsFunc(tags, func(t tag) bool { return t.keyword == keyword })
		if again && keyword != "enum" && keyword != "example" {
			return nil, fmt.Errorf("jsonschema keyword %q is there twice", keyword)
		}
		tags = append(tags, tag{keyword, value})
	}
	return tags, nil
}

func splitTag(text string) []string {
	var parts []string
	for part := range strings.SplitSeq(text, ",") {
		if last := len(parts) - 1; last >= 0 && strings.HasSuffix(parts[last], `\`) {
			parts[last] = strings.TrimSuffix(parts[last], `\`) + "," + part
			continue
		}
		parts = append(parts, part)
	}
	return parts
}

// group says what kind of value a keyword belongs to; false if it is unknown.
func group(keyword string) (string, bool) {
	switch keyword {
	case "title", "description", "required":
		return "field", true
	case "enum", "const", "default", "example":
		return "scalar", true
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return "number", true
	case "minLength", "maxLength", "pattern", "format":
		return "string", true
	case "minItems", "maxItems", "uniqueItems":
		return "array", true
	case "minProperties", "maxProperties":
		return "object", true
	}
	return "", false
}

// annotate writes a field's title and description.
func annotate(node map[string]any, tags []tag) {
	for _, t := range tags {
		if t.keyword == "title" || t.keyword == "description" {
			node[t.keyword] = t.value
		}
	}
}

// constrain writes the tags that fit the shape into the node and returns those
// left for what is inside it.
func constrain(node map[string]any, kind shape, t reflect.Type, tags []tag) ([]tag, error) {
	var rest []tag
	for _, tag := range tags {
		belongs, _ := group(tag.keyword)
		var err error
		switch {
		case belongs == "field":
		case belongs == "array" && kind == shapeList, belongs == "object" && kind == shapeTable,
			belongs == "string" && (tag.keyword == "minLength" || tag.keyword == "maxLength") && (kind == shapeText || kind == shapeBytes):
			err = count(node, tag)
		case kind == shapeList:
			rest = append(rest, tag)
		case belongs == "number" && (kind == shapeInteger || kind == shapeNumber):
			err = bound(node, kind, tag)
		case belongs == "string" && (kind == shapeText || kind == shapeTime):
			err = textual(node, tag)
		case belongs == "scalar" && kind >= shapeText:
			err = scalar(node, kind, tag)
		default:
			err = fmt.Errorf("jsonschema keyword %q does not apply to %s", tag.keyword, t)
		}
		if err != nil {
			return nil, err
		}
	}
	return rest, consistent(node)
}

func count(node map[string]any, t tag) error {
	if t.keyword == "uniqueItems" {
		node[t.keyword] = true
		if t.value != "" && t.value != "true" {
			return fmt.Errorf("jsonschema uniqueItems=%s: leave it out instead", t.value)
		}
		return nil
	}
	n, err := strconv.ParseUint(t.value, 10, 31)
	if err != nil {
		return fmt.Errorf("jsonschema %s=%s is not a count", t.keyword, t.value)
	}
	node[t.keyword] = text(int64(n))
	return nil
}

func bound(node map[string]any, kind shape, t tag) error {
	value, err := literal(kind, t)
	if err != nil {
		return err
	}
	node[t.keyword] = value
	if t.keyword == "multipleOf" && rational(value).Sign() <= 0 {
		return fmt.Errorf("jsonschema multipleOf=%s is not above zero", t.value)
	}
	return nil
}

func textual(node map[string]any, t tag) error {
	switch t.keyword {
	case "pattern":
		if _, err := regexp.Compile(t.value); err != nil {
			return fmt.Errorf("jsonschema pattern: %w (a comma in a value is written \\\\,)", err)
		}
	case "format":
		if !knownFormat(t.value) {
			return fmt.Errorf("jsonschema format %q is unknown", t.value)
		}
	}
	node[t.keyword] = t.value
	return nil
}

// knownFormat lists the formats that the validator asserts; it would let any
// other pass without a word.
func knownFormat(name string) bool {
	switch name {
	case "json-pointer", "relative-json-pointer", "uuid", "duration", "period", "ipv4", "ipv6", "hostname", "email",
		"date", "time", "date-time", "uri", "iri", "uri-reference", "iri-reference", "uri-template", "semver", "regex":
		return true
	}
	return false
}

func scalar(node map[string]any, kind shape, t tag) error {
	value, err := literal(kind, t)
	if err != nil {
		return err
	}
	switch t.keyword {
	case "const", "default":
		node[t.keyword] = value
		return nil
	}
	keyword := t.keyword
	if keyword == "example" {
		keyword = "examples"
	}
	list, _ := node[keyword].([]any)
	if slices.Contains(list, value) {
		return fmt.Errorf("jsonschema %s=%s is there twice", t.keyword, t.value)
	}
	node[keyword] = append(list, value)
	return nil
}

// literal reads the value of a tag as JSON of the shape.
func literal(kind shape, t tag) (any, error) {
	wrong := fmt.Errorf("jsonschema %s=%s is not a value of the field's type", t.keyword, t.value)
	switch kind {
	case shapeBoolean:
		switch t.value {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return nil, wrong
	case shapeInteger, shapeNumber:
		if t.value == "" || !json.Valid([]byte(t.value)) || !strings.ContainsRune("-0123456789", rune(t.value[0])) {
			return nil, wrong
		}
		value := rational(json.Number(t.value))
		if value == nil || kind == shapeInteger && !value.IsInt() {
			return nil, wrong
		}
		if kind == shapeInteger {
			return json.Number(value.Num().String()), nil
		}
		return json.Number(t.value), nil
	}
	return t.value, nil
}

// rational is the exact value of a JSON number; nil if it has none of a sane size.
func rational(value any) *big.Rat {
	number, _ := value.(json.Number)
	if float, err := number.Float64(); err != nil || len(number) > 32 || float > 1e300 || float < -1e300 {
		return nil
	}
	r, ok := new(big.Rat).SetString(number.String())
	if !ok {
		return nil
	}
	return r
}

// consistent refuses constraints that no value can meet.
func consistent(node map[string]any) error {
	for _, pair := range [][2]string{
		{"minimum", "maximum"}, {"minLength", "maxLength"}, {"minItems", "maxItems"}, {"minProperties", "maxProperties"},
		{"minimum", "exclusiveMaximum"}, {"exclusiveMinimum", "maximum"}, {"exclusiveMinimum", "exclusiveMaximum"},
	} {
		low, high := rational(node[pair[0]]), rational(node[pair[1]])
		if low == nil || high == nil {
			continue
		}
		order := low.Cmp(high)
		if order > 0 || order == 0 && (pair[0] == "exclusiveMinimum" || pair[1] == "exclusiveMaximum") {
			return fmt.Errorf("%s %v and %s %v leave no value", pair[0], node[pair[0]], pair[1], node[pair[1]])
		}
	}
	allowed, _ := node["enum"].([]any)
	if value, ok := node["const"]; ok {
		if allowed != nil {
			return fmt.Errorf("const and enum contradict each other")
		}
		allowed = []any{value}
	}
	for _, value := range allowed {
		if _, numeric := value.(json.Number); numeric && outside(node, rational(value)) {
			return fmt.Errorf("the allowed value %v is out of bounds", value)
		}
	}
	return nil
}

func outside(node map[string]any, value *big.Rat) bool {
	low, high := rational(node["minimum"]), rational(node["maximum"])
	return low != nil && value.Cmp(low) < 0 || high != nil && value.Cmp(high) > 0
}
