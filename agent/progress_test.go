package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// Step is what the tests tell on the way to a result.
type Step struct {
	Percent int `json:"percent" jsonschema:"minimum=0,maximum=100"`
}

var (
	trek = protocol.Request[Seat, Booking]("acme.flight.trek/v1").WithProgress(Step{})
	scan = protocol.Query[Seat, Booking]("acme.flight.scan/v1").WithProgress(Step{})
	move = protocol.NewAuction[Job, Price, Done]("acme.haul.move/v1").WithProgress(Step{})
)

// halves tells twice how far it has come.
func halves(ctx context.Context) error {
	return errors.Join(agent.Progress(ctx, Step{50}), agent.Progress(ctx, Step{100}))
}

// steps are the contents of the partial informs that the owner received.
func steps(t *testing.T, h *agent.Host, owner, id string) []string {
	t.Helper()
	var list []string
	for _, e := range logged(t, h, owner, id, "?inform~") {
		list = append(list, string(e.Content()))
	}
	return list
}

var bothHalves = []string{`{"percent":50}`, `{"percent":100}`}

func TestProgressReachesTheAskerInOrderBeforeTheResult(t *testing.T) {
	for _, c := range []protocol.Contract[Seat, Booking]{trek, scan} {
		t.Run(c.Protocol(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				flights := agent.New("flights", agent.Handle(c, func(ctx context.Context, _ Seat) (Booking, error) {
					return Booking{"R1"}, halves(ctx)
				}))
				planner, a, b := meet(t, flights)
				x, err := agent.Start(t.Context(), planner, "flights", c, seat)
				if err != nil {
					t.Fatal(err)
				}
				var seen []string
				for e, err := range x.Events(t.Context()) {
					if err != nil {
						t.Fatal(err)
					}
					if act, ok := e.(*agent.Acted); ok && act.Kind == store.Received && act.Event != "?agree" {
						seen = append(seen, string(act.Message.Content()))
					}
				}
				if want := append(slices.Clone(bothHalves), `{"reference":"R1"}`); !slices.Equal(seen, want) {
					t.Errorf("the events tell %q, want %q", seen, want)
				}
				if out, err := x.Wait(t.Context()); err != nil || out.Reference != "R1" {
					t.Errorf("Wait = %v, %v", out, err)
				}
				synctest.Wait()
				for _, e := range sentOf(t, b, flights, x.ID()) {
					if e.Status() == envelope.Partial && e.Schema() != c.Name().Progress() {
						t.Errorf("progress has the schema %s", e.Schema())
					}
				}
				if n := a.Counts()["violation.legality"]; n != 0 {
					t.Errorf("%d acts were illegal", n)
				}
			})
		})
	}
}

func TestWhoGotAnAwardTellsProgressAndWhoBidsCannot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		early := make(chan error, 1)
		ann := agent.New("ann", agent.Bid(move,
			func(ctx context.Context, _ Job) (Price, error) {
				early <- agent.Progress(ctx, Step{1})
				return Price{70}, nil
			},
			func(ctx context.Context, _ Job, _ Price) (Done, error) { return Done{"ann"}, halves(ctx) }))
		planner, a, _ := meet(t, ann)
		out, err := agent.CallForProposals(t.Context(), planner, []string{"ann"}, move, piano, agent.AuctionTerms[Job, Price]{Pick: cheapest})
		if err != nil {
			t.Fatal(err)
		}
		if err := <-early; err == nil || strings.Contains(err.Error(), "cancel") {
			t.Errorf("a bidder that tells progress gets %v, though nobody cancelled", err)
		}
		if got := steps(t, a, planner.URI(), out.Conversation); !slices.Equal(got, bothHalves) {
			t.Errorf("told %q", got)
		}
	})
}

func TestProgressThatCannotBeToldSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := agent.Progress(t.Context(), Step{1}); !errors.Is(err, agent.ErrOutside) {
			t.Errorf("outside a handler: %v", err)
		}
		flights := agent.New("flights",
			agent.Handle(book, func(ctx context.Context, _ Seat) (Booking, error) {
				if err := agent.Progress(ctx, Step{1}); !errors.Is(err, agent.ErrNoProgress) {
					t.Errorf("under a contract without progress: %v", err)
				}
				return Booking{"R1"}, nil
			}),
			agent.Handle(trek, func(ctx context.Context, _ Seat) (Booking, error) {
				if invalid, ok := errors.AsType[*schema.Invalid](agent.Progress(ctx, Step{101})); !ok || invalid.Violations[0].Pointer != "/percent" {
					t.Errorf("progress that does not fit: %v", invalid)
				}
				if err := agent.Progress(ctx, Booking{"R1"}); err == nil {
					t.Error("progress of another type was told")
				}
				return Booking{"R1"}, nil
			}))
		planner, a, _ := meet(t, flights)
		for _, c := range []protocol.Contract[Seat, Booking]{book, trek} {
			q := ask(t, planner, "flights", c, seat)
			if _, err := q.wait(); err != nil {
				t.Error(err)
			}
			if got := steps(t, a, planner.URI(), q.id); len(got) != 0 {
				t.Errorf("told %q", got)
			}
		}
	})
}

func TestProgressAfterACancelGivesTheCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan error, 1)
		flights := agent.New("flights", agent.Handle(trek, func(ctx context.Context, _ Seat) (Booking, error) {
			<-ctx.Done()
			told <- agent.Progress(ctx, Step{1})
			return Booking{}, ctx.Err()
		}))
		planner, a, _ := meet(t, flights)
		ctx, cancel := context.WithCancel(t.Context())
		q := askIn(ctx, t, planner, "flights", trek, seat)
		at(time.Second)
		cancel()
		q.wait()
		if err := <-told; err == nil {
			t.Error("progress was told after the cancel")
		}
		at(time.Second)
		if got := state(t, a, planner, q.id); got != "done:cancelled" {
			t.Errorf("the asker is in %q", got)
		}
	})
}

func TestProgressOfAHandlerThatRunsAgainIsToldOnce(t *testing.T) {
	for name, after := range map[string]bool{"before it is durable": false, "after it is durable": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var runs atomic.Int32
				flights := func() *agent.Agent {
					return agent.New("flights", agent.Handle(trek, func(ctx context.Context, _ Seat) (Booking, error) {
						runs.Add(1)
						return Booking{"R1"}, halves(ctx)
					}))
				}
				planner, id := reopenedAsker(t, tells(2), after, flights, func(planner *agent.Agent, opened agent.AskOption) error {
					_, err := agent.Ask(t.Context(), planner, "flights", trek, seat, agent.Within(5*time.Minute), opened)
					return err
				})
				if got := steps(t, planner.host, planner.uri, id); !slices.Equal(got, bothHalves) || runs.Load() != 2 {
					t.Errorf("told %q in %d runs", got, runs.Load())
				}
			})
		})
	}
}

// asker is who asked, and where.
type asker struct {
	host *agent.Host
	uri  string
}

// reopenedAsker asks an agent whose host dies at a commit and is opened again,
// with an agent made anew, and returns who asked in which conversation.
func reopenedAsker(t *testing.T, when func(store.WriteSet) bool, after bool, again func() *agent.Agent, ask func(*agent.Agent, agent.AskOption) error) (asker, string) {
	t.Helper()
	path := t.TempDir() + "/b.db"
	planner := agent.New("planner")
	a := begin(t, nil, nil, planner)
	var b *agent.Host
	disk := &crashing{Store: open(t, path), when: when, after: after}
	reopened := make(chan struct{})
	disk.crash = func() {
		if err := b.Kill(); err != nil {
			t.Error(err)
		}
		go func() {
			defer close(reopened)
			agent.Introduce(a, beginWith(t, nil, open(t, path), []*agent.Host{a}, again()))
		}()
	}
	b = begin(t, nil, disk, again())
	agent.Introduce(a, b)
	disk.armed.Store(true)
	id := ""
	if err := ask(planner, agent.Opened(func(c string) { id = c })); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if disk.armed.Load() {
		t.Fatal("the host did not die")
	}
	<-reopened
	return asker{a, planner.URI()}, id
}
