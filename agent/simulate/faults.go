package simulate

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Kind is a kind of accident.
type Kind string

// The kinds of accidents.
const (
	// Drop loses a message on its way, or what comes back with it.
	Drop Kind = "drop"
	// Duplicate delivers a message a second time, later.
	Duplicate Kind = "duplicate"
	// Delay holds a message, or what comes back with it, for longer than its
	// sender waits; meanwhile others overtake it.
	Delay Kind = "delay"
	// Crash drops a host before or after a call of its store, or of its
	// transport, and starts it again later.
	Crash Kind = "crash"
	// Disk fails a call of a store: nothing was written.
	Disk Kind = "disk"
	// Clock sets a node's clock forward or a little back.
	Clock Kind = "clock"
	// Stop ends a host in order and starts it again later.
	Stop Kind = "stop"
	// Slow makes a node take its time with everything that reaches it.
	Slow Kind = "slow"
	// Poison lets a hostile sender try what it can do with a message that it
	// has seen: see poison.go.
	Poison Kind = "poison"
)

// Kinds are all kinds of accidents.
func Kinds() []Kind {
	return []Kind{Drop, Duplicate, Delay, Crash, Disk, Clock, Stop, Slow, Poison}
}

// ParseKinds reads a list such as "drop,crash"; "all" stands for every kind and
// "none" for no accident.
func ParseKinds(list string) ([]Kind, error) {
	var kinds []Kind
	for name := range strings.SplitSeq(list, ",") {
		switch k := Kind(strings.TrimSpace(name)); {
		case k == "all":
			kinds = append(kinds, Kinds()...)
		case k == "none" || k == "":
		case slices.Contains(Kinds(), k):
			kinds = append(kinds, k)
		default:
			return nil, fmt.Errorf("fault %q is unknown: there are %v, all and none", k, Kinds())
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds), nil
}

// odds is how likely each kind is, at each place where it can happen, in a
// world that has it at all.
var odds = map[Kind]float64{
	Drop: 0.08, Duplicate: 0.08, Delay: 0.06, Crash: 0.001, Disk: 0.01, Clock: 0.01, Stop: 0.01, Slow: 0.02, Poison: 0.06,
}

// Fault is one accident of a world: its name says what happens where, and at
// which of the times that it could.
type Fault string

// Kind is the first word of its name.
func (f Fault) Kind() Kind {
	kind, _, _ := strings.Cut(string(f), " ")
	return Kind(kind)
}

// faults decides what goes wrong. A decision follows from the seed, the place
// and the number of the occasion alone, so that leaving one accident out leaves
// the others where they are as far as can be.
type faults struct {
	seed  uint64
	odds  map[Kind]float64
	count map[string]int
	// only are the accidents that may happen, nil for all.
	only map[Fault]bool
	// over: nothing goes wrong any more.
	over     bool
	happened []Fault
}

// newFaults draws how unlucky a world is: each kind is left out of some worlds
// and common in others, so that the rare ones have room (swarm testing,
// Groce and others, ISSTA 2012).
func newFaults(seed uint64, kinds []Kind, only map[Fault]bool) *faults {
	f := &faults{seed: seed, odds: map[Kind]float64{}, count: map[string]int{}, only: only}
	for _, k := range kinds {
		switch luck := f.draw("odds "+string(k), 0); {
		case luck < 0.3: // not in this world
		case luck < 0.8:
			f.odds[k] = odds[k]
		default:
			f.odds[k] = 3 * odds[k]
		}
	}
	return f
}

// draw is a number in [0, 1) that follows from its arguments.
func (f *faults) draw(what string, n int) float64 {
	b := binary.BigEndian.AppendUint64(nil, f.seed)
	b = binary.BigEndian.AppendUint64(b, uint64(n))
	sum := sha256.Sum256(append(b, what...))
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

// accident reports whether it happens now, and a number in [0, 1) that says
// how.
func (f *faults) accident(kind Kind, what, where string) (how float64, happens bool) {
	if f.over || f.odds[kind] == 0 {
		return 0, false
	}
	place := what + " " + where
	n := f.count[place]
	f.count[place]++
	if f.draw(place, n) >= f.odds[kind] {
		return 0, false
	}
	fault := Fault(fmt.Sprintf("%s %d", place, n))
	if f.only != nil && !f.only[fault] {
		return 0, false
	}
	f.happened = append(f.happened, fault)
	return f.draw("how "+place, n), true
}

// between scales a number in [0, 1) to a range, the lower end more often.
func between(how, low, high float64) float64 { return low * math.Pow(high/low, how) }
