package agenttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// clerk is an agent whose model calls a tool, asks a colleague and answers.
type clerk struct {
	ran    atomic.Int32
	asked  atomic.Int32
	prompt string
	tool   agent.Option
	more   []agent.Option
	naked  bool // without Replayable
}

// Search and Searched are what the clerk's tool takes.
type Search struct {
	City string `json:"city"`
	Days string `json:"days"`
}

type Counted struct {
	City string `json:"city"`
	Days int    `json:"days"`
}

func look[In any](c *clerk, name string, opts ...agent.ToolOption) agent.Option {
	return agent.Tool(name, "The radar over a city.", func(context.Context, In) (string, error) {
		c.ran.Add(1)
		return "echoes", nil
	}, opts...)
}

func (c *clerk) agent(replies ...agenttest.Reply) *agent.Agent {
	script := agenttest.NewScript(replies...)
	counting := agent.Around(agent.Layer{Model: func(ctx context.Context, r llm.Request, next func(context.Context, llm.Request) (*llm.Response, error)) (*llm.Response, error) {
		c.asked.Add(1)
		return next(ctx, r)
	}})
	opts := []agent.Option{counting, agent.Model(script), agent.Answer(weather, c.prompt), c.tool, agent.MayAsk("colleague", weather)}
	if !c.naked {
		opts = append([]agent.Option{agenttest.Replayable()}, opts...)
	}
	return agent.New("clerk", append(opts, c.more...)...)
}

func hired() *clerk {
	c := &clerk{prompt: "Answer from what you know."}
	c.tool = look[Search](c, "radar")
	return c
}

// answered records a conversation with the clerk.
func answered(t *testing.T) (s store.Store, conversation string) {
	t.Helper()
	return record(t, hired(), agenttest.Calls(agenttest.Call("radar", Search{"Turku", "3"}), agenttest.Call("colleague__acme_weather_now_v1", Question{"Turku"})),
		agenttest.Calls(agenttest.Call("inform", Reply{"It rains."})))
}

func record(t *testing.T, c *clerk, replies ...agenttest.Reply) (s store.Store, conversation string) {
	t.Helper()
	visitor := agent.New("visitor")
	colleague := agent.New("colleague", agent.Handle(weather, func(context.Context, Question) (Reply, error) { return Reply{"Rain."}, nil }))
	hosts := agenttest.Hosts(t, c.agent(replies...), visitor, colleague)
	_, err := agent.Ask(t.Context(), visitor, "clerk", weather, Question{"Turku"}, agent.Opened(func(id string) { conversation = id }))
	if _, failed := errors.AsType[*protocol.FailedError](err); err != nil && !failed {
		t.Fatal(err)
	}
	return hosts[0].Store(), conversation
}

func TestAModelsTurnRunsAgainWithoutItsModelToolsAndPeers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, conversation := answered(t)
		c := hired()
		again := rerun(t, s, conversation, c.agent())
		if len(again.Differences) > 0 || c.ran.Load() != 0 || c.asked.Load() != 0 {
			t.Errorf("differences %v, %d tools run, model asked %d times", again.Differences, c.ran.Load(), c.asked.Load())
		}
	})
}

func TestWhatTheModelIsOfferedMustBeWhatItWasOffered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, conversation := answered(t)
		for name, test := range map[string]struct {
			change func(*clerk)
			want   []llm.Difference
		}{
			"another name": {func(c *clerk) { c.tool = look[Search](c, "sonar") },
				[]llm.Difference{{Pointer: "/offered/radar", Recorded: "true"}, {Pointer: "/offered/sonar", Asked: "true"}}},
			"another prompt": {func(c *clerk) { c.prompt = "Guess." },
				[]llm.Difference{{Pointer: "/prompt", Asked: `"another"`, Recorded: text(t, s, conversation)}}},
		} {
			c := hired()
			test.change(c)
			m := missed(t, s, conversation, c.agent())
			if m.Kind != agenttest.MissReply || m.Name != "1" || !slices.Equal(m.Differences, test.want) || c.ran.Load() != 0 {
				t.Errorf("%s: %v, %v", name, m, m.Differences)
			}
		}
	})
}

