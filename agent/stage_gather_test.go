package agent_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
)

// members are a planner who gathers opinions, and two who contribute.
func members() map[string]func(*life) *agent.Agent {
	member := func(name string, n int) func(*life) *agent.Agent {
		return func(l *life) *agent.Agent {
			return juror(name, func(ctx context.Context) (Price, error) { return Price{n}, l.at("contribute") })
		}
	}
	return map[string]func(*life) *agent.Agent{"planner": planner, "ann": member("ann", 70), "bob": member("bob", 50)}
}

// gather is what ask is for a gather.
func (s *stage) gather() (string, error) {
	for {
		l := s.parts["planner"].living()
		known, err := l.host.Store().Correlated(s.t.Context(), l.agent.URI(), trip)
		var out agent.Gathered[Price]
		switch {
		case err != nil:
		case len(known) == 0:
			out, err = agent.Gather(s.t.Context(), l.agent, []string{"ann", "bob"}, opinion, piano, agent.GatherTerms{}, agent.Correlation(trip), agent.Within(10*time.Minute))
		default:
			out, err = agent.ResumeGather(s.t.Context(), l.agent, known[0].Conversation, opinion)
		}
		if l.alive.Load() {
			return string(out.Terminal) + " " + string(out.Value), err
		}
	}
}

func TestWhereverAProcessDiesAGatherIsFencedWithEveryContribution(t *testing.T) {
	for _, victim := range []string{"planner", "ann"} {
		for _, after := range []bool{false, true} {
			for n, more := 1, true; more; n++ {
				k := kill{victim, everywhere, n, after}
				t.Run(k.String(), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						s := raise(t, &world{}, members(), k)
						defer s.stop()
						out, err := s.gather()
						if want := `COMPLETED [{"euros":70},{"euros":50}]`; err != nil || out != want {
							t.Errorf("it came to %s, %v, want %s", out, err, want)
						}
						at(2 * time.Minute)
						for k, x := range s.halves() {
							if x.State.State != "done:closed" {
								t.Errorf("%s is in %s with %s", k.Owner, x.State.State, k.Peer)
							}
						}
						more = s.fired()
					})
				})
			}
		}
	}
}
