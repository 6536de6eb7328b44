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
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// bars picks the commit that ends an exchange of which nothing had come.
func bars(w store.WriteSet) bool {
	return slices.ContainsFunc(w.Entries, func(e store.Entry) bool { return e.Kind == store.Absent })
}

func TestAnAnswererThatDiesAtAnyPointOfALookTellsTheSame(t *testing.T) {
	for name, tt := range map[string]struct {
		when  func(store.WriteSet) bool
		after bool
	}{
		"before it accepts the question": {accepts, false},
		"after it accepted the question": {accepts, true},
		"before it bars the exchange":    {bars, false},
		"after it barred the exchange":   {bars, true},
		"before its answer":              {completes, false},
		"after its answer":               {completes, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "b.db")
				var runs atomic.Int32
				flights := func() *agent.Agent {
					return answers(func(context.Context, Seat) (Booking, error) { runs.Add(1); return Booking{Reference: "R1"}, nil })
				}
				planner := agent.New("planner")
				a := begin(t, nil, nil, planner)
				var b, again *agent.Host
				reopened := make(chan struct{})
				disk := &crashing{Store: open(t, path), when: tt.when, after: tt.after}
				disk.crash = func() {
					if err := b.Kill(); err != nil {
						t.Error(err)
					}
					go func() {
						defer close(reopened)
						again = beginWith(t, nil, open(t, path), []*agent.Host{a}, flights())
						agent.Introduce(a, again)
					}()
				}
				first := flights()
				b = begin(t, nil, disk, first)
				var mute atomic.Bool
				mute.Store(true)
				a.Connect(agent.PeerHost(b).Through(func(next agent.Transport) agent.Transport { return muted{next, &mute} }))
				b.Connect(agent.PeerHost(a))
				_, err := agent.Ask(t.Context(), planner, "flights", book, seat, agent.Within(10*time.Second))
				u, ok := errors.AsType[*protocol.UnknownError](err)
				if !ok {
					t.Fatal(err)
				}
				at(time.Minute)
				mute.Store(false)
				disk.armed.Store(true)
				if _, err := agent.Outcome(t.Context(), planner, book, u.Conversation); looked(err) != "never seen" {
					t.Errorf("Outcome = %v", err)
				}
				<-reopened
				log, err := again.Store().Log(t.Context(), first.URI(), u.Conversation, 0)
				if err != nil || len(log) != 1 || log[0].Kind != store.Absent || runs.Load() != 0 {
					t.Errorf("the log is %v, %v after %d runs, want the one entry", log, err, runs.Load())
				}
			})
		})
	}
}

// muted loses every message while it is told to.
type muted struct {
	agent.Transport
	mute *atomic.Bool
}

func (m muted) Send(ctx context.Context, data []byte) ([][]byte, error) {
	if m.mute.Load() {
		return nil, errors.New("lost")
	}
	return m.Transport.Send(ctx, data)
}

// The planner's clock is two minutes ahead: its time is over while the flights
// still have some.
func TestWorkThatDiedIsInProgressAndDoneLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "b.db")
		release := make(chan struct{})
		planner := agent.New("planner")
		a := begin(t, ahead{2 * time.Minute}, nil, planner)
		b := begin(t, nil, open(t, path), held(release))
		agent.Introduce(a, b)
		x, err := agent.Start(t.Context(), planner, "flights", look, seat, agent.Within(10*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		at(time.Second)
		if err := b.Kill(); err != nil {
			t.Fatal(err)
		}
		if _, err := x.Wait(t.Context()); looked(err) != "unknown deadline lapsed" {
			t.Fatalf("Wait = %v", err)
		}
		at(30 * time.Second)
		agent.Introduce(a, begin(t, nil, open(t, path), held(release)))
		at(time.Second)
		_, err = agent.Outcome(t.Context(), planner, look, x.ID())
		if p, ok := errors.AsType[*protocol.InProgressError](err); !ok || !p.At.Equal(time.Now()) {
			t.Fatalf("while it works: %v, want in progress at %v", err, time.Now())
		}
		close(release)
		at(time.Second)
		if out, err := agent.Outcome(t.Context(), planner, look, x.ID()); err != nil || out.Reference != "R1" {
			t.Errorf("after its work: %v, %v", out, err)
		}
	})
}

func TestAHandlerThatRunsAgainMeetsTheAnswerOfItsFirstLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		flights := answers(func(ctx context.Context, _ Seat) (Booking, error) { <-ctx.Done(); return Booking{}, ctx.Err() })
		middle := func(crash func()) *agent.Agent {
			var m *agent.Agent
			m = agent.New("middle", agent.Handle(look, func(ctx context.Context, s Seat) (Booking, error) {
				_, err := agent.Ask(ctx, m, "flights", book, s, agent.Within(time.Second))
				u, ok := errors.AsType[*protocol.UnknownError](err)
				if !ok {
					return Booking{}, errors.Join(err, errors.New("it should not be known"))
				}
				_, err = agent.Outcome(ctx, m, book, u.Conversation)
				if runs.Add(1) == 1 {
					crash()
					<-ctx.Done()
				}
				return Booking{Reference: looked(err)}, nil
			}))
			return m
		}
		path, planner := filepath.Join(t.TempDir(), "b.db"), agent.New("planner")
		a := begin(t, nil, nil, planner, flights)
		var b *agent.Host
		b = begin(t, nil, open(t, path), middle(func() {
			if err := b.Kill(); err != nil {
				t.Error(err)
			}
			go func() { agent.Introduce(a, beginWith(t, nil, open(t, path), []*agent.Host{a}, middle(nil))) }()
		}))
		agent.Introduce(a, b)
		out, err := agent.Ask(t.Context(), planner, "middle", look, seat)
		if err != nil || out.Reference != "unknown deadline lapsed" || runs.Load() != 2 {
			t.Fatalf("Ask = %v, %v after %d runs", out, err, runs.Load())
		}
		list, err := a.Store().Conversations(t.Context(), flights.URI(), 10)
		if err != nil || len(list) != 2 {
			t.Errorf("the flights know %d conversations, %v, want the seat and one question about it", len(list), err)
		}
	})
}
