package agent_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// helpers answer everything, and only when they are told to stop. ended gets one
// value for each that was.
func helpers(ended chan<- error) []*agent.Agent {
	idle := func(ctx context.Context) error {
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return ctx.Err()
	}
	list := []*agent.Agent{answers(func(ctx context.Context, _ Seat) (Booking, error) { return Booking{}, idle(ctx) })}
	for _, name := range []string{"ann", "bob"} {
		list = append(list, agent.New(name,
			agent.Contribute(opinion, func(ctx context.Context, _ Job) (Price, error) { return Price{}, idle(ctx) }),
			agent.Bid(haul, func(ctx context.Context, _ Job) (Price, error) { return Price{}, idle(ctx) },
				func(ctx context.Context, _ Job, _ Price) (Done, error) { return never(ctx) }),
			agent.Consider(promise, func(ctx context.Context, _ Price) error { return idle(ctx) }),
			agent.Publish(ticks, func(ctx context.Context, _ Job, _ func(Tick) error) error { return idle(ctx) })))
	}
	return list
}

// verbs are the ways in which an agent opens a conversation: each waits for how
// it ends.
var verbs = map[string]struct {
	do    func(ctx context.Context, from *agent.Agent, opts ...agent.AskOption) error
	peers int
}{
	"an exchange": {func(ctx context.Context, from *agent.Agent, opts ...agent.AskOption) error {
		x, err := agent.Start(ctx, from, "flights", book, seat, opts...)
		if err == nil {
			_, err = x.Wait(ctx)
		}
		return err
	}, 1},
	"a query": {func(ctx context.Context, from *agent.Agent, opts ...agent.AskOption) error {
		_, err := agent.Ask(ctx, from, "flights", look, seat, opts...)
		return err
	}, 1},
	"an offer": {func(ctx context.Context, from *agent.Agent, opts ...agent.AskOption) error {
		return agent.Propose(ctx, from, "ann", promise, Price{70}, opts...)
	}, 1},
	"a gather": {func(ctx context.Context, from *agent.Agent, opts ...agent.AskOption) error {
		_, err := agent.Gather(ctx, from, []string{"ann", "bob"}, opinion, piano, agent.GatherTerms{}, opts...)
		return err
	}, 2},
	"an auction": {func(ctx context.Context, from *agent.Agent, opts ...agent.AskOption) error {
		_, err := agent.CallForProposals(ctx, from, []string{"ann", "bob"}, haul, piano, best, opts...)
		return err
	}, 2},
	"a subscription": {func(ctx context.Context, from *agent.Agent, opts ...agent.AskOption) error {
		for _, err := range agent.Subscribe(ctx, from, "ann", ticks, piano, opts...) {
			return err
		}
		return nil
	}, 1},
}

// leave opens a conversation from within work that does not wait for it, and
// returns once it is durable.
func leave(ctx context.Context, from *agent.Agent, verb func(context.Context, *agent.Agent, ...agent.AskOption) error) error {
	opened, failed := make(chan string, 1), make(chan error, 1)
	go func() {
		failed <- verb(context.WithoutCancel(ctx), from, agent.Opened(func(id string) { opened <- id }))
	}()
	select {
	case <-opened:
		return nil
	case err := <-failed:
		return err
	}
}

