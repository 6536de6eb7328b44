package agent_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

// unstarted is a host of the agents that nobody has started.
func unstarted(agents ...*agent.Agent) *agent.Host {
	return agent.NewHost(quiet(memory.New()), agents...)
}

func TestWhatRunsBesideAHostLivesAsLongAsThatDoes(t *testing.T) {
	for name, before := range map[string]bool{"given before the start": true, "given afterwards": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var runs atomic.Int32
				var ended time.Time
				h := unstarted(agent.New("clerk"))
				run := func() {
					h.Run(func(ctx context.Context) {
						runs.Add(1)
						<-ctx.Done()
						<-time.After(2 * time.Second)
						ended = time.Now()
					})
				}
				if before {
					run()
					if synctest.Wait(); runs.Load() != 0 {
						t.Error("it ran before the start")
					}
				}
				if err := h.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				if !before {
					run()
				}
				at(time.Minute)
				if runs.Load() != 1 || !ended.IsZero() {
					t.Errorf("it ran %d times, and ended at %v", runs.Load(), ended)
				}
				if err := h.Stop(t.Context()); err != nil || ended.IsZero() || !time.Now().Equal(ended) {
					t.Errorf("Stop = %v at %v, it ended at %v", err, time.Now(), ended)
				}
				run()
				if synctest.Wait(); runs.Load() != 1 {
					t.Error("it ran after the stop")
				}
			})
		})
	}
}

func TestAHostThatIsKilledTellsWhatRunsBesideItAndWaitsForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan error, 1)
		h := unstarted(agent.New("clerk"))
		h.Run(func(ctx context.Context) {
			<-ctx.Done()
			told <- context.Cause(ctx)
			<-time.After(time.Minute)
		})
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := h.Kill(); err != nil || time.Since(began) != 0 {
			t.Errorf("Kill = %v after %v", err, time.Since(began))
		}
		if err := <-told; !errors.Is(err, agent.ErrStopped) {
			t.Errorf("it was told %v", err)
		}
		at(time.Minute)
	})
}

func TestAHostThatNeverStartsRunsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := unstarted(agent.New("Not A Name"))
		h.Run(func(context.Context) { t.Error("it ran") })
		if err := h.Start(t.Context()); err == nil {
			t.Error("it started")
		}
		if err := h.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		h.Run(func(context.Context) { t.Error("it ran") })
		synctest.Wait()
	})
}

func TestWhatALinkCollectsIsCollectedOnceForEachTimeItIsConnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, calls atomic.Int32
		h := unstarted(agent.New("planner"))
		var got *agent.Host
		link := agent.Remote{Agents: []string{uri("flights")}, Vouches: true, Collect: func(ctx context.Context, of *agent.Host) {
			calls.Add(1)
			running.Add(1)
			got = of
			<-ctx.Done()
			running.Add(-1)
		}}.Link()
		h.Connect(link)
		if synctest.Wait(); calls.Load() != 0 {
			t.Error("it collects before the start")
		}
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if synctest.Wait(); calls.Load() != 1 || got != h {
			t.Errorf("called %d times", calls.Load())
		}
		h.Connect(link)
		if synctest.Wait(); calls.Load() != 2 || running.Load() != 2 {
			t.Errorf("called %d times", calls.Load())
		}
		if err := h.Stop(t.Context()); err != nil || running.Load() != 0 {
			t.Errorf("Stop = %v while %d still collect", err, running.Load())
		}
	})
}

func TestAHostNamesItsAgentsTheirKeysAndWhatTheyAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flights := answers(reference)
		h := unstarted(agent.New("zoe"), flights, agent.New("ann"))
		if h.Key(flights.URI()) != nil || h.Signer(flights.URI()) != nil {
			t.Error("there is a key before the start")
		}
		if _, err := h.Token(flights.URI(), uri("planner")); !errors.Is(err, agent.ErrUnknownPeer) {
			t.Errorf("a token before the start: %v", err)
		}
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		endsWell(t, h)
		list := h.Agents()
		if want := []string{uri("zoe"), uri("flights"), uri("ann")}; !slices.Equal(list, want) {
			t.Errorf("the agents are %v", list)
		}
		list[0] = "changed"
		if h.Agents()[0] != uri("zoe") {
			t.Error("whoever asked can change them")
		}
		if key := h.Signer(flights.URI()); key == nil || !h.Key(flights.URI()).Equal(key.Public()) || h.Key(flights.URI()).Equal(h.Key(uri("ann"))) {
			t.Error("its keys do not belong together")
		}
		if h.Key(uri("bob")) != nil || h.Signer(uri("bob")) != nil || h.Contracts(uri("bob")) != nil {
			t.Error("there is something of an agent that is not here")
		}
		var names []string
		for _, c := range h.Contracts(flights.URI()) {
			names = append(names, c.Name.String())
		}
		if want := []string{"acme.flight.book/v1", "acme.flight.look/v1"}; !slices.Equal(slices.DeleteFunc(names, func(n string) bool { return n[:7] == "parley." }), want) {
			t.Errorf("it answers %v", names)
		}
		first, second := h.NewID(), h.NewID()
		if !h.Now().Equal(time.Now().UTC().Truncate(time.Millisecond)) || first == second {
			t.Error("its time or its ids are not its own")
		}
		called := make(chan time.Time, 2)
		h.At(h.Now().Add(time.Minute), func() { called <- time.Now() })
		stop := h.At(h.Now().Add(time.Second), func() { called <- time.Now() })
		stop()
		began := time.Now()
		if when := <-called; when.Sub(began) != time.Minute {
			t.Errorf("called after %v", when.Sub(began))
		}
	})
}

func TestOnlyALinkThatVouchesNeedsNoTokenWithWhatItBrings(t *testing.T) {
	for name, tt := range map[string]struct {
		vouches bool
		// replaced: another link that vouches takes its place while it sends.
		replaced bool
		want     store.OutboxStatus
	}{
		"it vouches":                       {true, false, store.Delivered},
		"it does not":                      {false, false, store.Pending},
		"another one does, too late":       {false, true, store.Pending},
		"it vouches, and another one does": {true, true, store.Delivered},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				planner, flights := agent.New("planner"), answers(reference)
				r, a, b := reader(t, nil, planner, flights)
				r.deaf = true
				silent := post(func(context.Context, []byte) ([][]byte, error) { return nil, errors.New("nobody is there") })
				a.Connect(agent.Remote{Agents: b.Agents(), Vouches: tt.vouches, Transport: post(func(ctx context.Context, data []byte) ([][]byte, error) {
					if tt.replaced {
						a.Connect(agent.Remote{Agents: b.Agents(), Transport: silent, Vouches: true}.Link())
					}
					replies, err := r.Send(ctx, data)
					for i := range replies {
						replies[i] = stripped(t, replies[i])
					}
					return replies, err
				})}.Link())
				x, err := agent.Start(t.Context(), planner, "flights", look, seat, agent.Within(20*time.Second))
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if row := outboxRow(t, a, planner, sentOf(t, a, planner, x.ID())[0]); row.Status != tt.want || (row.LastError == "") != (tt.want == store.Delivered) {
					t.Errorf("the message is %s (%s), want %s", row.Status, row.LastError, tt.want)
				}
				_, _ = x.Wait(t.Context())
			})
		})
	}
}
