package wire

import (
	"bytes"
	"strconv"
	"strings"
)

// Object is one of the protocol's objects, requests and responses: a pointer to
// a type of this package.
type Object interface {
	// fields names the members of the object in the order in which they are
	// written. Reading and writing both go through it, so that neither can know
	// a member that the other does not.
	fields(c *codec)
}

// Encode returns an object as ProtoJSON on one line. Members that say nothing
// are left out, as ProtoJSON leaves them, but for those that the specification
// wants to see always. Metadata and data parts go out as the JSON that they are;
// whoever sets them answers for it.
func Encode(o Object) []byte {
	c := codec{writing: true, out: make([]byte, 0, 512)}
	c.write(o)
	return c.out
}

// Decode reads a request, or an object that came in one, into its zero value.
// It is as generous as ProtoJSON asks: names in camelCase or snake_case, enums
// by name or number, integers as numbers or strings, null for what is absent,
// members that it does not know ignored. The error is a *Error: ParseError for
// what is not JSON in UTF-8, is more than 64 levels deep or has an object with
// the same name twice; InvalidParams, with the place, for a fault in what it
// says. What it reads it copies; data stays the caller's.
func Decode(data []byte, into Object) error {
	if err := check(data); err != nil {
		return err
	}
	return newReader().decode(bytes.Clone(data), into)
}

// DecodeResult reads what a server answered. It is Decode, but every fault is
// an InvalidAgentResponse.
func DecodeResult(data []byte, into Object) error {
	return asAnswer(Decode(data, into))
}

func asAnswer(err error) error {
	if e, ok := err.(*Error); ok {
		e.Kind = InvalidAgentResponse
	}
	return err
}

// codec carries the members of objects one way: from JSON into Go values, or
// back. After the first fault it reads nothing more.
type codec struct {
	writing bool
	out     []byte

	stack []member // of the objects on the way to the one at hand
	base  int      // where in stack those of the object at hand begin
	path  []step
	err   *Error
	// loose: all scalars are strings, as in a query.
	loose bool
}

// step is a member or an element on the way from the root.
type step struct {
	name  string
	index int // of an element; -1 when the step is a member
}

// newReader is a codec that reads, with room for what an ordinary message has.
func newReader() *codec {
	r := &struct {
		codec
		members [8]member
		steps   [4]step
	}{}
	r.stack, r.path = r.members[:0], r.steps[:0]
	return &r.codec
}

// decode reads a checked text. The error is nil or a *Error.
func (c *codec) decode(text []byte, into Object) error {
	c.read(trim(text), into)
	return c.fault()
}

func (c *codec) fault() error {
	if c.err != nil {
		return c.err
	}
	return nil
}

func (c *codec) read(value []byte, into Object) {
	if value[0] != '{' {
		c.fail("", "expected an object, got %s", kindOf(value))
		return
	}
	base := c.base
	c.base = len(c.stack)
	c.stack = appendMembers(c.stack, value)
	into.fields(c)
	c.stack, c.base = c.stack[:c.base], base
}

func (c *codec) write(o Object) {
	c.out = append(c.out, '{')
	o.fields(c)
	c.out = append(c.out, '}')
}

// key writes the name of a member, and the comma before it.
func (c *codec) key(name string) {
	if c.out[len(c.out)-1] != '{' {
		c.out = append(c.out, ',')
	}
	c.out = append(appendString(c.out, name), ':')
}

// find returns the value of a member of the object at hand; null counts as
// absent.
func (c *codec) find(name string) ([]byte, bool) {
	value, ok := c.findAny(name)
	return value, ok && !isNull(value)
}

// findAny is find for a member that null is a value of.
func (c *codec) findAny(name string) (value []byte, ok bool) {
	if c.err != nil {
		return nil, false
	}
	for _, m := range c.stack[c.base:] {
		if !sameName(m.name, name) {
			continue
		}
		if ok {
			c.fail(name, "expected it once, got it twice")
			return nil, false
		}
		value, ok = m.value, true
	}
	return value, ok
}

// sameName reports whether a name is the camelCase one or its snake_case form.
func sameName(name []byte, camel string) bool {
	if string(name) == camel {
		return true
	}
	at := 0
	for i := range len(camel) {
		c := camel[i]
		if 'A' <= c && c <= 'Z' {
			if at == len(name) || name[at] != '_' {
				return false
			}
			at++
			c += 'a' - 'A'
		}
		if at == len(name) || name[at] != c {
			return false
		}
		at++
	}
	return at == len(name)
}

// fail keeps the first fault, at a member of the object at hand, or at the
// object itself if name is "".
func (c *codec) fail(name, format string, args ...any) {
	if c.err == nil {
		c.err = Errorf(InvalidParams, format, args...)
		c.err.Field = c.place(name)
	}
}

func (c *codec) place(name string) string {
	var b strings.Builder
	dot := func(name string) {
		if b.Len() > 0 && name != "" {
			b.WriteByte('.')
		}
		b.WriteString(name)
	}
	for _, s := range c.path {
		if s.index < 0 {
			dot(s.name)
		} else {
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		}
	}
	dot(name)
	return b.String()
}

// enter adds a step to the path, leave takes it back.
func (c *codec) enter(s step) { c.path = append(c.path, s) }

func (c *codec) leave() { c.path = c.path[:len(c.path)-1] }

// readAt is read for what is one step further on the path.
func (c *codec) readAt(s step, value []byte, into Object) {
	c.enter(s)
	c.read(value, into)
	c.leave()
}
