package agenttest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// Trip and Plan are what the planner's contract is about.
type Trip struct {
	City string `json:"city"`
}

type Plan struct {
	Text string `json:"text"`
	ID   string `json:"id"`
}

var plan = protocol.Request[Trip, Plan]("acme.trip.plan/v1")

// planner is an agent in Go that uses all that a record can give back. What its
// function really does is counted.
type planner struct {
	ran    atomic.Int32
	city   string
	steps  []string
	result string
}

func (p *planner) agent() *agent.Agent {
	var self *agent.Agent
	self = agent.New("planner", agent.Handle(plan, func(ctx context.Context, in Trip) (Plan, error) {
		at, err := agent.Now(ctx)
		if err != nil {
			return Plan{}, err
		}
		id, err := agent.NewID(ctx)
		if err != nil {
			return Plan{}, err
		}
		for _, step := range p.steps {
			if _, err := agent.Once(ctx, step, func(context.Context) (int32, error) { return p.ran.Add(1), nil }); err != nil {
				return Plan{}, err
			}
		}
		if err := agent.Sleep(ctx, 5*time.Second); err != nil {
			return Plan{}, err
		}
		city := in.City
		if p.city != "" {
			city = p.city
		}
		reply, err := agent.Ask(ctx, self, "forecaster", weather, Question{city})
		if err != nil {
			return Plan{}, err
		}
		return Plan{fmt.Sprintf("%s At %s: %s", p.result, at.Format(time.RFC3339), reply.Text), id}, nil
	}))
	return self
}

func original() *planner { return &planner{steps: []string{"reserve"}, result: "Take a coat."} }

func forecaster(text string) *agent.Agent {
	return agent.New("forecaster", agent.Handle(weather, func(context.Context, Question) (Reply, error) { return Reply{text}, nil }))
}

// planned records a conversation with the planner.
func planned(t *testing.T) (s store.Store, conversation string) {
	t.Helper()
	visitor := agent.New("visitor")
	host := agenttest.Host(t, visitor, original().agent(), forecaster("It rains."))
	_, err := agent.Ask(t.Context(), visitor, "planner", plan, Trip{"Turku"}, agent.Opened(func(id string) { conversation = id }))
	if err != nil {
		t.Fatal(err)
	}
	return host.Store(), conversation
}

func rerun(t *testing.T, s store.Store, conversation string, agents ...*agent.Agent) *agenttest.Rerun {
	t.Helper()
	again, err := agenttest.Reexecute(t.Context(), s, conversation, agents...)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func missed(t *testing.T, s store.Store, conversation string, agents ...*agent.Agent) *agenttest.MissError {
	t.Helper()
	_, err := agenttest.Reexecute(t.Context(), s, conversation, agents...)
	m, ok := errors.AsType[*agenttest.MissError](err)
	if !ok {
		t.Fatalf("Reexecute = %v, want a miss", err)
	}
	return m
}

func TestAHandlerRunsAgainWithoutDoingItsStepsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, conversation := planned(t)
		p := original()
		// The planner asks the recorded forecaster, whatever another would say.
		again := rerun(t, s, conversation, p.agent())
		if len(again.Differences) > 0 || p.ran.Load() != 0 {
			t.Errorf("differences %v, and %d steps done", again.Differences, p.ran.Load())
		}
		if len(again.Exchanges) != 1 || again.Exchanges[0].Owner != "agent://local/planner" {
			t.Errorf("worked on %v", again.Exchanges)
		}
		both := rerun(t, s, conversation, original().agent(), forecaster("It rains."))
		if len(both.Differences) > 0 || len(both.Exchanges) != 2 {
			t.Errorf("both: %v, worked on %v", both.Differences, both.Exchanges)
		}
		agenttest.Replay(t, s, conversation, original().agent(), forecaster("It rains."))
	})
}

func TestAnotherResultOfAHandlerIsADifference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, conversation := planned(t)
		p := original()
		p.result = "Take an umbrella."
		again := rerun(t, s, conversation, p.agent(), forecaster("It pours."))
		var said []string
		for _, d := range again.Differences {
			said = append(said, d.String())
		}
		if len(said) != 2 || !strings.HasPrefix(said[0], `agent://local/planner to agent://local/visitor, !inform /content/text: recorded "Take a coat. At `) ||
			!strings.Contains(said[0], `, now "Take an umbrella. At `) ||
			said[1] != `agent://local/forecaster to agent://local/planner, !inform /content/text: recorded "It rains.", now "It pours."` {
			t.Errorf("differences %q", said)
		}
		c := &complaints{TB: t}
		agenttest.Replay(c, s, conversation, forecaster("It pours."))
		if len(c.said) != 1 || !strings.Contains(c.said[0], `recorded "It rains.", now "It pours."`) {
			t.Errorf("Replay said %q", c.said)
		}
	})
}

