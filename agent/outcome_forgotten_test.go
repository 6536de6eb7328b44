package agent_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store/memory"
)

func TestAnAgentThatForgetsTellsAsNeverSeenOnlyWhatItWouldRemember(t *testing.T) {
	short := agent.Terms{MaxReplyBy: 2 * time.Hour, Inbox: time.Hour, Grace: 10 * time.Minute, Effect: 3 * time.Hour}
	for name, tt := range map[string]struct {
		contract  protocol.Contract[Seat, Booking]
		retention time.Duration
		within    time.Duration
		arrives   bool
		wait      time.Duration
		want      string
	}{
		"done, and forgotten":                         {book, time.Hour, time.Minute, true, 5 * time.Hour, "unknown permanent forgotten"},
		"read, and forgotten":                         {look, time.Hour, time.Minute, true, 5 * time.Hour, "unknown permanent forgotten"},
		"done, and kept for ever":                     {book, 0, time.Minute, true, 5 * time.Hour, "<nil>"},
		"not come, long ago":                          {book, time.Hour, time.Minute, false, 5 * time.Hour, "unknown permanent forgotten"},
		"not come, long ago, to one that forgets not": {book, 0, time.Minute, false, 5 * time.Hour, "never seen"},
		"not come, of late":                           {book, time.Hour, time.Minute, false, 10 * time.Minute, "never seen"},
		"may still come when that is forgotten":       {book, 90 * time.Minute, 2 * time.Hour, false, 10 * time.Minute, "unknown permanent forgotten"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var runs atomic.Int32
				planner := agent.New("planner")
				flights := answers(func(ctx context.Context, s Seat) (Booking, error) { runs.Add(1); return reference(ctx, s) })
				a := begin(t, nil, nil, planner)
				b := agent.NewHost(agent.Config{Store: memory.New(), Log: quiet(nil).Log, Retention: tt.retention, Terms: short}, flights)
				if err := b.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				endsWell(t, b)
				var cut atomic.Bool
				cut.Store(true)
				a.Connect(agent.PeerHost(b).Through(func(next agent.Transport) agent.Transport {
					return &lossy{Transport: next, lose: func(e *envelope.Envelope) loss {
						switch {
						case !cut.Load() && e.Capability() == "urn:cap:"+protocol.OutcomeName:
							return nothing // what is late must not overtake the question
						case tt.arrives && e.Act() == envelope.Request:
							return theAnswer
						}
						return theMessage
					}}
				}))
				b.Connect(agent.PeerHost(a).Through(func(next agent.Transport) agent.Transport {
					return &lossy{Transport: next, lose: func(*envelope.Envelope) loss {
						if cut.Load() {
							return theMessage
						}
						return nothing
					}}
				}))
				x, err := agent.Start(t.Context(), planner, "flights", tt.contract, seat, agent.Within(tt.within))
				if err != nil {
					t.Fatal(err)
				}
				at(time.Second)
				if err := x.Cancel(t.Context()); err != nil {
					t.Fatal(err)
				}
				if _, err := x.Wait(t.Context()); !isUnknown(err) {
					t.Fatalf("Ask = %v", err)
				}
				at(tt.wait)
				cut.Store(false)
				_, err = agent.Outcome(t.Context(), planner, tt.contract, x.ID())
				if got := looked(err); got != tt.want {
					t.Errorf("Outcome = %s, want %s (it ran %d times)", got, tt.want, runs.Load())
				}
			})
		})
	}
}
