package protocol

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/parley-agents/parley/envelope"
)

// Policy says when a gather has what it needs.
type Policy string

// The policies. The set is closed.
const (
	// PolicyAll needs a contribution of every member.
	PolicyAll Policy = "ALL"
	// PolicyQuorum needs as many contributions as Gather.Quorum says. A quorum is a
	// number, not a truth.
	PolicyQuorum Policy = "QUORUM"
	// PolicyFirstSuccess needs one contribution. The others may never be looked at,
	// so contributing must have no effects.
	PolicyFirstSuccess Policy = "FIRST_SUCCESS"
)

// Reducer says how the contributions become one value.
type Reducer string

// The reducers. The set is closed. Each is a pure function of the accepted
// contributions, whatever the order in which they arrived.
const (
	// ReducerOrderedList lists the contributions in canonical order.
	ReducerOrderedList Reducer = "ORDERED_LIST"
	// ReducerPreserveDissent lists the contributions and, apart from them, the dissent.
	ReducerPreserveDissent Reducer = "PRESERVE_DISSENT"
	// ReducerFirstByCanonicalOrder takes the canonically first contribution.
	ReducerFirstByCanonicalOrder Reducer = "FIRST_BY_CANONICAL_ORDER"
)

// Gather is what is frozen before the first contribution. It is a plain value.
type Gather struct {
	ID string `json:"id"`
	// Members are the URIs of the agents that are asked, in byte order.
	Members []string `json:"members"`
	Policy  Policy   `json:"policy"`
	// Quorum is how many contributions the policy QUORUM needs, 0 under the
	// other policies.
	Quorum   int       `json:"quorum,omitempty"`
	Reducer  Reducer   `json:"reducer"`
	Deadline time.Time `json:"deadline"`
	// Effects says that contributing has effects.
	Effects bool `json:"effects,omitempty"`
}

// GatherError says what is wrong with a gather, or with a contribution to one.
type GatherError struct {
	Gather string
	// Rule is "id", "membership", "unsorted", "duplicate", "policy", "reducer",
	// "quorum", "nondeterministic", "effects" or "deadline"; of a contribution,
	// "member", "twice", "late" or "value".
	Rule      string
	Want, Got string
}

func (e *GatherError) Error() string {
	return fmt.Sprintf("gather %q: %s: expected %s, got %s", e.Gather, e.Rule, e.Want, e.Got)
}

func (g Gather) fault(rule, want, got string) error {
	return &GatherError{Gather: g.ID, Rule: rule, Want: want, Got: got}
}

// Validate holds the gather to its rules. Its errors are *GatherError.
func (g Gather) Validate() error {
	if g.ID == "" || len(g.ID) > 128 {
		return g.fault("id", "1 to 128 characters", strconv.Quote(g.ID))
	}
	if err := g.validateMembers(); err != nil {
		return err
	}
	if g.Deadline.IsZero() {
		return g.fault("deadline", "a time", "none")
	}
	switch g.Reducer {
	case ReducerOrderedList, ReducerPreserveDissent, ReducerFirstByCanonicalOrder:
	default:
		return g.fault("reducer", "ORDERED_LIST, PRESERVE_DISSENT or FIRST_BY_CANONICAL_ORDER", strconv.Quote(string(g.Reducer)))
	}
	return g.validatePolicy()
}

func (g Gather) validateMembers() error {
	if len(g.Members) == 0 {
		return g.fault("membership", "at least one member", "none")
	}
	for i, m := range g.Members {
		if _, err := envelope.ParseURI(m); err != nil {
			return g.fault("membership", "agent URIs", strconv.Quote(m))
		}
		switch {
		case i > 0 && g.Members[i-1] == m:
			return g.fault("duplicate", "each member once", m+" twice")
		case i > 0 && g.Members[i-1] > m:
			return g.fault("unsorted", "members in byte order", g.Members[i-1]+" before "+m)
		}
	}
	return nil
}

func (g Gather) validatePolicy() error {
	switch g.Policy {
	case PolicyQuorum:
		if g.Quorum < 1 || g.Quorum > len(g.Members) {
			return g.fault("quorum", "from 1 to "+strconv.Itoa(len(g.Members)), strconv.Itoa(g.Quorum))
		}
		return nil
	case PolicyFirstSuccess:
		if g.Reducer != ReducerFirstByCanonicalOrder {
			return g.fault("nondeterministic", "FIRST_BY_CANONICAL_ORDER under FIRST_SUCCESS", string(g.Reducer))
		}
		if g.Effects {
			return g.fault("effects", "contributions without effects under FIRST_SUCCESS", "effects")
		}
	case PolicyAll:
	default:
		return g.fault("policy", "ALL, QUORUM or FIRST_SUCCESS", strconv.Quote(string(g.Policy)))
	}
	if g.Quorum != 0 {
		return g.fault("quorum", "none under "+string(g.Policy), strconv.Itoa(g.Quorum))
	}
	return nil
}

// member reports whether the URI is in the frozen membership.
func (g Gather) member(uri string) bool {
	_, found := slices.BinarySearch(g.Members, uri)
	return found
}

// keepsDissent reports whether dissent is part of what the gather is for.
func (g Gather) keepsDissent() bool {
	return g.Reducer == ReducerPreserveDissent || g.Policy == PolicyQuorum
}
