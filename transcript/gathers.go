package transcript

import (
	"fmt"
	"math"
	"slices"
)

// gather is what contributions are judged by, and which of them there were.
type gather struct {
	policy, quorum, kind any
	members              set
	size                 float64 // of the membership as it is listed
	deadline             float64
	contributed          set // members
}

func (c *checker) checkGathers() {
	c.gathers = map[string]*gather{}
	list, ok := c.trace.at("gathers").([]any)
	if !ok {
		c.fault(CodeType, "$.gathers")
	}
	for i, value := range list {
		path := fmt.Sprintf("$.gathers[%d]", i)
		o, ok := c.object(value, path, gatherShape)
		if !ok {
			continue
		}
		g := newGather(o)
		c.checkMembership(o, path)
		c.checkReduction(o, g, path)
		id, _ := o.at("gatherId").(string)
		switch {
		case id == "":
		case c.gathers[id] != nil:
			c.fault(CodeDuplicateGather, path+".gatherId") // the first one counts
		default:
			c.gathers[id] = g
		}
	}
}

func newGather(o object) *gather {
	g := &gather{
		policy: o.at("policy"), quorum: o.at("quorum"), kind: o.at("inputKind"),
		size: math.Inf(1), deadline: millis(o.at("deadlineAt")), contributed: set{},
	}
	if members, ok := o.at("membership").([]any); ok {
		g.members, g.size = newSet(members...), float64(len(members))
	}
	return g
}

func (c *checker) checkMembership(o object, path string) {
	membership := o.at("membership")
	if someTexts(membership) != "" {
		return
	}
	if slices.ContainsFunc(membership.([]any), func(ref any) bool { return !c.known(ref) }) {
		c.fault(CodeGatherMembership, path+".membership")
	}
}

func (c *checker) checkReduction(o object, g *gather, path string) {
	if !among(g.policy, All, Quorum, FirstSuccess) {
		c.fault(CodeGatherPolicy, path+".policy")
	}
	if !among(o.at("reducer"), OrderedList, PreserveDissent, FirstByCanonicalOrder) {
		c.fault(CodeReducer, path+".reducer")
	}
	if among(g.policy, Quorum) {
		if q, _ := g.quorum.(float64); !isPositive(g.quorum) || q > g.size {
			c.fault(CodeGatherQuorum, path+".quorum")
		}
	} else if g.quorum != nil {
		c.fault(CodeGatherQuorum, path+".quorum")
	}
	if among(g.policy, FirstSuccess) && !among(o.at("reducer"), FirstByCanonicalOrder) {
		c.fault(CodeNondeterministicReducer, path+".reducer") // which of two came first is not the same everywhere
	}
}

// checkContribution judges a message by the gather that it names.
func (c *checker) checkContribution(m message) {
	named := m.at("gatherId")
	if named == nil {
		return
	}
	id, _ := named.(string)
	g, sender := c.gathers[id], m.at("senderPrincipalRef")
	if g == nil || !g.members.has(sender) || !same(m.at("kind"), g.kind) {
		c.fault(CodeGatherContribution, m.path+".gatherId")
		return
	}
	if millis(m.at("observedAt")) > g.deadline {
		c.fault(CodeGatherDeadline, m.path+".observedAt")
	}
	if g.contributed.has(sender) {
		c.fault(CodeDuplicateGatherContribution, m.path+".gatherId")
	}
	g.contributed.add(sender) // a late one too
}

// complete tells whether a gather has what its policy asks for. A quorum that is no number asks for nothing.
func (g *gather) complete() bool {
	needed := 1.0
	switch {
	case among(g.policy, All):
		needed = g.size
	case among(g.policy, Quorum):
		needed, _ = g.quorum.(float64)
	}
	return float64(len(g.contributed)) >= needed
}
