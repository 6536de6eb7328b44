package strictjson

import (
	"cmp"
	"math"
)

// Limits bound what one document may cost. The zero value of a field means its default.
type Limits struct {
	Bytes       int  // length of the document; default 256 KiB
	Depth       int  // arrays and objects inside one another, the root counting as one; default 32, never above 10 000
	Members     int  // members of one object; default 1 000
	StringBytes int  // UTF-8 bytes of one string or member name after unescaping; default 64 KiB
	Nodes       int  // values in the whole document; default 10 000
	AnyRoot     bool // the root may be any value; by default it must be an object
}

// maxDepth keeps the parser's own recursion far from the end of the stack, however high a caller sets the limit.
const maxDepth = 10_000

// Unlimited are the limits for a value of our own: none but that of the depth, which bounds the stack.
func Unlimited() Limits {
	const lifted = math.MaxInt
	return Limits{Bytes: lifted, Depth: lifted, Members: lifted, StringBytes: lifted, Nodes: lifted, AnyRoot: true}
}

func (l Limits) withDefaults() Limits {
	l.Bytes = cmp.Or(l.Bytes, 256<<10)
	l.Depth = min(cmp.Or(l.Depth, 32), maxDepth)
	l.Members = cmp.Or(l.Members, 1_000)
	l.StringBytes = cmp.Or(l.StringBytes, 64<<10)
	l.Nodes = cmp.Or(l.Nodes, 10_000)
	return l
}
