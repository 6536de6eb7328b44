package agent_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/store"
)

func TestTheInProcessTransportSaysWhatItCanDo(t *testing.T) {
	h := agent.NewHost(quiet(open(t, filepath.Join(t.TempDir(), "a.db"))))
	var got agent.Capabilities
	agent.PeerHost(h).Through(func(next agent.Transport) agent.Transport {
		got = next.Capabilities()
		return next
	})
	if want := (agent.Capabilities{Latency: agent.InProcess, SurvivesCrash: false, SenderLearns: true}); got != want {
		t.Errorf("capabilities %+v, want %+v", got, want)
	}
	if err := h.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTheNextMessageLeavesOnlyWhenTheOneBeforeItIsIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var sent []envelope.Performative
		agreed := time.Now().Add(20 * time.Second)
		back := func(e *envelope.Envelope) loss {
			mu.Lock()
			defer mu.Unlock()
			sent = append(sent, e.Act())
			if e.Act() == envelope.Agree && time.Now().Before(agreed) {
				return theMessage
			}
			return nothing
		}
		flights := answers(func(ctx context.Context, _ Seat) (Booking, error) {
			return Booking{Reference: "R1"}, agent.Agree(ctx)
		})
		planner, _, a, _ := lossyPair(t, none, back, flights)
		q := ask(t, planner, "flights", book, seat, agent.Within(5*time.Minute))
		at(19 * time.Second)
		mu.Lock()
		early := slices.Clone(sent)
		mu.Unlock()
		if len(early) < 2 || slices.Contains(early, envelope.Inform) {
			t.Errorf("before agree was in, %v were sent", early)
		}
		if out, err := q.wait(); err != nil || out.Reference != "R1" {
			t.Errorf("Ask = %v, %v", out, err)
		}
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if n := len(sent); sent[n-1] != envelope.Inform || sent[n-2] != envelope.Agree {
			t.Errorf("sent %v, want agree and then inform last", sent)
		}
		if a.Counts()["violation.sequence"] != 0 {
			t.Error("the receiver saw a gap")
		}
	})
}

func TestAMessageThatCouldNotBeDeliveredInTimeIsADeadLetter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flights := answers(reference)
		planner, _, a, _ := lossyPair(t, lost, none, flights)
		q := ask(t, planner, "flights", book, seat, agent.Within(20*time.Second))
		q.wait()
		at(5 * time.Minute)
		for _, e := range sentOf(t, a, planner, q.id) {
			if row := outboxRow(t, a, planner, e); row.Status != store.Dead || row.LastError == "" {
				t.Errorf("the row of the %s is %s (%s), want dead with its last error", e.Act(), row.Status, row.LastError)
			}
		}
		if a.Counts()["dead"] != 2 {
			t.Errorf("dead letters counted %d, want request and cancel", a.Counts()["dead"])
		}
	})
}

// gone is a store that reports a caller who left in the middle of a commit.
type gone struct {
	store.Store
	leave func(store.WriteSet)
}

func (g *gone) Commit(ctx context.Context, w store.WriteSet) error {
	g.leave(w)
	if err := g.Store.Commit(context.WithoutCancel(ctx), w); err != nil {
		return err
	}
	return ctx.Err()
}

func TestAMessageIsWorkedOnThoughItsCarrierLeftWhileItWasAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, flights := agent.New("planner"), answers(reference)
		ctx, cancel := context.WithCancel(t.Context())
		disk := &gone{Store: open(t, filepath.Join(t.TempDir(), "b.db")), leave: func(w store.WriteSet) {
			if accepts(w) {
				cancel()
			}
		}}
		a, b := begin(t, nil, nil, planner), begin(t, nil, disk, flights)
		agent.Introduce(a, b)
		e := seal(t, opening(planner, flights, book.Name(), book.Protocol()), seatJSON)
		if _, err := b.Deliver(ctx, e.Resend(1, token(t, a, planner.URI(), flights.URI())).Bytes()); err != nil {
			t.Errorf("Deliver = %v", err)
		}
		at(time.Second)
		if got := state(t, b, flights, e.Conversation()); got != "done:ok" {
			t.Errorf("the participant is in %q, want done:ok", got)
		}
	})
}

// putOff is a carrier that asks to be left alone at first.
type putOff struct {
	agent.Transport
	after time.Duration
	mu    sync.Mutex
	sends []time.Time
}

func (b *putOff) Send(ctx context.Context, data []byte) ([][]byte, error) {
	b.mu.Lock()
	b.sends = append(b.sends, time.Now())
	first := len(b.sends) == 1
	b.mu.Unlock()
	if first {
		return nil, &agent.LaterError{After: b.after, Err: errors.New("overloaded")}
	}
	return b.Transport.Send(ctx, data)
}

func TestWhatACarrierWantsLaterIsNotSentBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := agent.New("planner")
		a, b := begin(t, nil, nil, planner), begin(t, nil, nil, agent.New("flights", agent.Handle(book, reference)))
		carrier := &putOff{after: 20 * time.Second}
		a.Connect(agent.PeerHost(b).Through(func(next agent.Transport) agent.Transport {
			carrier.Transport = next
			return carrier
		}))
		b.Connect(agent.PeerHost(a))
		if _, err := agent.Ask(t.Context(), planner, "flights", book, seat, agent.Within(time.Minute)); err != nil {
			t.Fatal(err)
		}
		carrier.mu.Lock()
		defer carrier.mu.Unlock()
		if waited := carrier.sends[1].Sub(carrier.sends[0]); waited < carrier.after {
			t.Errorf("it was sent again after %s, not %s", waited, carrier.after)
		}
	})
}
