package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// excerptRunes is how much of a value a violation repeats.
const excerptRunes = 80

// describe names the type of a JSON value and shows its beginning.
func describe(value any) string {
	if value == nil {
		return "null"
	}
	return typeName(value) + " " + excerpt(value)
}

func typeName(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	default:
		return "number"
	}
}

// excerpt is the beginning of a value's JSON text, safe to show.
func excerpt(value any) string {
	if text, ok := value.(string); ok {
		value = cut(text) // spares writing out what is cut off anyway
	}
	text, err := json.Marshal(value)
	if err != nil {
		return typeName(value)
	}
	return printable(cut(string(text)))
}

// cut keeps the first 80 runes of a text.
func cut(text string) string {
	count := 0
	for i := range text {
		if count == excerptRunes {
			return text[:i] + "…"
		}
		count++
	}
	return text
}

// printable escapes what a terminal or a reader could mistake for something
// else: control characters, bidirectional marks, characters without width.
func printable(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return text
	}
	var safe strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			safe.WriteRune(r)
		} else {
			fmt.Fprintf(&safe, `\u{%x}`, r)
		}
	}
	return safe.String()
}
