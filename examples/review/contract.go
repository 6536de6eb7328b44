package main

import (
	"context"
	"errors"
	"slices"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
)

// Change is a file as it would be after a change.
type Change struct {
	File    string     `json:"file" jsonschema:"minLength=1,maxLength=200"`
	Summary agent.Text `json:"summary" jsonschema:"maxLength=200"`
	Source  agent.Text `json:"source" jsonschema:"minLength=1,maxLength=20000" jsonschema_description:"the whole file; its lines count from 1"`
}

// Verdict is what a reviewer says of a change as a whole.
type Verdict string

// The verdicts.
const (
	Approve Verdict = "approve"
	Reject  Verdict = "reject"
)

// Severity is how much a finding matters.
type Severity string

// The severities. A blocker must be mended before anything else.
const (
	Minor   Severity = "minor"
	Major   Severity = "major"
	Blocker Severity = "blocker"
)

// Finding is something about one line. Nothing depends on the notes.
type Finding struct {
	Line     int        `json:"line" jsonschema:"minimum=1"`
	Severity Severity   `json:"severity" jsonschema:"enum=minor,enum=major,enum=blocker"`
	Notes    agent.Text `json:"notes,omitempty" jsonschema:"maxLength=300"`
}

// Opinion is what one reviewer contributes.
type Opinion struct {
	Verdict  Verdict   `json:"verdict" jsonschema:"enum=approve,enum=reject"`
	Findings []Finding `json:"findings,omitempty" jsonschema:"maxItems=20"`
}

// Review asks several reviewers about the same change.
var Review = protocol.NewGathering[Change, Opinion]("acme.code.review/v1")

// consistent is what the schema of an opinion cannot say: blockers and
// rejections come together.
func consistent(_ context.Context, o Opinion) error {
	blocked := slices.ContainsFunc(o.Findings, func(f Finding) bool { return f.Severity == Blocker })
	switch {
	case o.Verdict == Reject && !blocked:
		return errors.New("a rejection names at least one blocker and its line")
	case o.Verdict == Approve && blocked:
		return errors.New("a change with a blocker cannot be approved")
	}
	return nil
}
