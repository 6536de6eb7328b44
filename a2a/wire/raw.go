package wire

import "encoding/json"

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
	for _, k := range sorted(m) {
		c.key(k)
		c.out = appendRaw(c.out, m[k])
	}
	return append(c.out, '}')
}

func readMetadata(object []byte) Metadata {
	var room [8]member
	members := appendMembers(room[:0], object)
	m := make(Metadata, len(members))
	for _, x := range members {
		m[string(x.name)] = x.value
	}
	return m
}
