package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// quiet is a configuration whose log nobody reads.
func quiet(s store.Store) agent.Config {
	return agent.Config{Store: s, Log: slog.New(slog.DiscardHandler)}
}

func TestStartNamesEveryMistakeInTheAgents(t *testing.T) {
	tool := func(name string) agent.Option {
		return agent.Tool(name, "A tool.", func(context.Context, City) (string, error) { return "", nil })
	}
	type Broken struct {
		Callback func() `json:"callback"`
	}
	s := open(t, filepath.Join(t.TempDir(), "a.db"))
	h := agent.NewHost(quiet(s),
		agent.New("Upper Case"),
		agent.New("clerk", agent.Answer(look, prompt), agent.Answer(look, prompt),
			tool("get weather"), tool("refuse"), tool("a__b"), tool("twice"), tool("twice"), tool(strings.Repeat("x", 65))),
		agent.New("typed", agent.Handle(protocol.Query[Broken, Booking]("acme.flight.call/v1"), nil),
			agent.Handle(protocol.Query[Seat, Broken]("acme.flight.back/v1"), nil),
			agent.MayAsk("flights", protocol.Query[Seat, Broken]("acme.flight.peer/v1")),
			agent.Tool("breaking", "Takes what cannot be written.", func(context.Context, Broken) (string, error) { return "", nil }),
			agent.MayAsk("No Peer", look), agent.MayAsk("typed", look)))
	err := h.Start(t.Context())
	if err == nil {
		t.Fatal("the host started")
	}
	for _, want := range []string{
		"agent Upper Case", "agent clerk: contract acme.flight.look/v1 is answered twice", "acme.flight.look/v1 is answered by the model, but the agent has none",
		`tool name "get weather"`, `tool name "refuse" is reserved`, `tool name "a__b" is reserved`, `tool "twice" is given twice`, strings.Repeat("x", 65),
		"agent typed: contract acme.flight.call/v1: what it takes", "contract acme.flight.back/v1: what it returns", "peer flights: contract acme.flight.peer/v1",
		"tool breaking", "Broken.Callback", `No Peer"`, "peer typed: " + agent.ErrSelf.Error(),
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%v", want, err)
		}
	}
	if err := h.Stop(t.Context()); err != nil {
		t.Errorf("stopping what did not start: %v", err)
	}
	if _, err := s.Meta(t.Context(), store.Meta{}); !errors.Is(err, store.ErrClosed) {
		t.Errorf("the store is still open: %v", err)
	}
}

func TestAnAgentHasOneNameAndOneHost(t *testing.T) {
	clerk := agent.New("clerk")
	first := agent.NewHost(quiet(open(t, filepath.Join(t.TempDir(), "a.db"))), clerk)
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer first.Stop(context.Background())
	second := agent.NewHost(agent.Config{Store: open(t, filepath.Join(t.TempDir(), "b.db")), Authority: "elsewhere"}, clerk)
	if err := second.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "belongs to another host") {
		t.Errorf("the second host started with %v", err)
	}
	if clerk.URI() != "agent://local/clerk" {
		t.Errorf("the agent is %q now", clerk.URI())
	}
	twins := agent.NewHost(quiet(open(t, filepath.Join(t.TempDir(), "c.db"))), agent.New("twin"), agent.New("twin"))
	if err := twins.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "given twice") {
		t.Errorf("the twins started with %v", err)
	}
	if err := agent.NewHost(agent.Config{}).Start(t.Context()); err == nil || !strings.Contains(err.Error(), "Config.Store") {
		t.Errorf("without a store: %v", err)
	}
}

