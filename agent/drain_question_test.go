package agent_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
)

func TestAHostThatStopsAnswersQuestionsAboutWhatItsHandlersWaitFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var middle *agent.Agent
		middle = agent.New("middle",
			agent.Handle(protocol.Question, replying(protocol.QuestionAnswered{Choice: "aisle"})),
			agent.Handle(look, func(ctx context.Context, s Seat) (Booking, error) {
				return agent.Ask(ctx, middle, "flights", book, s)
			}))
		release := make(chan struct{})
		flights := answers(func(ctx context.Context, _ Seat) (Booking, error) {
			<-release
			a, err := agent.AskBack(ctx, which)
			return Booking{Reference: a.Choice}, err
		})
		planner, a, b := bounded(t, agent.Config{Workers: 1, Drain: time.Minute}, middle)
		agent.Introduce(a, b, begin(t, nil, nil, flights))
		q := ask(t, planner, "middle", look, seat, agent.Within(10*time.Minute))
		at(time.Second)
		began := time.Now()
		ended := leaving(t, b, 2*time.Minute)
		close(release)
		if out, err := q.wait(); err != nil || out.Reference != "aisle" {
			t.Errorf("Ask = %v, %v", out, err)
		}
		if err := <-ended; err != nil || time.Since(began) > time.Second {
			t.Errorf("Stop = %v after %v", err, time.Since(began))
		}
	})
}
