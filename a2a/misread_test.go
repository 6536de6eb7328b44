package a2a

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
)

func TestThatAQuestionIsNotUnderstoodIsSaidUntilItIsHeard(t *testing.T) {
	for how, cfg := range reads() {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &abroad{t: t, w: newWires(), dir: t.TempDir(), there: skilled, cfg: cfg}
				a.work = func(ctx context.Context, p *agent.Agent) (string, error) {
					got, err := agent.Ask(ctx, p, "ann", book, Seat{"AY121"})
					return got.Reference, err
				}
				lost := 0
				a.w.spoil(func(_ *http.Request, body string, _ func() *http.Response) (*http.Response, error) {
					if strings.Contains(body, `"receipt":"not-understood"`) && lost < 3 {
						lost++
						return nil, errRefused
					}
					return nil, nil
				})
				a.startAway()
				a.startHome()
				q, err := agent.Start(t.Context(), a.boss, "planner", look, Seat{"AY121"}, within(time.Hour))
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(3200 * time.Millisecond) // it was asked back, and said that it does not understand
				a.home.end(t)
				a.startHome()
				if q, err = agent.Resume(t.Context(), a.boss, "planner", q.ID(), look); err != nil {
					t.Fatal(err)
				}
				before := time.Now()
				if got, err := q.Wait(t.Context()); err != nil || got.Reference != "ann decides" || lost == 0 || time.Since(before) > 10*time.Minute {
					t.Errorf("after %s it came to %v, %v; %d times it was not heard", time.Since(before), got, err, lost)
				}
			})
		})
	}
}