func TestAHostStartsOnceAndStopsAsOftenAsYouLike(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := agent.New("planner")
		if planner.URI() != "" {
			t.Errorf("without a host the agent is %q", planner.URI())
		}
		if _, err := agent.Ask(t.Context(), planner, "flights", look, seat); !errors.Is(err, agent.ErrStopped) {
			t.Errorf("without a host: %v", err)
		}
		h := agent.NewHost(quiet(open(t, filepath.Join(t.TempDir(), "a.db"))), planner, answers(reference))
		if _, err := agent.Ask(t.Context(), planner, "flights", look, seat); !errors.Is(err, agent.ErrStopped) {
			t.Errorf("before the start: %v", err)
		}
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := h.Start(t.Context()); err == nil {
			t.Error("it started twice")
		}
		if _, err := agent.Ask(t.Context(), planner, "flights", look, seat); err != nil {
			t.Error(err)
		}
		for range 2 {
			if err := h.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if err := h.Start(t.Context()); err == nil {
			t.Error("it started again after its end")
		}
		if _, err := agent.Ask(t.Context(), planner, "flights", look, seat); !errors.Is(err, agent.ErrStopped) {
			t.Errorf("after the end: %v", err)
		}
		if _, err := h.Deliver(t.Context(), []byte("{}")); !errors.Is(err, agent.ErrStopped) {
			t.Errorf("Deliver after the end: %v", err)
		}
	})
}

func TestStopTellsHandlersAndWaitsForThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended time.Time
		cause := make(chan error, 1)
		flights := answers(func(ctx context.Context, _ Seat) (Booking, error) {
			<-ctx.Done()
			cause <- context.Cause(ctx)
			<-time.After(3 * time.Second)
			ended = time.Now()
			return Booking{}, ctx.Err()
		})
		planner := agent.New("planner")
		h := agent.NewHost(quiet(open(t, filepath.Join(t.TempDir(), "a.db"))), planner, flights)
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		q := ask(t, planner, "flights", look, seat)
		at(time.Second)
		if err := h.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if ended.IsZero() || !time.Now().Equal(ended) {
			t.Errorf("Stop returned at %v, the handler at %v", time.Now(), ended)
		}
		if err := <-cause; !errors.Is(err, agent.ErrStopped) {
			t.Errorf("the handler was told %v", err)
		}
		if _, err := q.wait(); !errors.Is(err, agent.ErrStopped) {
			t.Errorf("Ask = %v", err)
		}
	})
}

func TestStopWaitsNoLongerThanItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flights := answers(func(ctx context.Context, _ Seat) (Booking, error) {
			<-ctx.Done()
			<-time.After(time.Minute)
			return Booking{}, ctx.Err()
		})
		planner := agent.New("planner")
		h := agent.NewHost(quiet(open(t, filepath.Join(t.TempDir(), "a.db"))), planner, flights)
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		ask(t, planner, "flights", look, seat)
		at(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := h.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("Stop = %v after %v", err, time.Since(began))
		}
		at(time.Minute)
	})
}

func TestWorkThatAStopInterruptedIsDoneByTheNextHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "b.db")
		slow := answers(func(ctx context.Context, _ Seat) (Booking, error) {
			<-ctx.Done()
			return Booking{}, ctx.Err()
		})
		planner := agent.New("planner")
		a := begin(t, nil, nil, planner)
		b := agent.NewHost(quiet(open(t, path)), slow)
		if err := b.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		agent.Introduce(a, b)
		q := ask(t, planner, "flights", book, seat)
		at(time.Second)
		if err := b.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		agent.Introduce(a, begin(t, nil, open(t, path), answers(reference)))
		if out, err := q.wait(); err != nil || out.Reference != "R1" {
			t.Errorf("Ask = %v, %v", out, err)
		}
	})
}

func TestWorkOnAContractThatTheNextHostDoesNotKnowFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "b.db")
		planner := agent.New("planner")
		a := begin(t, nil, nil, planner)
		b := begin(t, nil, open(t, path), answers(func(ctx context.Context, _ Seat) (Booking, error) {
			<-ctx.Done()
			return Booking{}, ctx.Err()
		}))
		agent.Introduce(a, b)
		q := ask(t, planner, "flights", book, seat)
		at(time.Second)
		if err := b.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		agent.Introduce(a, begin(t, nil, open(t, path), agent.New("flights", agent.Handle(look, reference))))
		_, err := q.wait()
		if kind, e := ending(err); kind != "failed" || e.Code != envelope.CodePermanent || e.Reason != "unsupported-version" {
			t.Errorf("Ask = %v, want failed (permanent, unsupported-version)", err)
		}
	})
}