// childrenOf are the exchanges that the work of the middle agent opened.
func childrenOf(t *testing.T, h *agent.Host, middle, planner *agent.Agent, id string) []store.Exchange {
	t.Helper()
	list, err := h.Store().Children(t.Context(), store.Key{Owner: middle.URI(), Conversation: id, Peer: planner.URI()})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// calledOff checks that the exchanges are as many as they should be and have
// ended, each in a conversation that somebody asked to cancel.
func calledOff(t *testing.T, h *agent.Host, children []store.Exchange, n int) {
	t.Helper()
	if len(children) != n {
		t.Errorf("the work opened %d exchanges, want %d", len(children), n)
	}
	for _, x := range children {
		if got := x.State.Outcome(); got != protocol.Cancelled && got != protocol.Closed {
			t.Errorf("the exchange with %s is in %q", x.Peer, x.State.State)
		}
		if got := conclusionOf(t, h, x.Key); got != protocol.TerminalCancelled {
			t.Errorf("the conversation with %s ended %q, want %s", x.Peer, got, protocol.TerminalCancelled)
		}
	}
}

// conclusionOf is how the conversation of an exchange was concluded, "" if it was
// not.
func conclusionOf(t *testing.T, h *agent.Host, k store.Key) protocol.Terminal {
	t.Helper()
	log, err := h.Store().Log(t.Context(), k.Owner, k.Conversation, 0)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(log, func(e store.Entry) bool { return e.Kind == store.Concluded })
	if i < 0 {
		return ""
	}
	return terminalOf(t, log[i])
}

func TestWhatWorkOpenedAndDidNotWaitForIsCancelledWhenTheWorkComesToNothing(t *testing.T) {
	obeys := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for name, tt := range map[string]struct {
		handler func(context.Context) error
		cancel  bool
		within  time.Duration
		state   protocol.State
	}{
		"it is cancelled":      {obeys, true, time.Minute, "done:cancelled"},
		"it ignores a cancel":  {func(context.Context) error { <-time.After(10 * time.Second); return nil }, true, time.Minute, "done:failed"},
		"it fails":             {func(context.Context) error { return agent.Fail(envelope.CodePermanent, "broken") }, false, time.Minute, "done:failed"},
		"it is refused":        {func(context.Context) error { return agent.Refuse(envelope.CodePermanent, "unwilling") }, false, time.Minute, "done:failed"},
		"it ends in an error":  {func(context.Context) error { return errors.New("broken") }, false, time.Minute, "done:failed"},
		"it panics":            {func(context.Context) error { panic("lost my head") }, false, time.Minute, "done:failed"},
		"it runs out of time":  {obeys, false, 2 * time.Second, "done:failed"},
		"nobody tells it stop": {func(context.Context) error { <-time.After(time.Minute); return nil }, false, 2 * time.Second, "done:failed"},
	} {
		for what, child := range verbs {
			t.Run(name+", having opened "+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ended := make(chan error, 4)
					var middle *agent.Agent
					middle = agent.New("middle", agent.Handle(book, func(ctx context.Context, _ Seat) (Booking, error) {
						if err := leave(ctx, middle, child.do); err != nil {
							t.Error(err)
						}
						<-time.After(time.Second)
						return Booking{Reference: "R1"}, tt.handler(ctx)
					}))
					planner, _, b := meet(t, append(helpers(ended), middle)...)
					ctx, cancel := context.WithCancel(t.Context())
					q := askIn(ctx, t, planner, "middle", book, seat, agent.Within(tt.within))
					at(time.Second + time.Millisecond)
					if tt.cancel {
						cancel()
					}
					at(4 * time.Second)
					children := childrenOf(t, b, middle, planner, q.id)
					if len(ended) != child.peers {
						t.Errorf("%d helpers were told to stop, want %d", len(ended), child.peers)
					}
					if tt.within > 2*time.Second { // else their own time was over first
						calledOff(t, b, children, child.peers)
					}
					at(20 * time.Second)
					for _, x := range childrenOf(t, b, middle, planner, q.id) {
						if !x.State.Done() {
							t.Errorf("the exchange with %s is in %q", x.Peer, x.State.State)
						}
					}
					// At the deadline a cancel and the work's own end may cross.
					if got := state(t, b, middle, q.id); got != tt.state && tt.within > 2*time.Second {
						t.Errorf("the work is in %q, want %q", got, tt.state)
					}
					at(time.Minute)
					cancel()
				})
			})
		}
	}
}

func TestWhatWorkOpenedGoesOnWhenTheWorkEndsWell(t *testing.T) {
	for what, child := range verbs {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan error, 4)
				var middle *agent.Agent
				middle = agent.New("middle", agent.Handle(book, func(ctx context.Context, _ Seat) (Booking, error) {
					return Booking{Reference: "R1"}, leave(ctx, middle, child.do)
				}))
				planner, _, b := meet(t, append(helpers(ended), middle)...)
				q := ask(t, planner, "middle", book, seat)
				if out, err := q.wait(); err != nil || out.Reference != "R1" {
					t.Fatalf("Ask = %v, %v", out, err)
				}
				at(10 * time.Second)
				for _, x := range childrenOf(t, b, middle, planner, q.id) {
					if x.State.Done() || x.State.Cancel != "" {
						t.Errorf("the exchange with %s is in %q", x.Peer, x.State.State)
					}
				}
				if len(ended) > 0 {
					t.Error("a helper was told to stop")
				}
				at(time.Minute)
			})
		})
	}
}

