package agent_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
)

func TestAHandlerThatGaveAQuestionUpMayAskAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		planner := forthcoming(func(ctx context.Context, _ protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
			if asked.Add(1) == 1 {
				<-ctx.Done()
				return protocol.QuestionAnswered{}, ctx.Err()
			}
			return protocol.QuestionAnswered{Text: "Any."}, nil
		})
		flights := answers(func(ctx context.Context, _ Seat) (Booking, error) {
			soon, cancel := context.WithTimeout(ctx, 2*time.Second)
			defer cancel()
			if _, err := agent.AskBack(soon, which); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the first question: %v", err)
			}
			a, err := agent.AskBack(ctx, protocol.QuestionAsked{Text: "Then which row?"})
			return Booking{Reference: string(a.Text)}, err
		})
		facing(t, planner, flights)
		began := time.Now()
		if out, err := agent.Ask(t.Context(), planner, "flights", book, seat); err != nil || out.Reference != "Any." || time.Since(began) > 3*time.Second {
			t.Errorf("Ask = %v, %v after %v", out, err, time.Since(began))
		}
	})
}
