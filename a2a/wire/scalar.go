package wire

import (
	"encoding/base64"
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
