package main

import (
	"encoding/json"
	"strings"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/llm/rehearsal"
)

// rules are what a reviewer's model says when there is none: the same program
// talks to a real endpoint when OPENAI_BASE_URL or OPENAI_API_KEY is set.
func rules(reviewer string) []rehearsal.Rule {
	return map[string][]rehearsal.Rule{
		"correctness": {reading(correctness)},
		"docs":        {reading(docs)},
		"security":    {reading(security)},
		"tests":       {reading(tests)},
	}[reviewer]
}

// reading is a rule that reads the change under review.
func reading(review func(rehearsal.Request, Change) rehearsal.Reply) rehearsal.Rule {
	return func(r rehearsal.Request) (rehearsal.Reply, bool) {
		var c Change
		if !r.Offers("dissent") || !quoted(r.Last(rehearsal.User).Text, &c) {
			return rehearsal.Reply{}, false
		}
		return review(r, c), true
	}
}

// correctness looks for errors that are printed where they should be wrapped.
func correctness(_ rehearsal.Request, c Change) rehearsal.Reply {
	return opinion(c, ": %v\"", Minor, "%v hides the error from errors.Is, %w would not.")
}

// security looks for paths that are glued together.
func security(_ rehearsal.Request, c Change) rehearsal.Reply {
	return opinion(c, `"/" + name`, Blocker, "A name such as ../../etc/passwd leaves the folder.")
}

func docs(_ rehearsal.Request, c Change) rehearsal.Reply {
	if !strings.HasSuffix(c.File, ".md") {
		return call("refuse", map[string]string{"code": "permanent", "reason": "no-documentation"})
	}
	return call("inform", Opinion{Verdict: Approve})
}

func tests(r rehearsal.Request, c Change) rehearsal.Reply {
	said, ran := r.Result("run_tests")
	if !ran {
		return call("run_tests", Tested{c.File})
	}
	var outcome struct {
		Outcome string
		Result  Tests
	}
	switch {
	case !quoted(said, &outcome) || outcome.Outcome != "ok":
		return call("failure", map[string]string{"code": "transient", "reason": "no-test-run"})
	case outcome.Result.Failed > 0:
		return call("dissent", Opinion{Reject, []Finding{{1, Blocker, "Tests fail."}}})
	}
	return call("inform", Opinion{Verdict: Approve})
}

// opinion is about the lines that contain a piece of code.
func opinion(c Change, piece string, s Severity, notes agent.Text) rehearsal.Reply {
	o, act := Opinion{Verdict: Approve}, "inform"
	for i, line := range strings.Split(string(c.Source), "\n") {
		if strings.Contains(line, piece) {
			o.Findings = append(o.Findings, Finding{i + 1, s, notes})
		}
	}
	if s == Blocker && len(o.Findings) > 0 {
		o.Verdict, act = Reject, "dissent"
	}
	return call(act, o)
}

// quoted reads what others said in a text: it is JSON on a line of its own.
func quoted(text string, v any) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "{") {
			return json.Unmarshal([]byte(line), v) == nil
		}
	}
	return false
}

func call(name string, arguments any) rehearsal.Reply {
	return rehearsal.Reply{Calls: []rehearsal.Call{{Name: name, Arguments: arguments}}}
}
