package envelope

import (
	"encoding/base64"
	"strconv"
	"time"

	"github.com/parley-agents/parley/internal/strictjson"
)

// object is canonical JSON under construction, that ends within an object: its members are written in the order of their
// names, and those that are absent are left out. Each method returns it with what it adds.
type object []byte

func (o object) open() object { return append(o, '{') }

func (o object) shut() object { return append(o, '}') }

// next begins a member: none comes before the first.
func (o object) next() object {
	if o[len(o)-1] == '{' {
		return o
	}
	return append(o, ',')
}

// name begins a member with a name of our own.
func (o object) name(name string) object {
	o = append(o.next(), '"')
	return append(append(o, name...), '"', ':')
}

// foreign begins a member with a name of the sender's, which was checked.
func (o object) foreign(name string) object {
	return append(strictjson.AppendString(o.next(), name), ':')
}

func (o object) text(name, value string) object {
	if value == "" {
		return o
	}
	return strictjson.AppendString(o.name(name), value)
}

func (o object) number(name string, n int64) object {
	return strconv.AppendInt(o.name(name), n, 10)
}

// count is a number that is left out when it is zero.
func (o object) count(name string, n int64) object {
	if n == 0 {
		return o
	}
	return o.number(name, n)
}

func (o object) boolean(name string, b bool) object {
	return strconv.AppendBool(o.name(name), b)
}

func (o object) time(name string, t time.Time) object {
	if t.IsZero() {
		return o
	}
	return append(t.UTC().AppendFormat(append(o.name(name), '"'), time.RFC3339Nano), '"')
}

// bytes is base64url without padding.
func (o object) bytes(name string, value []byte) object {
	if len(value) == 0 {
		return o
	}
	return append(base64.RawURLEncoding.AppendEncode(append(o.name(name), '"'), value), '"')
}

func (o object) texts(name string, values []string) object {
	if len(values) == 0 {
		return o
	}
	o = append(o.name(name), '[')
	for i, value := range values {
		if i > 0 {
			o = append(o, ',')
		}
		o = strictjson.AppendString(o, value)
	}
	return append(o, ']')
}

// raw is a value in its canonical form.
func (o object) raw(name, value string) object {
	if value == "" {
		return o
	}
	return append(o.name(name), value...)
}
