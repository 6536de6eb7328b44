package agent_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
)

// The host of the participant dies when a step of the work has been done and
// recorded, and comes back when the deadline has passed.
func TestWorkThatHadBegunWhenItsHostDiedIsNotToldAsIfItHadNotNorDoneAgain(t *testing.T) {
	for name, tt := range map[string]struct{ agreed bool }{"before it agreed": {false}, "after it agreed": {true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var bank ledger
				var died bool
				path := filepath.Join(t.TempDir(), "b.db")
				planner := agent.New("planner")
				a := begin(t, nil, nil, planner)
				var b *agent.Host
				flights := func() *agent.Agent {
					return answers(func(ctx context.Context, _ Seat) (Booking, error) {
						if tt.agreed {
							if err := agent.Agree(ctx); err != nil {
								return Booking{}, err
							}
						}
						out, err := agent.Once(ctx, "charge", func(ctx context.Context) (Booking, error) {
							bank.add(agent.EffectKey(ctx))
							return Booking{"R1"}, nil
						})
						if !died {
							died = true
							if err := b.Kill(); err != nil {
								t.Error(err)
							}
						}
						return out, err
					})
				}
				b = begin(t, nil, open(t, path), flights())
				agent.Introduce(a, b)
				go func() {
					at(10500 * time.Millisecond)
					agent.Introduce(a, beginWith(t, nil, open(t, path), []*agent.Host{a}, flights()))
				}()
				_, err := agent.Ask(t.Context(), planner, "flights", book, seat, agent.Within(10*time.Second), agent.Key("trip"))
				if _, unknown := errors.AsType[*protocol.UnknownError](err); !unknown {
					t.Errorf("Ask = %v (%T), want that it is not known: the seat was charged", err, err)
				}
				at(30 * time.Second)
				_, err = agent.Ask(t.Context(), planner, "flights", book, seat, agent.Within(10*time.Second), agent.Key("trip"))
				if bank.total() != 1 {
					t.Errorf("the seat was charged %d times under one key, the second answer is %v", bank.total(), err)
				}
			})
		})
	}
}
