package wire

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

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
		if n, ok := numbered(value, c.loose); ok && n >= 0 && n < len(names) {
			at = n
		} else if value[0] == '"' {
			text := textOf(value)
			at = slices.IndexFunc(names, func(name E) bool { return string(name) == string(text) })
		}
		switch {
		case at > 0:
			*v = names[at]
		case at < 0 || p == required:
			c.fail(name, "expected one of %s, got %s", join(names[1:]), shown(value))
		}
	}
	if p == required && *v == "" {
		c.fail(name, "expected one of %s, got none", join(names[1:]))
	}
}

// numbered is the number of an enum's value; only a loose one may be a string.
func numbered(value []byte, loose bool) (int, bool) {
	if value[0] == '"' && !loose {
		return 0, false
	}
	return integer(value)
}

func join[E ~string](names []E) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = string(n)
	}
	return strings.Join(list, ", ")
}