// serving is a model with a life of its own.
type serving struct {
	*agenttest.Script
	mu     sync.Mutex
	events []string
	fails  error
}

func (s *serving) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, what)
}

func (s *serving) Start(context.Context) error { s.note("start"); return s.fails }
func (s *serving) Stop(context.Context) error  { s.note("stop"); return nil }
func (s *serving) Complete(ctx context.Context, r llm.Request) (*llm.Response, error) {
	s.note("complete")
	return s.Script.Complete(ctx, r)
}

func TestAModelWithALifeOfItsOwnLivesAsLongAsItsHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &serving{Script: agenttest.NewScript(says("R1"))}
		planner, c := agent.New("planner", agent.Model(model)), clerk(model)
		h := agent.NewHost(quiet(open(t, filepath.Join(t.TempDir(), "a.db"))), planner, c)
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := agent.Ask(t.Context(), planner, "clerk", look, seat); err != nil {
			t.Fatal(err)
		}
		if err := h.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if want := []string{"start", "complete", "stop"}; !slices.Equal(model.events, want) {
			t.Errorf("the model saw %v, want %v", model.events, want)
		}
	})
}

func TestAHostWhoseModelDoesNotStartStopsTheOthers(t *testing.T) {
	good, bad := &serving{}, &serving{fails: errors.New("no weights")}
	h := agent.NewHost(quiet(open(t, filepath.Join(t.TempDir(), "a.db"))), agent.New("a", agent.Model(good)), agent.New("b", agent.Model(bad)))
	if err := h.Start(t.Context()); !errors.Is(err, bad.fails) {
		t.Errorf("Start = %v", err)
	}
	if want := []string{"start", "stop"}; !slices.Equal(good.events, want) {
		t.Errorf("the other model saw %v, want %v", good.events, want)
	}
	if err := h.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCurrentTellsAHandlerForWhomItWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got agent.Work
		var ok bool
		flights := answers(func(ctx context.Context, _ Seat) (Booking, error) {
			got, ok = agent.Current(ctx)
			return Booking{Reference: "R1"}, nil
		})
		planner, _, _ := pair(t, nil, flights)
		deadline := time.Now().UTC().Add(10 * time.Second)
		q := ask(t, planner, "flights", book, seat, agent.Within(10*time.Second), agent.OnBehalfOf("user:ada"), agent.Correlation("trip-8841"))
		if _, err := q.wait(); err != nil {
			t.Fatal(err)
		}
		want := agent.Work{Sender: planner.URI(), Actor: "user:ada", Conversation: q.id, Correlation: "trip-8841", Contract: "acme.flight.book/v1", Deadline: deadline, Input: []byte(`{"flight":"AY121"}`)}
		if !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("Current = %+v, %v; want %+v", got, ok, want)
		}
		if _, ok := agent.Current(t.Context()); ok || agent.EffectKey(t.Context()) != "" || agent.Agree(t.Context()) != nil {
			t.Error("outside a handler there is work")
		}
	})
}

func TestManyExchangesAtOnceEndEachWithItsOwnResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flights := answers(func(_ context.Context, s Seat) (Booking, error) { return Booking{Reference: "R-" + s.Flight}, nil })
		var middle *agent.Agent
		middle = agent.New("middle", agent.Handle(look, func(ctx context.Context, s Seat) (Booking, error) {
			return agent.Ask(ctx, middle, "flights", book, s)
		}))
		planner, a, b := pair(t, nil, middle, flights)
		var group sync.WaitGroup
		for i := range 40 {
			group.Go(func() {
				want := fmt.Sprintf("AY%d", i)
				out, err := agent.Ask(t.Context(), planner, "middle", look, Seat{Flight: want})
				if err != nil || out.Reference != "R-"+want {
					t.Errorf("Ask = %v, %v; want R-%s", out, err, want)
				}
			})
		}
		group.Wait()
		synctest.Wait()
		for h, owner := range map[*agent.Host]*agent.Agent{a: planner, b: flights} {
			if live, err := h.Store().Exchanges(t.Context(), owner.URI(), ""); err != nil || len(live) != 0 {
				t.Errorf("%d exchanges of %s are still live, %v", len(live), owner.URI(), err)
			}
		}
	})
}