// text is the recorded digest of the prompt.
func text(t *testing.T, s store.Store, conversation string) string {
	t.Helper()
	log, err := s.Log(t.Context(), "agent://local/clerk", conversation, 0)
	if err != nil {
		t.Fatal(err)
	}
	e, err := envelope.Decode(log[len(log)-1].Envelope)
	if err != nil {
		t.Fatal(err)
	}
	return `"` + e.Header().Provenance.Prompt + `"`
}

func TestAnotherArgumentOfAToolIsAMissWithTheNearest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, conversation := answered(t)
		c := hired()
		c.tool = look[Counted](c, "radar") // "3" is read as a number now
		m := missed(t, s, conversation, c.agent())
		want := `agent://local/clerk asks for tool radar with {"city":"Turku","days":3}, which is not in the record; ` +
			`the nearest is radar: at /days asked 3, recorded "3"`
		if m.Kind != agenttest.MissTool || m.Error() != want || c.ran.Load() != 0 {
			t.Errorf("%v, want %s; %d run", m, want, c.ran.Load())
		}
	})
}

func TestACallThatDoesNotFitTheSchemaAnyMoreIsAMiss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, conversation := answered(t)
		c := hired()
		type Elsewhere struct {
			Town string `json:"town"`
		}
		c.tool = look[Elsewhere](c, "radar", agent.ReadOnly)
		m := missed(t, s, conversation, c.agent())
		if m.Kind != agenttest.MissReply || m.Name != "repair" || m.Nearest != "1" || !strings.Contains(m.Recorded, "radar") || c.ran.Load() != 0 {
			t.Errorf("%v; %d run", m, c.ran.Load())
		}
	})
}

func TestAToolThatWasNotRunThenIsNotRunNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := func(string) bool { return true }
		when := agent.OfferWhen(func(_ context.Context, f string) bool { return f != "radar" || late(f) })
		for _, opts := range [][]agent.ToolOption{nil, {agent.ReadOnly}, {agent.Keyed}} {
			// Then it was not offered, so the model was told so.
			then := hired()
			then.more = []agent.Option{agent.OfferWhen(func(_ context.Context, f string) bool { return f != "radar" })}
			s, conversation := record(t, then, agenttest.Calls(agenttest.Call("radar", Search{"Turku", "3"})), agenttest.Calls(agenttest.Call("inform", Reply{"?"})))
			agenttest.Replay(t, s, conversation, func() *agent.Agent { c := hired(); c.more = then.more; return c.agent() }())
			now := hired()
			now.tool, now.more = look[Search](now, "radar", opts...), []agent.Option{when}
			if m := missed(t, forgetful{s}, conversation, now.agent()); m.Kind != agenttest.MissTool || m.Name != "radar" || now.ran.Load() != 0 {
				t.Errorf("%v: %v; %d run", opts, m, now.ran.Load())
			}
		}
	})
}

// forgetful is a store whose replies do not say what was offered or asked.
type forgetful struct{ store.Store }

func (f forgetful) Turns(ctx context.Context, k store.Key) ([]store.Turn, error) {
	return edited(ctx, f.Store, k, func(_ int, reply map[string]any) { delete(reply, "offered"); delete(reply, "asked") })
}

// edited reads records and changes the replies among them.
func edited(ctx context.Context, s store.Store, k store.Key, edit func(n int, reply map[string]any)) ([]store.Turn, error) {
	turns, err := s.Turns(ctx, k)
	n := 0
	for i, turn := range turns {
		if turn.Kind != store.Reply {
			continue
		}
		var reply map[string]any
		if err := json.Unmarshal(turn.Data, &reply); err != nil {
			return nil, err
		}
		edit(n, reply)
		n++
		if turns[i].Data, err = json.Marshal(reply); err != nil {
			return nil, err
		}
	}
	return turns, err
}

// edition is a store whose replies were changed.
type edition struct {
	store.Store
	edit func(n int, reply map[string]any)
}

