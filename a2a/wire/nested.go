package wire

import (
	"iter"
	"slices"
)

// objectOf lets the functions of this file make a T and read it.
type objectOf[T any] interface {
	*T
	Object
}

// one is a member that is an object. An optional one is left out when it would
// be empty.
func one[T any, P objectOf[T]](c *codec, name string, v *T, p presence) {
	if c.writing {
		before := len(c.out)
		c.key(name)
		start := len(c.out)
		c.write(P(v))
		if p == optional && len(c.out) == start+len("{}") {
			c.out = c.out[:before]
		}
		return
	}
	value, ok := c.find(name)
	if ok {
		c.readAt(step{name, -1}, value, P(v))
	} else if p == required {
		c.fail(name, "expected an object, got none")
	}
}

// maybe is a member that is an object or nil.
func maybe[T any, P objectOf[T]](c *codec, name string, v **T) {
	if c.writing {
		if *v != nil {
			c.key(name)
			c.write(P(*v))
		}
		return
	}
	if value, ok := c.find(name); ok {
		*v = new(T)
		c.readAt(step{name, -1}, value, P(*v))
	}
}

// list is a member that is an array of objects.
func list[T any, P objectOf[T]](c *codec, name string, v *[]T, p presence) {
	if c.writing {
		c.array(name, len(*v), p, func(i int) { c.write(P(&(*v)[i])) })
		return
	}
	for value := range c.each(name) {
		*v = append(*v, *new(T))
		c.read(value, P(&(*v)[len(*v)-1]))
	}
	if p == required && len(*v) == 0 {
		c.fail(name, "expected at least one element, got none")
	}
}

// texts is a member that is an array of strings.
func (c *codec) texts(name string, v *[]string, p presence) {
	if c.writing {
		c.array(name, len(*v), p, func(i int) { c.out = appendString(c.out, (*v)[i]) })
		return
	}
	for value := range c.each(name) {
		if s, ok := c.str("", value); ok {
			*v = append(*v, s)
		}
	}
}

func (c *codec) array(name string, n int, p presence, element func(i int)) {
	if n == 0 && p == optional {
		return
	}
	c.key(name)
	c.out = append(c.out, '[')
	for i := range n {
		if i > 0 {
			c.out = append(c.out, ',')
		}
		element(i)
	}
	c.out = append(c.out, ']')
}

// each are the elements of a member that is an array, each read at its place.
func (c *codec) each(name string) iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) {
		value, ok := c.find(name)
		if !ok {
			return
		}
		if value[0] != '[' {
			c.fail(name, "expected an array, got %s", kindOf(value))
			return
		}
		c.enter(step{name, -1})
		i := 0
		for e := range elements(value) {
			c.enter(step{"", i})
			more := yield(e)
			c.leave()
			i++
			if !more || c.err != nil {
				break
			}
		}
		c.leave()
	}
}

// mapOf is a member that is a map of objects by name.
func mapOf[T any, P objectOf[T]](c *codec, name string, v *map[string]T) {
	if c.writing {
		if len(*v) > 0 {
			c.key(name)
			c.out = append(c.out, '{')
			for _, k := range sorted(*v) {
				c.key(k)
				item := (*v)[k]
				c.write(P(&item))
			}
			c.out = append(c.out, '}')
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
	*v = map[string]T{}
	c.enter(step{name, -1})
	for _, m := range appendMembers(nil, value) {
		var item T
		name := string(m.name)
		c.readAt(step{name, -1}, m.value, P(&item))
		(*v)[name] = item
	}
	c.leave()
}

// sorted are the names of a map in order.
func sorted[T any](m map[string]T) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// exactlyOne is the rule of a oneof: one of its alternatives is there.
func (c *codec) exactlyOne(names string, present ...bool) {
	if c.writing {
		return
	}
	n := 0
	for _, p := range present {
		if p {
			n++
		}
	}
	switch {
	case n == 0:
		c.fail("", "expected exactly one of %s, got none", names)
	case n > 1:
		c.fail("", "expected exactly one of %s, got %d", names, n)
	}
}
