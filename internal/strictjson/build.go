package strictjson

import (
	"encoding/base64"
	"strconv"
	"time"
)

// Builder is JSON under construction that ends within an object. What is absent is left out, and the result is canonical
// if members are written in the order of their names. Each method returns the builder with what it adds.
type Builder []byte

// Open begins an object.
func (o Builder) Open() Builder { return append(o, '{') }

// Shut ends an object.
func (o Builder) Shut() Builder { return append(o, '}') }

// next begins a member: none comes before the first.
func (o Builder) next() Builder {
	if o[len(o)-1] == '{' {
		return o
	}
	return append(o, ',')
}

// Name begins a member with a name of our own, which needs no escapes.
func (o Builder) Name(name string) Builder {
	o = append(o.next(), '"')
	return append(append(o, name...), '"', ':')
}

// Foreign begins a member with somebody else's name.
func (o Builder) Foreign(name string) Builder {
	return append(AppendString(o.next(), name), ':')
}

// Text is left out when it is empty.
func (o Builder) Text(name, value string) Builder {
	if value == "" {
		return o
	}
	return AppendString(o.Name(name), value)
}

// Number is a whole number.
func (o Builder) Number(name string, n int64) Builder {
	return strconv.AppendInt(o.Name(name), n, 10)
}

// Count is a number that is left out when it is zero.
func (o Builder) Count(name string, n int64) Builder {
	if n == 0 {
		return o
	}
	return o.Number(name, n)
}

// Boolean is true or false.
func (o Builder) Boolean(name string, b bool) Builder {
	return strconv.AppendBool(o.Name(name), b)
}

// Flag is true, left out when it is false.
func (o Builder) Flag(name string, b bool) Builder {
	if !b {
		return o
	}
	return o.Boolean(name, b)
}

// Time is RFC 3339 in UTC, left out when it is zero; its year must have four digits.
func (o Builder) Time(name string, t time.Time) Builder {
	if t.IsZero() {
		return o
	}
	return append(t.UTC().AppendFormat(append(o.Name(name), '"'), time.RFC3339Nano), '"')
}

// Bytes are base64url without padding, left out when there are none.
func (o Builder) Bytes(name string, value []byte) Builder {
	if len(value) == 0 {
		return o
	}
	return append(base64.RawURLEncoding.AppendEncode(append(o.Name(name), '"'), value), '"')
}

// Texts are left out when there are none.
func (o Builder) Texts(name string, values []string) Builder {
	if len(values) == 0 {
		return o
	}
	o = append(o.Name(name), '[')
	for i, value := range values {
		if i > 0 {
			o = append(o, ',')
		}
		o = AppendString(o, value)
	}
	return append(o, ']')
}

// Raw is a value as it is written, left out when it is empty.
func (o Builder) Raw(name, value string) Builder {
	if value == "" {
		return o
	}
	return append(o.Name(name), value...)
}
