package agenttest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store/memory"
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

func ExampleNewClock() {
	clock := agenttest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	clock.Advance(90 * time.Second)
	fmt.Println(clock.Now().Format(time.TimeOnly))
	// Output: 12:01:30
}

// A script is followed one reply a request, and then is over.
func ExampleNewScript() {
	model := agenttest.NewScript(agenttest.Says("It rains."))
	for range 2 {
		_, err := model.Complete(context.Background(), llm.Request{})
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// model: bad-request: "the script ends after 1 replies"
}

func ExampleSays() {
	model := agenttest.NewScript(agenttest.Says("It rains."))
	reply, err := model.Complete(context.Background(), llm.Request{})
	fmt.Println(reply.Text, reply.Finish, err)
	// Output: It rains. stop <nil>
}

func ExampleCalls() {
	model := agenttest.NewScript(agenttest.Calls(
		agenttest.Call("radar", Question{"Turku"}), agenttest.Call("radar", Question{"Oulu"})))
	reply, err := model.Complete(context.Background(), llm.Request{})
	fmt.Println(reply.Calls, reply.Finish, err)
	// Output: [{call_1 radar {"city":"Turku"}} {call_2 radar {"city":"Oulu"}}] calls <nil>
}

// What a model may write in earnest need not be JSON.
func ExampleCall() {
	fmt.Println(agenttest.Call("inform", Reply{"It rains."}).Arguments)
	fmt.Println(agenttest.Call("inform", `{"text": "It rai`).Arguments)
	// Output:
	// {"text":"It rains."}
	// {"text": "It rai
}

func ExampleFails() {
	model := agenttest.NewScript(agenttest.Fails(&llm.Error{Kind: llm.ErrorUnavailable}), agenttest.Says("It rains."))
	_, err := model.Complete(context.Background(), llm.Request{})
	if fault, ok := errors.AsType[*llm.Error](err); ok {
		fmt.Println(fault.Kind)
	}
	reply, err := model.Complete(context.Background(), llm.Request{})
	fmt.Println(reply.Text, err)
	// Output:
	// unavailable
	// It rains. <nil>
}

// A transcript shows what was said, act by act.
func ExampleTranscript() {
	ctx := context.Background()
	forecaster := agent.New("forecaster", agent.Handle(weather, func(context.Context, Question) (Reply, error) { return Reply{"It rains."}, nil }))
	visitor := agent.New("visitor")
	clock := agenttest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)) // however slow the machine is, no timer fires
	host := agent.NewHost(agent.Config{Store: memory.New(), Clock: clock, Log: slog.New(slog.DiscardHandler)}, forecaster, visitor)
	if err := host.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer host.Stop(ctx)
	x, err := agent.Start(ctx, visitor, "forecaster", weather, Question{"Turku"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := x.Wait(ctx); err != nil {
		log.Fatal(err)
	}
	text, err := agenttest.Transcript(ctx, x.ID(), host)
	if err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "agent://") || strings.HasPrefix(line, "sent ") {
			fmt.Print(line)
		}
	}
	// Output:
	// agent://local/forecaster with agent://local/visitor: done:ok
	// sent !inform, received to done:ok
	// agent://local/visitor with agent://local/forecaster: done:ok
	// sent !request, start to requested
	// agent://local/visitor concluded
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
