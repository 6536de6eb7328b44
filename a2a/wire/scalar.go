package wire

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// presence says what an absent member means.
type presence int

const (
	optional presence = iota // left out when it says nothing
	kept                     // always written; absent or empty when read is fine
	required                 // always written; absent or empty when read is a fault
)

func (c *codec) text(name string, v *string, p presence) {
	if c.writing {
		if *v != "" || p != optional {
			c.key(name)
			c.out = appendString(c.out, *v)
		}
		return
	}
	if value, ok := c.find(name); ok {
		*v, _ = c.str(name, value)
	}
	if p == required && *v == "" {
		c.fail(name, "expected a text that is not empty, got none")
	}
}

// textArm is a text that is an alternative: even an empty one is present.
func (c *codec) textArm(name string, v **string) {
	if c.writing {
		if *v != nil {
			c.key(name)
			c.out = appendString(c.out, **v)
		}
		return
	}
	if value, ok := c.find(name); ok {
		if s, ok := c.str(name, value); ok {
			*v = &s
		}
	}
}

func (c *codec) str(name string, value []byte) (string, bool) {
	if value[0] != '"' {
		c.fail(name, "expected a string, got %s", kindOf(value))
		return "", false
	}
	return unquote(value), true
}

func (c *codec) flag(name string, v *bool) {
	if c.writing {
		if *v {
			c.key(name)
			c.out = append(c.out, "true"...)
		}
		return
	}
	value, ok := c.find(name)
	if !ok {
		return
	}
	switch s := string(value); {
	case s == "true" || s == `"true"` && c.loose:
		*v = true
	case s == "false" || s == `"false"` && c.loose:
		*v = false
	default:
		c.fail(name, "expected true or false, got %s", kindOf(value))
	}
}

// count is an int32 from 0 to most; a missing one is 0.
func (c *codec) count(name string, v *int, most int, p presence) {
	if c.writing {
		if *v != 0 || p != optional {
			c.key(name)
			c.out = strconv.AppendInt(c.out, int64(*v), 10)
		}
		return
	}
	if value, ok := c.find(name); ok {
		*v = c.integer(name, value, most)
	}
}

// countArm is a count that the sender may leave open.
func (c *codec) countArm(name string, v **int) {
	if c.writing {
		if *v != nil {
			c.key(name)
			c.out = strconv.AppendInt(c.out, int64(**v), 10)
		}
		return
	}
	if value, ok := c.find(name); ok {
		n := c.integer(name, value, math.MaxInt32)
		*v = &n
	}
}

// integer reads a number, or a string that holds one: 10, "10", 10.0 and 1e1
// are the same to ProtoJSON.
func (c *codec) integer(name string, value []byte, most int) int {
	n, ok := integer(value)
	if !ok || n < 0 || n > most {
		c.fail(name, "expected a whole number from 0 to %d, got %s", most, shown(value))
		return 0
	}
	return n
}

func integer(value []byte) (int, bool) {
	text := string(value)
	if value[0] == '"' {
		text = unquote(value)
		if text == "" || text[0] != '-' && !isDigit(text[0]) || len(text) > 32 {
			return 0, false // ParseFloat knows more words than JSON
		}
	}
	if n, err := strconv.Atoi(text); err == nil {
		return n, true
	}
	if strings.ContainsAny(text, "xX_pP") {
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		return 0, false
	}
	return int(f), true
}

// shown quotes a scalar in an error's text, if it is short.
func shown(value []byte) string {
	if len(value) > 64 || value[0] == '{' || value[0] == '[' {
		return kindOf(value)
	}
	return string(value)
}