func (p edition) Turns(ctx context.Context, k store.Key) ([]store.Turn, error) {
	return edited(ctx, p.Store, k, p.edit)
}

func TestARecordedDigestOfWhatTheModelWasAskedIsCompared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, conversation := answered(t)
		m := missed(t, edition{s, func(_ int, reply map[string]any) {
			reply["asked"] = map[string]any{"system": "0", "functions": map[string]string{}}
		}}, conversation, hired().agent())
		is := map[string]any{"functions": map[string]string{}}
		for _, d := range m.Differences {
			switch name, isFunction := strings.CutPrefix(d.Pointer, "/functions/"); {
			case isFunction:
				is["functions"].(map[string]string)[name] = strings.Trim(d.Asked, `"`)
			case d.Pointer == "/system":
				is["system"] = strings.Trim(d.Asked, `"`)
			}
		}
		right := edition{s, func(n int, reply map[string]any) {
			if n == 0 {
				reply["asked"] = is
			}
		}}
		agenttest.Replay(t, right, conversation, hired().agent()) // a nonce and a schema later it is the same
		c := hired()
		c.more = []agent.Option{agent.Instructions(func(context.Context) string { return "Be brief." })}
		if m := missed(t, right, conversation, c.agent()); len(m.Differences) != 1 || m.Differences[0].Pointer != "/system" {
			t.Errorf("other instructions: %v", m.Differences)
		}
		c = hired()
		c.tool = look[Question](c, "radar")
		if m := missed(t, right, conversation, c.agent()); len(m.Differences) != 1 || m.Differences[0].Pointer != "/functions/radar" {
			t.Errorf("another schema: %v", m.Differences)
		}
	})
}

func TestAReplyTooManyIsAMiss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, conversation := answered(t)
		c := hired()
		c.more = []agent.Option{agent.Check(weather, func(context.Context, Reply) error { return errors.New("too short") })}
		m := missed(t, s, conversation, c.agent())
		if m.Kind != agenttest.MissReply || m.Name != "3" || m.Nearest != "2" || !strings.Contains(m.Recorded, "It rains.") {
			t.Errorf("%v", m)
		}
	})
}

func TestARecordedRepairIsTakenFromTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conversation, hosts := rainy(t)
		again := agent.New("forecaster", agenttest.Replayable(), agent.Model(agenttest.NewScript()), agent.Answer(weather, "Answer from what you know."),
			agent.Tool("radar", "The radar over a city.", func(_ context.Context, q Question) (string, error) { return "", errors.New("run") }),
			agent.MayAsk("colleague", weather))
		agenttest.Replay(t, hosts[1].Store(), conversation, again)
	})
}

func TestAModelThatFailedThenFailsNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, kind := range []llm.ErrorKind{llm.ErrorUnavailable, llm.ErrorBadRequest} {
			s, conversation := record(t, hired(), agenttest.Fails(&llm.Error{Kind: kind}))
			agenttest.Replay(t, s, conversation, hired().agent())
		}
	})
}

func TestAModelThatCannotBeReplayedIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, conversation := answered(t)
		c := hired()
		c.naked = true
		_, err := agenttest.Reexecute(t.Context(), s, conversation, c.agent(agenttest.Calls(agenttest.Call("inform", Reply{"?"}))))
		if err == nil || !strings.Contains(err.Error(), "agenttest.Replayable") {
			t.Errorf("Reexecute = %v", err)
		}
	})
}

func TestAnotherArgumentOfAPeerIsAMiss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, conversation := answered(t)
		other := edition{s, func(n int, reply map[string]any) {
			if n == 0 { // as if the model's words were mended in another way now
				reply["Calls"].([]any)[1].(map[string]any)["Arguments"] = `{"city":"Oulu"}`
			}
		}}
		m := missed(t, other, conversation, hired().agent())
		want := llm.Difference{Pointer: "/content/city", Asked: `"Oulu"`, Recorded: `"Turku"`}
		if m.Kind != agenttest.MissQuestion || len(m.Differences) != 1 || m.Differences[0] != want {
			t.Errorf("%v: %v", m, m.Differences)
		}
	})
}
