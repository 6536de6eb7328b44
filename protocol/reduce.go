package protocol

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"slices"

	"github.com/parley-agents/parley/envelope"
)

// Result is the record of a reduced gather. It says what was said and by which
// messages; it is no verdict on whether that is true or allowed.
type Result struct {
	Gather string `json:"gather"`
	// Inputs and Dissent are message ids in canonical order.
	Inputs  []string `json:"inputs"`
	Dissent []string `json:"dissent"`
	// Abstained and Missing are the URIs of members without a contribution.
	Abstained []string `json:"abstained"`
	Missing   []string `json:"missing"`
	// Value is what the reducer made of the inputs, null when there is nothing
	// to take; ValueDigest is the lower hex sha256 of its canonical JSON.
	Value       json.RawMessage `json:"value"`
	ValueDigest string          `json:"value_digest"`
}

// Reduce makes one value of what a decision rests on. It is pure: the same
// accepted set gives the same bytes, whatever its order. A value that is no
// JSON gives a *GatherError with the rule "value".
func (g Gather) Reduce(d Decision) (Result, error) {
	for _, c := range slices.Concat(d.Inputs, d.Dissent) {
		if !json.Valid(c.Value) {
			return Result{}, g.fault("value", "JSON from "+c.Sender, "something else")
		}
	}
	r := Result{
		Gather: g.ID, Inputs: messages(d.Inputs), Dissent: messages(d.Dissent),
		Abstained: append([]string{}, d.Abstained...), Missing: append([]string{}, d.Missing...),
	}
	switch g.Reducer {
	case ReducerOrderedList:
		r.Value = list(d.Inputs)
	case ReducerPreserveDissent:
		r.Value = slices.Concat([]byte(`{"contributions":`), list(d.Inputs), []byte(`,"dissent":`), list(d.Dissent), []byte(`}`))
	default:
		r.Value = json.RawMessage("null")
		if len(d.Inputs) > 0 {
			r.Value = bytes.Clone(d.Inputs[0].Value)
		}
	}
	r.ValueDigest = envelope.Digest(sha256.Sum256(r.Value)).String()
	return r, nil
}

func messages(list []Contribution) []string {
	ids := make([]string, len(list))
	for i, c := range list {
		ids[i] = c.Message
	}
	return ids
}

// list is the canonical array of values that are canonical themselves.
func list(of []Contribution) []byte {
	values := make([][]byte, len(of))
	for i, c := range of {
		values[i] = c.Value
	}
	return slices.Concat([]byte("["), bytes.Join(values, []byte(",")), []byte("]"))
}

// FenceSchema is the name of the schema of a fence's content.
const FenceSchema = "parley.fence/v1"

// FenceNote is the content of a fence: how the gather ended, and what became of
// the receiver's own contribution.
type FenceNote struct {
	Gather      string      `json:"gather"`
	Proposed    Terminal    `json:"proposed" jsonschema:"enum=COMPLETED,enum=BLOCKED,enum=TIMED_OUT,enum=CANCELLED,enum=DISSENT_RECORDED"`
	ValueDigest string      `json:"value_digest"`
	Counts      FenceCounts `json:"counts"`
	Yours       Share       `json:"yours" jsonschema:"enum=accepted,enum=late,enum=missing"`
}

// FenceCounts say how many members did what.
type FenceCounts struct {
	Members     int `json:"members"`
	Contributed int `json:"contributed"`
	Dissented   int `json:"dissented"`
	Abstained   int `json:"abstained"`
	Missing     int `json:"missing"`
}

// Share is what became of one member's contribution.
type Share string

// The shares.
const (
	ShareAccepted Share = "accepted"
	ShareLate     Share = "late"
	ShareMissing  Share = "missing"
)

// Note is the content of the fence for the member; late says that something of
// it arrived after the decision.
func (d Decision) Note(r Result, proposed Terminal, member string, late bool) FenceNote {
	n := FenceNote{Gather: d.Gather, Proposed: proposed, ValueDigest: r.ValueDigest, Yours: ShareMissing, Counts: FenceCounts{
		Members:     len(d.Inputs) + len(d.Dissent) + len(d.Abstained) + len(d.Missing),
		Contributed: len(d.Inputs), Dissented: len(d.Dissent), Abstained: len(d.Abstained), Missing: len(d.Missing),
	}}
	switch {
	case slices.Contains(d.Answered(), member):
		n.Yours = ShareAccepted
	case late:
		n.Yours = ShareLate
	}
	return n
}
