package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// absent stands for a member that is not there. It equals itself: two members that are both missing do not differ.
type absent struct{}

// object is a JSON object. Its values are nil, bool, float64, string, []any and map[string]any.
type object map[string]any

func (o object) at(name string) any {
	if v, ok := o[name]; ok {
		return v
	}
	return absent{}
}

// decode reads one JSON document as JavaScript does: of members with one name the last counts, numbers are float64,
// every name is a name like any other.
func decode(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber() // a number too large for float64 is a number all the same
	var root any
	if err := d.Decode(&root); err != nil {
		return nil, fmt.Errorf("trace is not JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("trace is not JSON: data after the document, from byte %d", d.InputOffset())
	}
	return withFloats(root), nil
}

func withFloats(value any) any {
	switch v := value.(type) {
	case json.Number:
		f, _ := strconv.ParseFloat(string(v), 64) // out of range is ±Inf
		return f
	case []any:
		for i := range v {
			v[i] = withFloats(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = withFloats(v[name])
		}
	}
	return value
}

func scalar(value any) bool {
	switch value.(type) {
	case []any, map[string]any:
		return false
	}
	return true
}

// same tells whether two values are equal. A list or an object equals nothing.
func same(a, b any) bool { return scalar(a) && scalar(b) && a == b }

// set holds scalar values.
type set map[any]bool

func newSet(values ...any) set {
	s := set{}
	for _, v := range values {
		s.add(v)
	}
	return s
}

func (s set) add(value any) {
	if scalar(value) {
		s[value] = true
	}
}

func (s set) has(value any) bool { return scalar(value) && s[value] }

// millis is the date that a value names, in milliseconds since 1970. What names none is NaN, which is neither before
// nor after anything.
func millis(value any) float64 {
	s, _ := value.(string)
	t, ok := parseDate(s)
	if !ok {
		return math.NaN()
	}
	return float64(t.UnixMilli())
}

func isPositive(value any) bool {
	f, ok := value.(float64)
	return ok && f >= 1 && f == math.Trunc(f) && !math.IsInf(f, 0)
}
