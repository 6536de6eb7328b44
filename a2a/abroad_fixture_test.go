package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/sqlite"
	"github.com/parley-agents/parley/transcript"
)

// abroad is a planner at home, and ann, bob and cid on a host that only HTTP leads
// to, and that knows no way back. Both hosts keep what they have in files. A boss
// at home asks the planner, which works for it, so that the work goes on when home
// is restarted.
type abroad struct {
	t          *testing.T
	w          *wires
	dir        string
	home, away *serving
	boss       *agent.Agent
	// work is what the planner does, there what those abroad can.
	work  func(ctx context.Context, planner *agent.Agent) (string, error)
	mine  []agent.Option
	there func(name string) []agent.Option
	cfg   func(w *wires) DialConfig
}

var bidders = []string{"ann", "bob", "cid"}

func (a *abroad) open(file string) store.Store {
	a.t.Helper()
	st, err := sqlite.Open(a.t.Context(), filepath.Join(a.dir, file))
	if err != nil {
		a.t.Fatal(err)
	}
	return st
}

func (a *abroad) startAway() {
	a.t.Helper()
	var list []*agent.Agent
	for _, name := range bidders {
		list = append(list, agent.New(name, a.there(name)...))
	}
	a.away = a.w.start(a.t, agent.Config{Store: a.open("away.db")}, "away.example", list...)
}

func (a *abroad) startHome() {
	a.t.Helper()
	var p *agent.Agent
	opts := append([]agent.Option{agent.Handle(look, func(ctx context.Context, _ Seat) (Booking, error) {
		if err := agent.Agree(ctx); err != nil {
			return Booking{}, err
		}
		got, err := a.work(ctx, p)
		return Booking{got}, err
	})}, a.mine...)
	for _, name := range bidders {
		opts = append(opts, agent.Peer(name, "http://away.example/"+name))
	}
	p = agent.New("planner", opts...)
	a.boss = agent.New("boss")
	a.home = a.w.start(a.t, agent.Config{Store: a.open("home.db"), Dial: Dialer(a.cfg(a.w))}, "home.example", p, a.boss)
}

// run has the boss ask, restarts a side in the middle, and gives what it came to.
func (a *abroad) run(restarted string) (string, error) {
	a.t.Helper()
	a.startAway()
	a.startHome()
	q, err := agent.Start(a.t.Context(), a.boss, "planner", look, Seat{"AY121"}, within(time.Hour))
	if err != nil {
		a.t.Fatal(err)
	}
	time.Sleep(1500 * time.Millisecond)
	switch restarted {
	case "home":
		a.home.end(a.t)
		time.Sleep(time.Second)
		a.startHome()
		if q, err = agent.Resume(a.t.Context(), a.boss, "planner", q.ID(), look); err != nil {
			a.t.Fatal(err)
		}
	case "away":
		a.w.serve("away.example", nil)
		a.away.end(a.t)
		time.Sleep(time.Second)
		a.startAway()
	}
	got, err := q.Wait(a.t.Context())
	time.Sleep(2 * time.Minute)
	return got.Reference, err
}

// audit holds both sides' logs to each other, and to what they say.
func (a *abroad) audit() {
	a.t.Helper()
	ctx := context.WithoutCancel(a.t.Context())
	home, away := a.home.Store(), a.away.Store()
	crossed := 0
	list, err := home.Conversations(ctx, planner, 1000)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, c := range list {
		log := replayed(a.t, home, planner, c.ID)
		exchanges, err := home.Exchanges(ctx, planner, c.ID)
		if err != nil {
			a.t.Fatal(err)
		}
		trace, err := transcript.Export(log, exchanges)
		if err == nil {
			data, err := json.Marshal(trace)
			if v := transcript.Validate(data); err != nil || !v.Valid {
				a.t.Errorf("the trace of %s is not valid: %v, %v", c.ID, v, err)
			}
		} else if !errors.Is(err, transcript.ErrPartialView) {
			a.t.Errorf("the log of %s has no trace: %v", c.ID, err)
		}
		for _, name := range bidders {
			who := "agent://local/" + name
			theirs, err := away.Log(ctx, who, c.ID, 0)
			if err != nil {
				a.t.Fatal(err)
			}
			if len(theirs) > 0 {
				replayed(a.t, away, who, c.ID)
			}
			crossed += a.same(log, theirs, who)
		}
	}
	if crossed == 0 {
		a.t.Error("nothing went abroad")
	}
}

// same holds what one side of an exchange sent to what the other received, and
// counts it.
func (a *abroad) same(mine, theirs []store.Entry, peer string) (crossed int) {
	a.t.Helper()
	acts := func(log []store.Entry, kind store.EntryKind, peer string) map[string]envelope.Digest {
		m := map[string]envelope.Digest{}
		for _, e := range log {
			if e.Kind == kind && e.Peer == peer && len(e.Envelope) > 0 {
				m[e.MessageID] = must(envelope.Decode(e.Envelope)).Digest()
			}
		}
		return m
	}
	for _, way := range []struct {
		name           string
		sent, received map[string]envelope.Digest
	}{
		{"to " + peer, acts(mine, store.Sent, peer), acts(theirs, store.Received, planner)},
		{"from " + peer, acts(theirs, store.Sent, planner), acts(mine, store.Received, peer)},
	} {
		for id, digest := range way.received {
			if got, ok := way.sent[id]; !ok || got != digest {
				a.t.Errorf("%s: %s was received as %s and sent as %s", way.name, id, digest, got)
			}
		}
		if len(way.sent) != len(way.received) {
			a.t.Errorf("%s: %d were sent, %d received", way.name, len(way.sent), len(way.received))
		}
		crossed += len(way.received)
	}
	return crossed
}

// pause is work that takes some seconds.
func pause(ctx context.Context) error {
	if err := agent.Agree(ctx); err != nil {
		return err
	}
	select {
	case <-time.After(3 * time.Second):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// ending names how an exchange ended, unless it has not.
func ending(err error) (string, error) {
	if err == nil {
		return "ok", nil
	}
	if e, ok := errors.AsType[*protocol.CancelledError](err); ok {
		return "cancelled " + e.Reason, nil
	}
	if e, ok := errors.AsType[*protocol.RefusedError](err); ok {
		return "refused " + e.Reason, nil
	}
	if e, ok := errors.AsType[*protocol.RejectedError](err); ok {
		return "rejected " + e.Reason, nil
	}
	if e, ok := errors.AsType[*protocol.FailedError](err); ok {
		return "failed " + e.Reason, nil
	}
	if _, ok := errors.AsType[*protocol.UnknownError](err); ok {
		return "unknown", nil
	}
	return "", err
}
