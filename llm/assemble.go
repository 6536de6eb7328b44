package llm

import "strings"

// Delta is a fragment of a call as a stream delivers it.
type Delta struct {
	Index     *int // the endpoint's number of the call; nil when it sent none
	Position  int  // the fragment's place in the list of its chunk, from 0
	ID        string
	Name      string
	Arguments string
}

// Assemble puts the fragments of a stream together into calls, in the order in
// which these began. A fragment belongs to the call with its id, else to the last
// one with its index, else to the last one with its position. Since endpoints
// number all calls 0, or not at all, a new id or a new name also starts a new call.
// The calls get ids of nine letters and digits derived from their place and the
// endpoint's id. Assemble is pure; it never drops text.
func Assemble(deltas []Delta) []Call {
	calls := assemble(deltas)
	nameCalls(calls, nil)
	return calls
}

// assemble is Assemble with the endpoint's ids.
func assemble(deltas []Delta) []Call {
	var a opening
	for _, d := range deltas {
		c := a.find(d)
		if c == nil {
			c = a.open(d)
		}
		if c.id == "" {
			a.identify(c, d.ID)
		}
		if c.name == "" {
			c.name = d.Name
		}
		c.arguments.WriteString(d.Arguments)
		c.outline.add(d.Arguments)
	}
	var calls []Call
	for _, c := range a.calls {
		calls = append(calls, Call{ID: c.id, Name: c.name, Arguments: c.arguments.String()})
	}
	return calls
}

// opening is the calls that are being put together, in the order in which they began.
type opening struct {
	calls  []*opened
	byID   map[string]*opened // the last one of each id
	bySlot map[int]*opened    // the last one of each slot
}

// opened is a call that is being put together.
type opened struct {
	place     int
	id, name  string
	arguments strings.Builder
	outline   outline
}

func (d Delta) slot() int {
	if d.Index != nil {
		return *d.Index
	}
	return d.Position
}

// find returns the call that d continues, nil if d starts one.
func (a *opening) find(d Delta) *opened {
	same := a.byID[d.ID]
	if same == nil {
		same = a.bySlot[d.slot()]
	}
	if same == nil || same.starts(d) {
		return nil
	}
	return same
}

// open begins the call that d starts.
func (a *opening) open(d Delta) *opened {
	if a.byID == nil {
		a.byID, a.bySlot = map[string]*opened{}, map[int]*opened{}
	}
	c := &opened{place: len(a.calls), name: d.Name}
	a.calls = append(a.calls, c)
	a.bySlot[d.slot()] = c
	a.identify(c, d.ID)
	return c
}

func (a *opening) identify(c *opened, id string) {
	if id == "" {
		return
	}
	c.id = id
	if last := a.byID[id]; last == nil || last.place < c.place {
		a.byID[id] = c
	}
}

// starts reports whether d, found under c's id or slot, is yet another call.
func (c *opened) starts(d Delta) bool {
	otherID := d.ID != "" && c.id != "" && d.ID != c.id
	otherName := d.Name != "" && c.name != "" && d.Name != c.name
	if otherName || otherID && d.Name != "" {
		return true
	}
	if !c.outline.whole() {
		return false // some endpoints make up a new id for every fragment
	}
	more := strings.TrimSpace(d.Arguments) != ""
	// A whole object with the same name again is a second call, unless it has the
	// same id; a last fragment that only repeats the name is not.
	return otherID || d.ID == "" && d.Name != "" && more
}