// enum reads a name or a number. The names stand at their numbers; the one at 0
// says that nothing is specified.
func enum[E ~string](c *codec, name string, v *E, names []E, p presence) {
	if c.writing {
		if *v != "" {
			c.key(name)
			c.out = appendString(c.out, string(*v))
		} else if p != optional {
			c.key(name)
			c.out = appendString(c.out, string(names[0]))
		}
		return
	}
	value, ok := c.find(name)
	if ok {
		at := -1
		if n, ok := integer(value); ok && (value[0] != '"' || c.loose) && n >= 0 && n < len(names) {
			at = n
		} else if value[0] == '"' {
			at = slices.Index(names, E(unquote(value)))
		}
		switch {
		case at > 0:
			*v = names[at]
		case at < 0 || p == required:
			c.fail(name, "expected one of %v, got %s", names[1:], shown(value))
		}
	}
	if p == required && *v == "" {
		c.fail(name, "expected one of %v, got none", names[1:])
	}
}

// timestamp is a google.protobuf.Timestamp: written in UTC and milliseconds,
// read with any offset and up to nanoseconds.
func (c *codec) timestamp(name string, v *time.Time) {
	if c.writing {
		if !v.IsZero() {
			c.key(name)
			c.out = append(v.UTC().AppendFormat(append(c.out, '"'), "2006-01-02T15:04:05.000Z"), '"')
		}
		return
	}
	value, ok := c.find(name)
	if !ok {
		return
	}
	var t time.Time
	if value[0] != '"' || t.UnmarshalText([]byte(unquote(value))) != nil || t.UTC().Year() < 1 || t.UTC().Year() > 9999 {
		c.fail(name, "expected a timestamp such as 2025-10-28T10:30:00.000Z, got %s", shown(value))
		return
	}
	*v = t.UTC()
}

// bytes reads all four forms of base64: either alphabet, padded or not.
func (c *codec) bytes(name string, v *[]byte) {
	if c.writing {
		if *v != nil {
			c.key(name)
			c.out = append(base64.StdEncoding.AppendEncode(append(c.out, '"'), *v), '"')
		}
		return
	}
	value, ok := c.find(name)
	if !ok {
		return
	}
	text, ok := c.str(name, value)
	if !ok {
		return
	}
	bare := strings.TrimRight(text, "=")
	padded := len(bare) < len(text)
	raw, err := base64.RawStdEncoding.AppendDecode(make([]byte, 0, len(bare)), []byte(strings.NewReplacer("-", "+", "_", "/").Replace(bare)))
	if err != nil || padded && (len(text)%4 != 0 || len(text)-len(bare) > 2) {
		c.fail(name, "expected base64, got something else")
		return
	}
	*v = raw
}

// value is any JSON value, null included.
func (c *codec) value(name string, v *json.RawMessage) {
	if c.writing {
		if *v != nil {
			c.key(name)
			c.out = appendRaw(c.out, *v)
		}
		return
	}
	if value, ok := c.findAny(name); ok {
		*v = value
	}
}

// structure is a google.protobuf.Struct that is kept as it came.
func (c *codec) structure(name string, v *json.RawMessage) {
	if !c.writing {
		value, ok := c.find(name)
		if ok && value[0] != '{' {
			c.fail(name, "expected an object, got %s", kindOf(value))
		}
		if !ok || c.err != nil {
			return
		}
	}
	c.value(name, v)
}

// metadata is a google.protobuf.Struct by member.
func (c *codec) metadata(name string, v *Metadata) {
	if c.writing {
		if *v != nil {
			c.key(name)
			c.out = v.append(c.out)
		}
		return
	}
	value, ok := c.find(name)
	if !ok {
		return
	}
	if value[0] != '{' {
		c.fail(name, "expected an object, got %s", kindOf(value))
		return
	}
	*v = readMetadata(value)
}

func (m Metadata) append(out []byte) []byte {
	c := codec{out: append(out, '{')}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		c.key(k)
		c.out = appendRaw(c.out, m[k])
	}
	return append(c.out, '}')
}

func readMetadata(object []byte) Metadata {
	members := appendMembers(nil, object)
	m := make(Metadata, len(members))
	for _, x := range members {
		m[x.name] = x.value
	}
	return m
}