func TestAHandlerThatIsToldToStopMayAskSomebodyToCleanUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cleaned := make(chan error, 1)
		var middle *agent.Agent
		middle = agent.New("middle", agent.Handle(book, func(ctx context.Context, s Seat) (Booking, error) {
			<-ctx.Done()
			_, err := agent.Ask(context.WithoutCancel(ctx), middle, "flights", look, s)
			cleaned <- err
			return Booking{}, ctx.Err()
		}))
		planner, _, _ := pair(t, nil, middle, answers(func(context.Context, Seat) (Booking, error) {
			<-time.After(2 * time.Second)
			return Booking{Reference: "cleaned"}, nil
		}))
		ctx, cancel := context.WithCancel(t.Context())
		askIn(ctx, t, planner, "middle", book, seat)
		at(time.Second)
		cancel()
		at(4 * time.Second)
		if err := <-cleaned; err != nil {
			t.Errorf("Ask = %v", err)
		}
	})
}

func TestACancelReachesWhatAModelAsksFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		script := agenttest.NewScript(agenttest.Calls(agenttest.Call("flights__acme_flight_book_v1", seat)))
		middle := agent.New("middle", agent.Model(script), agent.Answer(book, prompt), agent.MayAsk("flights", book))
		planner, _, b := meet(t, append(helpers(ended), middle)...)
		ctx, cancel := context.WithCancel(t.Context())
		q := askIn(ctx, t, planner, "middle", book, seat)
		at(time.Second)
		cancel()
		at(time.Second)
		calledOff(t, b, childrenOf(t, b, middle, planner, q.id), 1)
		if len(ended) != 1 {
			t.Error("the peer that the model asked was not told to stop")
		}
	})
}

// notesDown picks the commit in which an agent writes down the event.
func notesDown(on protocol.Event, owner string) func(store.WriteSet) bool {
	return func(w store.WriteSet) bool {
		return slices.ContainsFunc(w.Entries, func(e store.Entry) bool { return e.Owner == owner && e.Event == on })
	}
}

func TestWhatAbandonedWorkOpenedIsCancelledByTheNextHost(t *testing.T) {
	for name, tt := range map[string]struct {
		crash func(store.WriteSet) bool // nil: the host is down when the cancel comes
		fails bool
	}{
		"the host died over the cancel":   {crash: notesDown("?cancel", uri("middle"))},
		"the host died over the failure":  {crash: notesDown("!failure", uri("middle")), fails: true},
		"the host was down at the cancel": {},
	} {
		for what, child := range verbs {
			t.Run(name+", having opened "+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ended := make(chan error, 4)
					var runs atomic.Int32
					life := func() *agent.Agent {
						var m *agent.Agent
						m = agent.New("middle", agent.Handle(book, func(ctx context.Context, _ Seat) (Booking, error) {
							if runs.Add(1) == 1 { // the second run goes another way
								if err := leave(ctx, m, child.do); err != nil {
									return Booking{}, err
								}
							}
							<-time.After(time.Second)
							if tt.fails {
								return Booking{}, agent.Fail(envelope.CodePermanent, "broken")
							}
							<-ctx.Done()
							return Booking{}, ctx.Err()
						}))
						return m
					}
					path := filepath.Join(t.TempDir(), "b.db")
					planner := agent.New("planner")
					a := begin(t, nil, nil, append(helpers(ended), planner)...)
					disk := &crashing{Store: open(t, path), when: tt.crash, after: true}
					if tt.crash == nil {
						disk.when = func(store.WriteSet) bool { return false }
					}
					b := begin(t, nil, disk, life())
					agent.Introduce(a, b)
					disk.crash = func() {
						if err := b.Kill(); err != nil {
							t.Error(err)
						}
					}
					disk.armed.Store(true)
					ctx, cancel := context.WithCancel(t.Context())
					q := askIn(ctx, t, planner, "middle", book, seat)
					at(time.Second - time.Millisecond)
					if tt.crash == nil {
						disk.crash()
					}
					if !tt.fails {
						cancel()
					}
					at(10 * time.Millisecond)
					if len(ended) > 0 {
						t.Error("the dead host cancelled something")
					}
					again := life()
					c := beginWith(t, nil, open(t, path), []*agent.Host{a}, again)
					a.Connect(agent.PeerHost(c))
					at(4 * time.Second)
					if len(ended) != child.peers {
						t.Errorf("%d helpers were told to stop, want %d", len(ended), child.peers)
					}
					calledOff(t, c, childrenOf(t, c, again, planner, q.id), child.peers)
					at(time.Minute)
					cancel()
				})
			})
		}
	}
}
