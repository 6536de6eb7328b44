package llm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Miss is a request that a cassette has no reply for, beside the recorded one that is
// most like it.
type Miss struct {
	Key   string // the SHA-256 of the request in hex
	Times int    // how often it was recorded; above 0 it was asked more often than that
	Line  int    // the line of the nearest recorded request; 0 in an empty cassette
	// Differences are all the places in which the request differs from that one, in
	// the order of their pointers.
	Differences []Difference
}

// Difference is a place where two requests differ.
type Difference struct {
	Pointer         string // JSON pointer into the recorded request (RFC 6901)
	Asked, Recorded string // the JSON text at that place; empty when there is nothing
}

// differencesShown bounds the text of a Miss, which has the rest as values.
const differencesShown = 5

// Error shows the nearest recorded request by its first differences.
func (m *Miss) Error() string {
	switch {
	case m.Times > 0:
		return fmt.Sprintf("cassette: request %.12s was recorded %d times, last on line %d, and asked again", m.Key, m.Times, m.Line)
	case m.Line == 0:
		return fmt.Sprintf("cassette: request %.12s is not recorded: the cassette is empty", m.Key)
	}
	var s strings.Builder
	places := "places"
	if len(m.Differences) == 1 {
		places = "place"
	}
	fmt.Fprintf(&s, "cassette: request %.12s is not recorded; the nearest, on line %d, differs in %d %s", m.Key, m.Line, len(m.Differences), places)
	for i, d := range m.Differences {
		if i == differencesShown {
			s.WriteString("; …")
			break
		}
		fmt.Fprintf(&s, "; %s: asked %s, recorded %s", d.Pointer, shown(d.Asked), shown(d.Recorded))
	}
	return s.String()
}

func shown(value string) string {
	if value == "" {
		return "nothing"
	}
	return clip(value, 120)
}

// miss compares a request with every recorded one.
func (p *Replayer) miss(request json.RawMessage) *Miss {
	out := &Miss{Key: keyOf(request)}
	asked := leaves(request)
	for i, entry := range p.recordings {
		found := differences(asked, leaves(entry.Request))
		if out.Line == 0 || len(found) < len(out.Differences) {
			out.Line, out.Differences = p.lines[i], found
		}
	}
	return out
}

func differences(asked, recorded map[string]string) []Difference {
	var out []Difference
	for pointer, value := range asked {
		if recorded[pointer] != value {
			out = append(out, Difference{pointer, value, recorded[pointer]})
		}
	}
	for pointer, value := range recorded {
		if _, ok := asked[pointer]; !ok {
			out = append(out, Difference{pointer, "", value})
		}
	}
	slices.SortFunc(out, func(a, b Difference) int { return strings.Compare(a.Pointer, b.Pointer) })
	return out
}

// leaves returns the values inside a document that have no members or elements, as
// JSON text by their pointer.
func leaves(raw json.RawMessage) map[string]string {
	out := map[string]string{}
	var walk func(pointer string, v any)
	walk = func(pointer string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				walk(pointer+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name), inner)
			}
			if len(v) > 0 {
				return
			}
		case []any:
			for i, inner := range v {
				walk(pointer+"/"+strconv.Itoa(i), inner)
			}
			if len(v) > 0 {
				return
			}
		}
		if pointer != "" {
			text, _ := json.Marshal(v) // decoded from JSON, so it encodes
			out[pointer] = string(text)
		}
	}
	tree, _ := numbered(raw) // read before
	walk("", tree)
	return out
}
