package transcript

import (
	"cmp"
	"math"
	"slices"
)

// Verdict is what [Validate] found.
type Verdict struct {
	Valid      bool    `json:"valid"`
	Errors     []Fault `json:"errors"` // sorted by code, then path, both by bytes; never nil
	Unreadable error   `json:"-"`      // the document is not JSON, so that nothing could be judged
}

// Fault is one rule broken in one place. A rule that several values of one place break is there once for each.
type Fault struct {
	Code Code   `json:"code"`
	Path string `json:"path"` // $ is the trace: $.messages[3].kind
}

// Validate judges one trace from its JSON. It is pure, looks at the bytes only, and takes time in proportion to them,
// up to sorting what it found; it never panics. What it does not verify stands in the comment of the package. JSON
// nested more than 10 000 deep is unreadable, and a surrogate without its pair is read as U+FFFD.
func Validate(data []byte) Verdict {
	root, err := decode(data)
	if err != nil {
		return Verdict{Errors: []Fault{}, Unreadable: err}
	}
	c := &checker{faults: []Fault{}}
	c.check(root)
	slices.SortFunc(c.faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Path, b.Path))
	})
	return Verdict{Valid: len(c.faults) == 0, Errors: c.faults}
}

// checker goes through one trace from top to bottom and keeps what later parts are judged by.
type checker struct {
	faults       []Fault
	trace        object
	deadline     float64 // of the conversation
	participants map[string]participant
	gathers      map[string]*gather
	log          log
}

func (c *checker) fault(code Code, path string) {
	c.faults = append(c.faults, Fault{code, path})
}

func (c *checker) check(root any) {
	trace, ok := c.object(root, "$", traceShape)
	if !ok {
		return
	}
	c.trace = trace
	if trace.at("schemaVersion") != Version {
		c.fault(CodeVersion, "$.schemaVersion")
	}
	if trace.at("truthEffect") != None {
		c.fault(CodeTruthMinting, "$.truthEffect")
	}
	if trace.at("authorityEffect") != None {
		c.fault(CodeAuthorityMinting, "$.authorityEffect")
	}
	most := c.checkLimits()
	c.checkParticipants()
	c.checkGathers()
	c.checkMessages(most)
	c.checkTerminal()
}

// checkLimits returns how many messages there may be.
func (c *checker) checkLimits() float64 {
	c.deadline = math.NaN()
	limits, ok := c.object(c.trace.at("limits"), "$.limits", limitsShape)
	if !ok {
		return math.Inf(1)
	}
	c.deadline = millis(limits.at("deadlineAt"))
	most, ok := limits.at("maxMessages").(float64)
	if !ok || most != math.Trunc(most) {
		return math.Inf(1)
	}
	return most
}
