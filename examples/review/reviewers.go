package main

import (
	"context"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/llm"
)

const manner = "You review one change to a file. Each finding has its line, counted from 1, and its severity. " +
	"If nothing is a blocker, approve: call inform. If something is, disagree: call dissent with the verdict reject. " +
	"If the file is none of your business, abstain: call refuse. Judge this alone: "

// reviewers are all who can be asked. Each has its own model and its own focus.
func reviewers(model func(name string) llm.Model) []*agent.Agent {
	return []*agent.Agent{
		reviewer("correctness", model, "errors that get lost, and results that are wrong."),
		reviewer("docs", model, "pages in Markdown. Code is none of your business."),
		reviewer("security", model, "what somebody outside could reach that is not meant for them."),
		reviewer("tests", model, "whether the tests pass. Run them first; each that fails is a blocker on line 1.",
			agent.Tool("run_tests", "Runs the tests beside a file.", runTests, agent.ReadOnly)),
		agent.New("release", agent.Contribute(Review, away)),
	}
}

func reviewer(name string, model func(string) llm.Model, focus string, opts ...agent.Option) *agent.Agent {
	return agent.New(name, append(opts, agent.Model(model(name)), agent.Answer(Review, manner+focus), agent.Check(Review, consistent))...)
}

// away is a reviewer who says nothing, not even no.
func away(ctx context.Context, _ Change) (Opinion, error) {
	<-ctx.Done()
	return Opinion{}, context.Cause(ctx)
}

// Tested is the file beside which tests are run.
type Tested struct {
	File string `json:"file" jsonschema:"minLength=1,maxLength=200"`
}

// Tests is how many passed and failed.
type Tests struct {
	Passed int `json:"passed" jsonschema:"minimum=0"`
	Failed int `json:"failed" jsonschema:"minimum=0"`
}

// testTime is how long the tests take: the others have their say meanwhile.
const testTime = 800 * time.Millisecond

// runTests takes its time and makes the numbers up: nobody has written a test
// for what is wrong with the change.
func runTests(ctx context.Context, _ Tested) (Tests, error) {
	select {
	case <-time.After(testTime):
		return Tests{Passed: 12}, nil
	case <-ctx.Done():
		return Tests{}, context.Cause(ctx)
	}
}
