package agent_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
)

func TestQuestionsForOutcomesAreBoundedAndTakeNoPlacesFromAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 256
		g := newBarrier()
		planner, a, b := bounded(t, agent.Config{Workers: 1, Backlog: 1}, answers(g.pass))
		running := start(t, planner, "AY1", agent.Within(time.Hour))
		at(time.Second)
		flights := uri("flights")
		pass := token(t, a, planner.URI(), flights)
		question := func() []*envelope.Envelope {
			h := opening(planner, planner, asksAbout.Name(), protocol.QueryV1)
			h.Receiver, h.Labels.Readers = flights, []string{flights}
			return hand(t, b, seal(t, h, fmt.Sprintf(`{"conversation":%q,"protocol":"request/v1"}`, fresh())), pass)
		}
		for range most {
			wantAck(t, question())
		}
		wantNack(t, question(), envelope.CodeCapacity, guard.ReasonOverloaded)
		if n := b.Load().Waiting; n != most {
			t.Errorf("%d wait, want %d", n, most)
		}
		waiting := start(t, planner, "AY2", agent.Within(time.Hour))
		at(0)
		if n := b.Load().Waiting; n != most+1 {
			t.Errorf("%d wait: what an agent is asked for found no place", n)
		}
		close(g.open)
		for _, x := range []*agent.Exchange[Booking]{running, waiting} {
			if _, err := x.Wait(t.Context()); err != nil {
				t.Error(err)
			}
		}
		wantAck(t, question())
	})
}
