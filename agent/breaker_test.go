package agent_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// down is a wire that fails the next sends; below zero it fails them all.
type down struct {
	agent.Transport
	mu    sync.Mutex
	left  int
	sent  []time.Time
	tries int
}

func (d *down) Send(ctx context.Context, data []byte) ([][]byte, error) {
	d.mu.Lock()
	d.tries++
	failing := d.left != 0
	if d.left > 0 {
		d.left--
	}
	d.sent = append(d.sent, time.Now())
	d.mu.Unlock()
	if failing {
		return nil, errors.New("the wire is down")
	}
	return d.Transport.Send(ctx, data)
}

func (d *down) repair() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left = 0
}

// sends is how often something was sent since.
func (d *down) sends(since time.Time) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, at := range d.sent {
		if !at.Before(since) {
			n++
		}
	}
	return n
}

// tallying counts the write sets that record what became of a message.
type tallying struct {
	store.Store
	mu         sync.Mutex
	deliveries int
}

func (c *tallying) Commit(ctx context.Context, w store.WriteSet) error {
	c.mu.Lock()
	c.deliveries += len(w.Deliveries)
	c.mu.Unlock()
	return c.Store.Commit(ctx, w)
}

func (c *tallying) written() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.deliveries
}

// wired starts a planner whose wire to the flights is w, and the flights. The
// configuration is the planner's.
func wired(t *testing.T, cfg agent.Config, w *down, flights *agent.Agent) (*agent.Agent, *agent.Host, *agent.Host) {
	t.Helper()
	planner := agent.New("planner")
	b := begin(t, nil, nil, flights)
	if cfg.Store == nil {
		cfg.Store = open(t, filepath.Join(t.TempDir(), "a.db"))
	}
	cfg.Log = slog.New(slog.DiscardHandler)
	a := agent.NewHost(cfg, planner)
	a.Connect(agent.PeerHost(b).Through(func(next agent.Transport) agent.Transport { w.Transport = next; return w }))
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	endsWell(t, a)
	b.Connect(agent.PeerHost(a))
	return planner, a, b
}

func TestAReceiverThatCannotBeReachedIsLeftAloneAndNothingIsSpentOnIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wire := &down{left: -1}
		disk := &tallying{Store: open(t, filepath.Join(t.TempDir(), "a.db"))}
		planner, a, _ := wired(t, agent.Config{Store: disk, Breaker: agent.Breaker{Failures: 3, Wait: 20 * time.Second, MaxWait: 20 * time.Second}}, wire, answers(reference))
		begin := func() *agent.Exchange[Booking] { return begun(t, planner, agent.Within(10*time.Minute)) }
		var all []*agent.Exchange[Booking]
		for range 3 {
			all = append(all, begin())
		}
		at(time.Second)
		if got := a.Load().Open; len(got) != 1 || got[0] != uri("flights") {
			t.Fatalf("left alone: %v", got)
		}
		quietSince, written := time.Now(), disk.written()
		for range 50 {
			all = append(all, begin())
		}
		at(15 * time.Second)
		if n := wire.sends(quietSince); n != 0 {
			t.Errorf("%d were sent to a receiver that is left alone", n)
		}
		if n := disk.written() - written; n != 0 {
			t.Errorf("%d rows were written for messages that only wait", n)
		}
		for _, x := range all[3:] {
			rows, err := a.Store().Outbox(t.Context(), store.Key{Owner: planner.URI(), Conversation: x.ID(), Peer: x.Peer()})
			if err != nil || len(rows) != 1 || rows[0].Attempt != 0 {
				t.Fatalf("a message that waits: %+v, %v", rows, err)
			}
		}
		at(6 * time.Second)
		if n := wire.sends(quietSince); n != 1 {
			t.Errorf("%d were sent to see whether it is back, want one", n)
		}
		wire.repair()
		for _, x := range all {
			if _, err := x.Wait(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(quietSince); took > time.Minute {
			t.Errorf("they were through after %v", took)
		}
		if got := a.Load().Open; len(got) != 0 {
			t.Errorf("still left alone: %v", got)
		}
		if c := a.Counts(); c["circuit.opened"] != 2 || c["circuit.closed"] != 1 {
			t.Errorf("counts %v", c)
		}
	})
}

func TestWhatAReceiverAnswersNeverCountsAsAFailureOfTheCarrier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		flights := agent.New("flights", agent.Capacity(1), agent.Handle(book, func(context.Context, Seat) (Booking, error) {
			<-release
			return Booking{Reference: "R1"}, nil
		}))
		planner, a, b := wired(t, agent.Config{Breaker: agent.Breaker{Failures: 1}}, &down{}, flights)
		for range 4 {
			begun(t, planner, agent.Within(time.Minute))
		}
		at(10 * time.Second)
		if n := b.Counts()["violation.capacity"]; n < 6 {
			t.Fatalf("%d nacks were given", n)
		}
		if n := a.Counts()["circuit.opened"]; n != 0 {
			t.Errorf("%d times left alone for its nacks", n)
		}
		close(release)
	})
}

func TestAMessageExpiresAlthoughItsReceiverIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, a, _ := wired(t, agent.Config{Breaker: agent.Breaker{Failures: 1, Wait: time.Hour, MaxWait: time.Hour}}, &down{left: -1}, answers(reference))
		x := begun(t, planner, agent.Within(20*time.Second))
		_, err := x.Wait(t.Context())
		if _, unknown := errors.AsType[*protocol.UnknownError](err); !unknown {
			t.Errorf("Wait = %v", err)
		}
		at(time.Minute)
		rows, err := a.Store().Outbox(t.Context(), store.Key{Owner: planner.URI(), Conversation: x.ID(), Peer: x.Peer()})
		if err != nil || len(rows) == 0 || rows[0].Status != store.Dead {
			t.Errorf("the message is %+v, %v", rows, err)
		}
	})
}

func TestASlowReceiverDelaysNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner := agent.New("planner")
		slow, fast := agent.New("slow", agent.Handle(book, reference)), agent.New("flights", agent.Handle(book, reference))
		a := agent.NewHost(agent.Config{Store: open(t, filepath.Join(t.TempDir(), "a.db")), Log: slog.New(slog.DiscardHandler),
			SendsPerPeer: 4, Breaker: agent.Breaker{Failures: -1}}, planner)
		b, c := begin(t, nil, nil, slow), begin(t, nil, nil, fast)
		wire := &crawling{}
		a.Connect(agent.PeerHost(b).Through(func(next agent.Transport) agent.Transport { wire.Transport = next; return wire }))
		a.Connect(agent.PeerHost(c))
		if err := a.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		endsWell(t, a)
		b.Connect(agent.PeerHost(a))
		c.Connect(agent.PeerHost(a))
		for range 500 {
			if _, err := agent.Start(t.Context(), planner, "slow", book, seat, agent.Within(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		if _, err := agent.Ask(t.Context(), planner, "flights", book, seat); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 200*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		at(time.Minute)
		if wire.most != 4 {
			t.Errorf("%d were on their way at once, want 4", wire.most)
		}
	})
}

// crawling takes four seconds for everything.
type crawling struct {
	agent.Transport
	mu        sync.Mutex
	now, most int
}

func (c *crawling) Send(ctx context.Context, data []byte) ([][]byte, error) {
	c.mu.Lock()
	c.now++
	c.most = max(c.most, c.now)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.now--
		c.mu.Unlock()
	}()
	select {
	case <-time.After(4 * time.Second):
		return c.Transport.Send(ctx, data)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
