package agent_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store"
)

// forging is a carrier that changes the answers to the first send.
type forging struct {
	agent.Transport
	mu    sync.Mutex
	sends []time.Time
	forge func(e *envelope.Envelope, answers [][]byte) ([][]byte, error)
}

func (f *forging) Send(ctx context.Context, data []byte) ([][]byte, error) {
	e, err := envelope.Decode(data)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.sends = append(f.sends, time.Now())
	n := len(f.sends)
	f.mu.Unlock()
	answers, err := f.Transport.Send(ctx, data)
	if n > 1 || err != nil {
		return answers, err
	}
	return f.forge(e, answers)
}

// told is a receipt for e, under the token, as its receiver would make it.
func told(t *testing.T, e *envelope.Envelope, err *envelope.Error, token string) *envelope.Envelope {
	kind := envelope.Ack
	if err != nil {
		kind = envelope.Nack
	}
	h := e.Receipt(kind, err)
	h.MessageID, h.Timestamp, h.SenderGeneration, h.Attempt, h.Auth = fresh(), time.Now().UTC().Truncate(time.Millisecond), 1, 1, token
	h.Labels = envelope.Labels{Integrity: envelope.Peer, Readers: []string{e.Sender()}}
	r, fault := envelope.Seal(h, nil)
	if fault != nil {
		t.Error(fault)
	}
	return r
}

// forger makes the answers to a message from those that came back. It has a
// token of the receiver and one of another agent of its host.
type forger func(e *envelope.Envelope, answers [][]byte, own, other string) ([][]byte, error)

// carried lets a planner ask the flights over a forging carrier.
func carried(t *testing.T, forge forger) (*asking[Booking], *forging, *agent.Host, *agent.Agent) {
	t.Helper()
	planner, flights, mallory := agent.New("planner"), answers(reference), agent.New("mallory")
	a, b := begin(t, nil, nil, planner), begin(t, nil, nil, flights, mallory)
	own, other := token(t, b, flights.URI(), planner.URI()), token(t, b, mallory.URI(), planner.URI())
	carrier := &forging{forge: func(e *envelope.Envelope, answers [][]byte) ([][]byte, error) { return forge(e, answers, own, other) }}
	a.Connect(agent.PeerHost(b).Through(func(next agent.Transport) agent.Transport { carrier.Transport = next; return carrier }))
	b.Connect(agent.PeerHost(a).Through(func(next agent.Transport) agent.Transport { return &lossy{Transport: next, lose: lost} }))
	return ask(t, planner, "flights", look, seat, agent.Within(2*time.Minute)), carrier, a, planner
}

func TestAnAnswerOfTheCarrierThatIsNotTheReceiversCountsForNothing(t *testing.T) {
	bad := envelope.NewError(envelope.CodePermanent, "policy")
	for name, forge := range map[string]func(t *testing.T) forger{
		"no answer": func(*testing.T) forger {
			return func(*envelope.Envelope, [][]byte, string, string) ([][]byte, error) { return nil, nil }
		},
		"no envelope": func(*testing.T) forger {
			return func(*envelope.Envelope, [][]byte, string, string) ([][]byte, error) {
				return [][]byte{[]byte("ok")}, nil
			}
		},
		"a nack without a token": func(t *testing.T) forger {
			return func(e *envelope.Envelope, _ [][]byte, _, _ string) ([][]byte, error) {
				return [][]byte{told(t, e, bad, "").Bytes()}, nil
			}
		},
		"a nack under another agent's token": func(t *testing.T) forger {
			return func(e *envelope.Envelope, _ [][]byte, _, other string) ([][]byte, error) {
				return [][]byte{told(t, e, bad, other).Bytes()}, nil
			}
		},
		"an ack under another agent's token": func(t *testing.T) forger {
			return func(e *envelope.Envelope, _ [][]byte, _, other string) ([][]byte, error) {
				return [][]byte{told(t, e, nil, other).Bytes()}, nil
			}
		},
		"a receipt of another message": func(t *testing.T) forger {
			return func(e *envelope.Envelope, _ [][]byte, own, _ string) ([][]byte, error) {
				h := e.Header()
				h.MessageID, h.ContentDigest = fresh(), ""
				return [][]byte{told(t, seal(t, h, seatJSON), bad, own).Bytes()}, nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, carrier, _, _ := carried(t, forge(t))
				// The request is sent again, and its stored answer comes with that.
				if out, err := q.wait(); err != nil || out.Reference != "R1" || len(carrier.sends) != 2 {
					t.Errorf("Ask = %v, %v after %d sends, want the result after two", out, err, len(carrier.sends))
				}
			})
		})
	}
}

func TestAFinalNackOfTheOpeningActIsARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, carrier, a, planner := carried(t, func(e *envelope.Envelope, _ [][]byte, own, _ string) ([][]byte, error) {
			return [][]byte{told(t, e, envelope.NewError(envelope.CodeAuth, "policy"), own).Bytes()}, nil
		})
		_, err := q.wait()
		if kind, e := ending(err); kind != "refused" || e.Code != envelope.CodeAuth || e.Reason != "policy" {
			t.Errorf("Ask = %v, want refused (auth, policy)", err)
		}
		at(time.Minute)
		if row := outboxRow(t, a, planner, sentOf(t, a, planner, q.id)[0]); row.Status != store.Returned || len(carrier.sends) != 1 {
			t.Errorf("the row is %s after %d sends, want returned after one", row.Status, len(carrier.sends))
		}
	})
}

func TestARetriableNackIsWaitedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := envelope.NewError(envelope.CodeCapacity, "overloaded")
		busy.RetryAfter = 20 * time.Second
		q, carrier, _, _ := carried(t, func(e *envelope.Envelope, _ [][]byte, own, _ string) ([][]byte, error) {
			return [][]byte{told(t, e, busy, own).Bytes()}, nil
		})
		if out, err := q.wait(); err != nil || out.Reference != "R1" {
			t.Fatalf("Ask = %v, %v", out, err)
		}
		if waited := carrier.sends[1].Sub(carrier.sends[0]); waited < 20*time.Second || waited > 21*time.Second {
			t.Errorf("it was sent again after %v, want the 20 s that it was told", waited)
		}
	})
}

func TestACarrierThatFailsIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, carrier, a, _ := carried(t, func(*envelope.Envelope, [][]byte, string, string) ([][]byte, error) {
			return nil, errors.New("connection reset")
		})
		if out, err := q.wait(); err != nil || out.Reference != "R1" {
			t.Fatalf("Ask = %v, %v", out, err)
		}
		if waited := carrier.sends[1].Sub(carrier.sends[0]); waited > time.Second || a.Counts()["resend"] != 1 {
			t.Errorf("it was sent again after %v, counted %d", waited, a.Counts()["resend"])
		}
	})
}
