package agent_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store"
)

// fickle is a carrier that loses, refuses and delays by chance.
type fickle struct {
	agent.Transport
	mu   *sync.Mutex
	rand *rand.Rand
	bad  float64 // how likely it is that something goes wrong
}

func (f fickle) Send(ctx context.Context, data []byte) ([][]byte, error) {
	f.mu.Lock()
	dice, what := f.rand.Float64(), f.rand.IntN(4)
	f.mu.Unlock()
	if dice > f.bad {
		return f.Transport.Send(ctx, data)
	}
	switch what {
	case 0:
		return nil, errors.New("lost")
	case 1:
		<-ctx.Done()
		return nil, ctx.Err()
	case 2:
		if _, err := f.Transport.Send(ctx, data); err != nil {
			return nil, err
		}
		return nil, errors.New("lost the answer")
	}
	return [][]byte{[]byte("no envelope")}, nil
}

// outboxOf are all outgoing messages of an agent.
func outboxOf(t *testing.T, h *agent.Host, owner string) []store.Outbox {
	t.Helper()
	rows, err := h.Store().Outboxes(t.Context(), owner, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestEveryMessageEndsDeliveredReturnedOrAsOneDeadLetterWhateverTheCarrierDoes(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				chance := rand.New(rand.NewPCG(seed, 1))
				var mu sync.Mutex
				path := filepath.Join(t.TempDir(), "a.db")
				planner, hotels := agent.New("planner"), agent.New("hotels", agent.Handle(book, reference))
				a, b := begin(t, nil, open(t, path), planner), begin(t, nil, nil, append(helpers(make(chan error, 1000)), hotels)...)
				bad := []float64{0.3, 0.6, 0.95, 1}[seed%4]
				through := func(next agent.Transport) agent.Transport { return fickle{next, &mu, chance, bad} }
				tie := func() {
					a.Connect(agent.PeerHost(b).Through(through))
					b.Connect(agent.PeerHost(a).Through(through))
				}
				tie()
				openSome := func(planner *agent.Agent, n int) {
					for range n {
						mu.Lock()
						within, policy := time.Duration(1+chance.IntN(60))*time.Second, envelope.RetryPolicy{MaxAttempts: 1 + chance.IntN(5), Jitter: "full"}
						mu.Unlock()
						opts := []agent.AskOption{agent.Within(within)}
						if policy.MaxAttempts < 4 {
							opts = append(opts, agent.Resend(policy))
						}
						for _, v := range verbs {
							go func() { _ = v.do(context.WithoutCancel(t.Context()), planner, opts...) }()
						}
						go func() {
							_, _ = agent.Ask(context.WithoutCancel(t.Context()), planner, "hotels", book, seat, opts...)
						}()
						at(time.Second)
					}
				}
				openSome(planner, 3)
				if seed%2 == 1 { // and its sender dies in the middle
					if err := a.Kill(); err != nil {
						t.Fatal(err)
					}
					at(10 * time.Second)
					planner = agent.New("planner")
					a = beginWith(t, nil, open(t, path), nil, planner)
					tie()
					openSome(planner, 1)
				}
				at(10 * time.Minute)
				for h, owners := range map[*agent.Host][]string{a: {planner.URI()}, b: {uri("flights"), uri("hotels"), uri("ann"), uri("bob")}} {
					for _, owner := range owners {
						settledOutbox(t, h, owner)
						if live := unfinished(t, h, owner); len(live) > 0 {
							t.Errorf("%s: an exchange with %s is in %q", owner, live[0].Peer, live[0].State.State)
						}
					}
				}
			})
		})
	}
}

// settledOutbox checks that nothing waits to be sent, and that what was not
// delivered is one dead letter.
func settledOutbox(t *testing.T, h *agent.Host, owner string) {
	t.Helper()
	letters, err := h.Store().DeadLetters(t.Context(), owner, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	dead := map[string]store.DeadLetter{}
	for _, l := range letters {
		if l.Source == store.DeadOutbox {
			if _, twice := dead[l.MessageID]; twice {
				t.Errorf("%s: message %s is two dead letters", owner, l.MessageID)
			}
			dead[l.MessageID] = l
		}
	}
	for _, row := range outboxOf(t, h, owner) {
		l, isDead := dead[row.MessageID]
		delete(dead, row.MessageID)
		switch row.Status {
		case store.Delivered, store.Dropped:
			if isDead {
				t.Errorf("%s: message %s is %s and a dead letter (%s)", owner, row.MessageID, row.Status, l.Reason)
			}
		case store.Returned, store.Dead:
			if !isDead || l.Attempts != row.Attempt || (l.Reason == "returned") != (row.Status == store.Returned) {
				t.Errorf("%s: message %s is %s after %d attempts, its dead letter is %s", owner, row.MessageID, row.Status, row.Attempt, brief(l))
			}
		default:
			t.Errorf("%s: message %s is still %s", owner, row.MessageID, row.Status)
		}
	}
	if len(dead) > 0 {
		t.Errorf("%s: %d dead letters are of no message", owner, len(dead))
	}
}