func TestAHandlerThatFailsNowIsADifferenceWithItsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, conversation := planned(t)
		broken := agent.New("forecaster", agent.Handle(weather, func(context.Context, Question) (Reply, error) { return Reply{}, errors.New("no radar") }))
		c := &complaints{TB: t}
		agenttest.Replay(c, s, conversation, broken)
		if len(c.said) != 1 || !strings.Contains(c.said[0], `/act: recorded "inform", now "failure"`) || !strings.Contains(c.said[0], "meanwhile: no radar") {
			t.Errorf("Replay said %q", c.said)
		}
	})
}

func TestAStepThatWasNotRecordedIsAMissAndIsNotDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, conversation := planned(t)
		p := original()
		p.steps = []string{"reserve", "reserve twice"}
		m := missed(t, s, conversation, p.agent())
		if m.Kind != agenttest.MissStep || m.Name != "once reserve twice" || m.Nearest != "once reserve" || p.ran.Load() != 0 {
			t.Errorf("%v, and %d steps done", m, p.ran.Load())
		}
	})
}

func TestAQuestionThatWasNotRecordedIsAMissWithTheNearest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, conversation := planned(t)
		p := original()
		p.city = "Oulu"
		m := missed(t, s, conversation, p.agent())
		want := llm.Difference{Pointer: "/content/city", Asked: `"Oulu"`, Recorded: `"Turku"`}
		if m.Kind != agenttest.MissQuestion || m.Name != "agent://local/forecaster" || len(m.Differences) != 1 || m.Differences[0] != want {
			t.Errorf("%v: %v", m, m.Differences)
		}
	})
}

func TestAQuestionThatIsNotAskedAnyMoreIsADifference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, conversation := planned(t)
		again := rerun(t, s, conversation, agent.New("planner", agent.Handle(plan, func(context.Context, Trip) (Plan, error) { return Plan{}, nil })))
		if !slices.ContainsFunc(again.Differences, func(d agenttest.Difference) bool {
			return d.Exchange.Peer == "agent://local/forecaster" && d.Event == "!request" && d.Now == "" && strings.Contains(d.Recorded, "Turku")
		}) {
			t.Errorf("differences %v", again.Differences)
		}
	})
}

func TestWhatWasAskedInsideAStepIsNotAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		newPlanner := func() *agent.Agent {
			var self *agent.Agent
			self = agent.New("planner", agent.Handle(plan, func(ctx context.Context, in Trip) (Plan, error) {
				reply, err := agent.Once(ctx, "ask", func(ctx context.Context) (Reply, error) {
					return agent.Ask(ctx, self, "forecaster", weather, Question(in))
				})
				return Plan{Text: reply.Text}, err
			}))
			return self
		}
		visitor := agent.New("visitor")
		host := agenttest.Host(t, visitor, newPlanner(), forecaster("It rains."))
		var conversation string
		_, err := agent.Ask(t.Context(), visitor, "planner", plan, Trip{"Turku"}, agent.Opened(func(id string) { conversation = id }))
		if err != nil {
			t.Fatal(err)
		}
		agenttest.Replay(t, host.Store(), conversation, newPlanner())
	})
}

func TestAContractThatIsNotAnsweredAnyMoreIsADifference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, conversation := planned(t)
		again := rerun(t, s, conversation, agent.New("forecaster"))
		if len(again.Differences) == 0 || again.Differences[0].Pointer != "/act" || !strings.HasPrefix(again.Differences[0].Now, `"not-understood"`) {
			t.Errorf("differences %v", again.Differences)
		}
	})
}

func TestAnEffectThatWasRecalledIsRunAgainWhereItWasHad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		visitor := agent.New("visitor")
		host := agenttest.Host(t, visitor, original().agent(), forecaster("It rains."))
		var conversations []string
		for range 2 {
			_, err := agent.Ask(t.Context(), visitor, "planner", plan, Trip{"Turku"}, agent.Key("trip-1"),
				agent.Opened(func(id string) { conversations = append(conversations, id) }))
			if err != nil {
				t.Fatal(err)
			}
		}
		agenttest.Replay(t, host.Store(), conversations[0], original().agent())
		_, err := agenttest.Reexecute(t.Context(), host.Store(), conversations[1], original().agent())
		if err == nil || !strings.Contains(err.Error(), "it was done in conversation "+conversations[0]) {
			t.Errorf("Reexecute of the second = %v", err)
		}
	})
}

// A test of an agent keeps holding it to what it once did: the model, the tools
// and the peers are those of the record, all else is the agent as it is now.
func ExampleReplay() {
	forecaster := func(prompt string) *agent.Agent {
		return agent.New("forecaster", agenttest.Replayable(), agent.Model(agenttest.NewScript(
			agenttest.Calls(agenttest.Call("inform", Reply{"It rains."})))), agent.Answer(weather, prompt))
	}
	test := func(t *testing.T) {
		visitor := agent.New("visitor")
		host := agenttest.Host(t, visitor, forecaster("Answer from what you know."))
		x, err := agent.Start(t.Context(), visitor, "forecaster", weather, Question{"Turku"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		agenttest.Replay(t, host.Store(), x.ID(), forecaster("Answer from what you know."))
	}
	_ = test // the test's body; "go test" runs it
}
