package agenttest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/protocol"
)

// Question and Reply are what the examples' contract is about.
type Question struct {
	City string `json:"city"`
}

type Reply struct {
	Text string `json:"text"`
}

var weather = protocol.Query[Question, Reply]("acme.weather.now/v1")

func ExampleScript() {
	model := agenttest.NewScript(agenttest.Says("It rains."), agenttest.Calls(agenttest.Call("inform", Reply{"It rains."})))
	for range 2 {
		reply, err := model.Complete(context.Background(), llm.Request{})
		fmt.Println(reply.Text, reply.Calls, err)
	}
	fmt.Println(len(model.Requests()), "requests")
	// Output:
	// It rains. [] <nil>
	//  [{call_1 inform {"text":"It rains."}}] <nil>
	// 2 requests
}

func ExampleClock() {
	clock := agenttest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	rang := make(chan string)
	clock.At(clock.Now().Add(time.Hour), func() { rang <- "an hour has passed" })
	clock.Advance(time.Hour)
	fmt.Println(<-rang)
	// Output: an hour has passed
}

// A test of an agent: the agent under test, a model that follows a script, and
// somebody who asks.
func ExampleHosts() {
	test := func(t *testing.T) {
		model := agenttest.NewScript(agenttest.Calls(agenttest.Call("inform", Reply{"It rains."})))
		forecaster := agent.New("forecaster", agent.Model(model), agent.Answer(weather, "Answer from what you know."))
		visitor := agent.New("visitor")
		agenttest.Hosts(t, forecaster, visitor)
		reply, err := agent.Ask(t.Context(), visitor, "forecaster", weather, Question{"Turku"})
		if err != nil || reply.Text != "It rains." {
			t.Errorf("Ask = %v, %v", reply, err)
		}
	}
	_ = test // the test's body; "go test" runs it
}

func TestHostsKnowEachOtherAndEndWithTheTest(t *testing.T) {
	model := agenttest.NewScript(agenttest.Calls(agenttest.Call("inform", Reply{"It rains."})))
	forecaster := agent.New("forecaster", agent.Model(model), agent.Answer(weather, "Answer from what you know."))
	visitor := agent.New("visitor")
	var hosts []*agent.Host
	t.Run("while it runs", func(t *testing.T) {
		hosts = agenttest.Hosts(t, forecaster, visitor)
		reply, err := agent.Ask(t.Context(), visitor, "forecaster", weather, Question{"Turku"})
		if err != nil || reply.Text != "It rains." {
			t.Errorf("Ask = %v, %v", reply, err)
		}
	})
	if len(hosts) != 2 {
		t.Fatalf("%d hosts, want one for each agent", len(hosts))
	}
	if _, err := agent.Ask(t.Context(), visitor, "forecaster", weather, Question{"Turku"}); err == nil {
		t.Error("the host outlived its test")
	}
}

// The transcript of a whole conversation is kept beside the test.
// PARLEY_UPDATE_GOLDEN=1 go test writes it.
func ExampleGolden() {
	test := func(t *testing.T) {
		model := agenttest.NewScript(agenttest.Calls(agenttest.Call("inform", Reply{"It rains."})))
		forecaster := agent.New("forecaster", agent.Model(model), agent.Answer(weather, "Answer from what you know."))
		visitor := agent.New("visitor")
		hosts := agenttest.Hosts(t, visitor, forecaster)
		x, err := agent.Start(t.Context(), visitor, "forecaster", weather, Question{"Turku"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		agenttest.Golden(t, "testdata/forecast.golden", x.ID(), hosts...)
	}
	_ = test // the test's body; "go test" runs it
}
