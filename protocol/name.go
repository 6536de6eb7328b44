package protocol

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Name is the versioned name of a contract, "org.path.verb/vM" or
// "org.path.verb/vM.m". Without an organisation it is "local".
type Name struct {
	// Path is the dotted path with the organisation in front.
	Path string
	// Major and Minor are the version. A minor version only adds.
	Major, Minor int
}

var namePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*)/v([1-9][0-9]{0,5})(?:\.(0|[1-9][0-9]{0,5}))?$`)
})

// kinds are the schema words that stand between a contract's path and its
// version; a contract's own verb may not be one of them.
var kinds = [...]string{"result", "progress", "bid", "item", "contribution"}

// ParseName reads a contract name.
func ParseName(s string) (Name, error) {
	m := namePattern().FindStringSubmatch(s)
	if m == nil {
		return Name{}, fmt.Errorf("contract name %q is not of the form org.path.verb/v1", s)
	}
	n := Name{Path: m[1]}
	// The pattern bounds both numbers to six digits, so neither overflows.
	n.Major, _ = strconv.Atoi(m[2])
	if m[3] != "" {
		n.Minor, _ = strconv.Atoi(m[3])
	}
	if !strings.Contains(n.Path, ".") {
		n.Path = "local." + n.Path
	}
	last := n.Path[strings.LastIndexByte(n.Path, '.')+1:]
	for _, k := range kinds {
		if last == k {
			return Name{}, fmt.Errorf("contract name %q ends in %q, which names a schema of a contract", s, k)
		}
	}
	if len(n.Path) > 200 {
		return Name{}, fmt.Errorf("contract name %q is longer than 200 characters", s)
	}
	return n, nil
}

// number is the version without its mark.
func (n Name) number() string {
	if n.Minor == 0 {
		return strconv.Itoa(n.Major)
	}
	return strconv.Itoa(n.Major) + "." + strconv.Itoa(n.Minor)
}

// String is the canonical form of the name.
func (n Name) String() string { return n.Path + "/v" + n.number() }

// Capability is the URI that envelopes and cards carry, "urn:cap:" + name.
func (n Name) Capability() string { return "urn:cap:" + n.Path + "/v" + n.number() }

// Input is the name of the schema of what the contract takes.
func (n Name) Input() string { return n.String() }

// Result is the name of the schema of what the contract returns.
func (n Name) Result() string { return n.schema("result") }

// Progress is the name of the schema of what is told before the result.
func (n Name) Progress() string { return n.schema("progress") }

// Bid is the name of the schema of a proposal in an auction.
func (n Name) Bid() string { return n.schema("bid") }

// Item is the name of the schema of one item of a stream.
func (n Name) Item() string { return n.schema("item") }

// Contribution is the name of the schema of what a member gives to a gather.
func (n Name) Contribution() string { return n.schema("contribution") }

func (n Name) schema(kind string) string { return n.Path + "." + kind + "/v" + n.number() }

// Short is the last word of the path: the verb.
func (n Name) Short() string { return n.Path[strings.LastIndexByte(n.Path, '.')+1:] }
