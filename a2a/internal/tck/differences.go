package main

import (
	"errors"
	"fmt"
	"regexp"
)

// difference explains why tests do not pass.
type difference struct {
	// verdict is failed or skipped.
	verdict string
	// tests are the ids of the tests, a regular expression.
	tests string
	// what it is about, why it is so, and by which clause.
	what, why, clause string
}

// differences are the explanations that there are. Every failed and every
// skipped test has exactly one.
func differences() []difference {
	return []difference{
		{failed, `TestHttpJsonStatusCodes::test_content_type_not_supported_returns_415`,
			"An unsupported content type is HTTP 400",
			"The kit has the table of 1.0.0, where ContentTypeNotSupportedError is 415. Since 1.0.1 it is 400.",
			"section 5.4 of 1.0.1"},
		{failed, `test_must_requirement\[CORE-SEND-003`,
			"An unsupported media type is refused",
			"The requirement says that ContentTypeNotSupportedError must come, but the kit's test names no expected error and so fails whoever returns one.",
			"section 3.1.1"},
		{failed, `TestRestErrorStructure::test_error_uses_aip193_format|TestAIP193ErrorFormat::test_error_content_type`,
			"The media type of HTTP+JSON is application/a2a+json",
			"The kit wants application/json, as 1.0.0 had it. Since 1.0.1 application/a2a+json SHOULD be used for requests and responses. " +
				"A client that asks for application/json, or sends it and does not say what it accepts, is answered in that; the kit's reading calls do neither.",
			"section 11.1 of 1.0.1"},
		{skipped, `^grpc/|grpc|Grpc`,
			"gRPC is not offered",
			"The three bindings are equals and an agent offers those that it likes. Parley speaks the two that any HTTP server, proxy and browser can carry; " +
				"gRPC would bring its code generator and runtime into every program that uses Parley.",
			"sections 5.1 and 5.2"},
		{skipped, `no-requirements-(jsonrpc|http_json)`,
			"There is nothing to test",
			"The kit has a place for requirements of this level and none that it could try there.",
			"none"},
	}
}

func (d difference) matches(r result) bool {
	return d.verdict == r.Verdict && regexp.MustCompile(d.tests).MatchString(r.Test)
}

// unexplained is what of the report no explanation or more than one speaks of,
// and which explanations speak of nothing.
func unexplained(r *report) error {
	var wrong []error
	spoken := map[string]bool{}
	for _, got := range r.final() {
		if got.Verdict == passed {
			continue
		}
		n := 0
		for _, d := range differences() {
			if d.matches(got) {
				spoken[d.what] = true
				n++
			}
		}
		if n != 1 {
			wrong = append(wrong, fmt.Errorf("%s %s has %d explanations: %s", got.Verdict, got.Test, n, got.Reason))
		}
	}
	for _, d := range differences() {
		if !spoken[d.what] {
			wrong = append(wrong, fmt.Errorf("the explanation %q speaks of no test", d.what))
		}
	}
	return errors.Join(wrong...)
}
