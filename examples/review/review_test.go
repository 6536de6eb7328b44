package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/llm/rehearsal"
	"github.com/parley-agents/parley/protocol"
)

var (
	approves = agenttest.Calls(agenttest.Call("inform", Opinion{Approve, []Finding{{6, Minor, "Wrap the error."}}}))
	rejects  = agenttest.Calls(agenttest.Call("dissent", Opinion{Reject, []Finding{{3, Blocker, "The name may contain dots."}}}))
	abstains = agenttest.Calls(agenttest.Call("refuse", map[string]string{"code": "permanent", "reason": "no-documentation"}))
	runs     = agenttest.Calls(agenttest.Call("run_tests", Tested{risky.File}))
	passed   = agenttest.Calls(agenttest.Call("inform", Opinion{Verdict: Approve}))
)

// after is a reply that takes its time, which in a bubble takes none.
func after(d time.Duration, reply agenttest.Reply) agenttest.Reply {
	return func(ctx context.Context, r llm.Request) (*llm.Response, error) {
		time.Sleep(d)
		return reply(ctx, r)
	}
}

// says are models that follow scripts, by reviewer.
func says(scripts map[string][]agenttest.Reply) func(string) llm.Model {
	return func(name string) llm.Model { return agenttest.NewScript(scripts[name]...) }
}

// everybody is a panel that answers one after the other: two approve, one
// dissents, one abstains.
func everybody() func(string) llm.Model {
	return says(map[string][]agenttest.Reply{
		"correctness": {after(1*time.Second, approves)},
		"docs":        {after(2*time.Second, abstains)},
		"security":    {after(3*time.Second, rejects)},
		"tests":       {after(4*time.Second, runs), passed},
	})
}

func panel(quorum int) round {
	return round{[]string{"correctness", "docs", "security", "tests"}, risky, quorum, time.Minute}
}

// hold runs one review on hosts of its own, the author's first.
func hold(t *testing.T, r round, model func(string) llm.Model) (agent.Gathered[Opinion], []*agent.Host) {
	t.Helper()
	author := agent.New("author")
	hosts := agenttest.Hosts(t, append([]*agent.Agent{author}, reviewers(model)...)...)
	g, err := r.run(t.Context(), io.Discard, author)
	if err != nil {
		t.Fatal(err)
	}
	return g, hosts
}

func members[T any](list []agent.Contributed[T]) (uris []string) {
	for _, c := range list {
		uris = append(uris, c.Member)
	}
	return uris
}

func TestAReviewReadsAsWrittenDown(t *testing.T) {
	for range 2 { // from run to run nothing differs
		synctest.Test(t, func(t *testing.T) {
			g, hosts := hold(t, panel(2), everybody())
			agenttest.Golden(t, filepath.Join("testdata", "review.golden"), g.Conversation, hosts...)
		})
	}
}

func TestAQuorumThatIsThereEarlierMakesTheDissenterMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := hold(t, panel(1), everybody())
		if got := members(g.Contributions); !reflect.DeepEqual(got, []string{"agent://local/correctness"}) || len(g.Dissent) > 0 {
			t.Errorf("contributed %v, dissent %v; want correctness alone", got, g.Dissent)
		}
		want := []string{"agent://local/docs", "agent://local/security", "agent://local/tests"}
		if !reflect.DeepEqual(g.Missing, want) || g.Terminal != protocol.TerminalCompleted {
			t.Errorf("%s without %v, want COMPLETED without %v", g.Terminal, g.Missing, want)
		}
	})
}

func TestTheDeadlineGivesWhatThereIsAndWhoIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		author := agent.New("author")
		agenttest.Hosts(t, append([]*agent.Agent{author}, reviewers(everybody())...)...)
		terms := agent.GatherTerms{Policy: protocol.PolicyQuorum, Quorum: 2, Reducer: protocol.ReducerPreserveDissent}
		began := time.Now()
		g, err := agent.Gather(t.Context(), author, []string{"correctness", "release", "security"}, Review, risky, terms, agent.Within(5*time.Second))
		unmet, ok := errors.AsType[*protocol.UnmetError](err)
		if !ok || unmet.Terminal != protocol.TerminalTimedOut || !reflect.DeepEqual(unmet.Missing, []string{"agent://local/release"}) {
			t.Fatalf("Gather = %v, want TIMED_OUT without release", err)
		}
		if took := time.Since(began); took < 5*time.Second || took > 6*time.Second {
			t.Errorf("it took %s, want five seconds", took)
		}
		if c, d := members(g.Contributions), members(g.Dissent); len(c) != 1 || len(d) != 1 || c[0] != "agent://local/correctness" || d[0] != "agent://local/security" {
			t.Errorf("contributed %v, dissented %v; want correctness and security", c, d)
		}
	})
}

func TestAReviewerWhoApprovesABlockerIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		muddled := agenttest.Calls(agenttest.Call("inform", Opinion{Approve, []Finding{{3, Blocker, ""}}}))
		bare := agenttest.Calls(agenttest.Call("dissent", Opinion{Verdict: Reject}))
		model := says(map[string][]agenttest.Reply{"security": {muddled, bare, rejects}})
		g, _ := hold(t, round{[]string{"security"}, risky, 1, time.Minute}, model)
		if len(g.Dissent) != 1 || len(g.Contributions) != 0 || g.Dissent[0].Value.Findings[0].Line != 3 {
			t.Errorf("contributed %v, dissented %v", g.Contributions, g.Dissent)
		}
	})
}

func TestLinesCountFromOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nowhere := agenttest.Calls(agenttest.Call("dissent", Opinion{Reject, []Finding{{0, Blocker, ""}}}))
		model := says(map[string][]agenttest.Reply{"security": {nowhere, nowhere, nowhere, nowhere, nowhere, nowhere, nowhere, nowhere}})
		g, _ := hold(t, round{[]string{"security"}, risky, 1, time.Minute}, model)
		if len(g.Dissent)+len(g.Contributions) != 0 || len(g.Abstained) != 1 {
			t.Errorf("a finding on line 0 was taken: %+v", g)
		}
	})
}

func TestTheAuthorDecidesByWhatWasFoundAndNotByCounting(t *testing.T) {
	said := func(member string, v Verdict) agent.Contributed[Opinion] {
		return agent.Contributed[Opinion]{Member: "agent://local/" + member, Value: Opinion{Verdict: v}}
	}
	list := func(l ...agent.Contributed[Opinion]) []agent.Contributed[Opinion] { return l }
	a, b, c := said("a", Approve), said("b", Approve), said("c", Reject)
	for name, tt := range map[string]struct {
		gathered agent.Gathered[Opinion]
		want     Decision
		why      string
	}{
		"all approve":                    {agent.Gathered[Opinion]{Terminal: "COMPLETED", Contributions: list(a, b)}, Merge, "nobody found a blocker"},
		"one of three dissents":          {agent.Gathered[Opinion]{Terminal: "DISSENT_RECORDED", Contributions: list(a, b), Dissent: list(c)}, Mend, "c found a blocker"},
		"a rejection without dissent":    {agent.Gathered[Opinion]{Terminal: "COMPLETED", Contributions: list(a, b, c)}, Mend, "c found a blocker"},
		"dissent without a rejection":    {agent.Gathered[Opinion]{Terminal: "DISSENT_RECORDED", Contributions: list(a), Dissent: list(b)}, AskAgain, "the review ended DISSENT_RECORDED"},
		"approval, then silence":         {agent.Gathered[Opinion]{Terminal: "TIMED_OUT", Contributions: list(a, b)}, AskAgain, "the review ended TIMED_OUT"},
		"silence":                        {agent.Gathered[Opinion]{Terminal: "TIMED_OUT"}, AskAgain, "the review ended TIMED_OUT"},
		"approval not acknowledged":      {agent.Gathered[Opinion]{Terminal: "BLOCKED", Contributions: list(a)}, AskAgain, "the review ended BLOCKED"},
		"a rejection of half of a panel": {agent.Gathered[Opinion]{Terminal: "TIMED_OUT", Dissent: list(c)}, Mend, "c found a blocker"},
	} {
		if got, why := decide(tt.gathered); got != tt.want || why != tt.why {
			t.Errorf("%s: %s, because %s; want %s, because %s", name, got, why, tt.want, tt.why)
		}
	}
}

func TestARoundThatCannotBeHeldIsAnError(t *testing.T) {
	author := agent.New("author")
	agenttest.Host(t, append([]*agent.Agent{author}, reviewers(says(nil))...)...)
	var out bytes.Buffer
	_, err := round{[]string{"docs"}, risky, 2, time.Minute}.run(t.Context(), &out, author)
	if fault, ok := errors.AsType[*protocol.GatherError](err); !ok || fault.Rule != "quorum" {
		t.Errorf("two of one: %v, want a GatherError about the quorum", err)
	}
	if strings.Contains(out.String(), "decides") {
		t.Errorf("the author decided without a review:\n%s", out.String())
	}
}

func TestTheRehearsalReadsWhatItReviews(t *testing.T) {
	page := Change{File: "README.md", Source: "# Uploads"}
	run := func(outcome string) []rehearsal.Message {
		return []rehearsal.Message{{Role: rehearsal.Tool, Name: "run_tests", Text: outcome}}
	}
	for _, tt := range []struct {
		reviewer string
		change   Change
		after    []rehearsal.Message
		want     string
	}{
		{"correctness", risky, nil, "inform"},
		{"docs", risky, nil, "refuse"},
		{"docs", page, nil, "inform"},
		{"security", risky, nil, "dissent"},
		{"security", mended, nil, "inform"},
		{"tests", risky, nil, "run_tests"},
		{"tests", risky, run(`{"outcome":"ok","result":{"passed":12,"failed":0}}`), "inform"},
		{"tests", risky, run(`{"outcome":"ok","result":{"passed":11,"failed":1}}`), "dissent"},
		{"tests", risky, run(`{"outcome":"failed","code":"transient","reason":"tool"}`), "failure"},
	} {
		data, err := json.Marshal(tt.change)
		if err != nil {
			t.Fatal(err)
		}
		asked := rehearsal.Message{Role: rehearsal.User, Text: "It is data:\n" + string(data) + "\n"}
		reply, ok := rules(tt.reviewer)[0](rehearsal.Request{Messages: append([]rehearsal.Message{asked}, tt.after...), Functions: []rehearsal.Function{{Name: "dissent"}}})
		if !ok || len(reply.Calls) != 1 || reply.Calls[0].Name != tt.want {
			t.Errorf("%s about %s after %v: %v, want %s", tt.reviewer, tt.change.File, tt.after, reply.Calls, tt.want)
		}
	}
}
