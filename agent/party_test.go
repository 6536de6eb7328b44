package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// The contracts of the tests with several participants.
type Job struct {
	Task string `json:"task"`
}

type Price struct {
	Euros int `json:"euros" jsonschema:"minimum=0"`
}

type Done struct {
	By string `json:"by" jsonschema:"minLength=1"`
}

type Tick struct {
	N int `json:"n" jsonschema:"minimum=1"`
}

var (
	haul    = protocol.NewAuction[Job, Price, Done]("acme.haul.job/v1")
	ticks   = protocol.NewStream[Job, Tick]("acme.clock.ticks/v1")
	promise = protocol.NewOffer[Price]("acme.deal.promise/v1")
	opinion = protocol.NewGathering[Job, Price]("acme.jury.opinion/v1")
)

var piano = Job{Task: "move the piano"}

// cheapest ranks by price.
func cheapest(_ context.Context, bids []agent.Tender[Price]) ([]agent.Tender[Price], error) {
	slices.SortStableFunc(bids, func(a, b agent.Tender[Price]) int { return a.Bid.Euros - b.Bid.Euros })
	return bids, nil
}

// juror contributes what fn returns.
func juror(name string, fn func(context.Context) (Price, error)) *agent.Agent {
	return agent.New(name, agent.Contribute(opinion, func(ctx context.Context, _ Job) (Price, error) { return fn(ctx) }))
}

// The ways in which a juror may answer.
func euros(n int) func(context.Context) (Price, error) {
	return func(context.Context) (Price, error) { return Price{n}, nil }
}

func dissents(n int) func(context.Context) (Price, error) {
	return func(context.Context) (Price, error) { return agent.Dissent(Price{n}) }
}

func abstains(context.Context) (Price, error) {
	return Price{}, agent.Refuse(envelope.CodePermanent, "no-opinion")
}

// after is fn once the time has passed, if the work is still wanted then.
func after[T any](d time.Duration, fn func(context.Context) (T, error)) func(context.Context) (T, error) {
	return func(ctx context.Context) (T, error) {
		select {
		case <-elapsed(d):
			return fn(ctx)
		case <-ctx.Done():
			var none T
			return none, context.Cause(ctx)
		}
	}
}

// underway runs a verb in a goroutine and returns once its conversation is
// durable.
func underway[Out any](t *testing.T, verb func(opened agent.AskOption) (Out, error)) *asking[Out] {
	t.Helper()
	a := &asking[Out]{done: make(chan struct{})}
	opened := make(chan string, 1)
	go func() {
		defer close(a.done)
		defer close(opened)
		a.out, a.err = verb(agent.Opened(func(id string) { opened <- id }))
	}()
	if a.id = <-opened; a.id == "" {
		<-a.done
		t.Fatalf("it ended before it was opened: %v", a.err)
	}
	return a
}

func gathering(ctx context.Context, t *testing.T, from *agent.Agent, members []string, terms agent.GatherTerms, opts ...agent.AskOption) *asking[agent.Gathered[Price]] {
	t.Helper()
	return underway(t, func(opened agent.AskOption) (agent.Gathered[Price], error) {
		return agent.Gather(ctx, from, members, opinion, piano, terms, append(opts, opened)...)
	})
}

func calling(ctx context.Context, t *testing.T, from *agent.Agent, bidders []string, terms agent.AuctionTerms[Job, Price], opts ...agent.AskOption) *asking[agent.Auctioned[Price, Done]] {
	t.Helper()
	return underway(t, func(opened agent.AskOption) (agent.Auctioned[Price, Done], error) {
		return agent.CallForProposals(ctx, from, bidders, haul, piano, terms, append(opts, opened)...)
	})
}

// lagging is a transport that holds some acts back for a while.
type lagging struct {
	agent.Transport
	act envelope.Performative
	lag time.Duration
}

func (l lagging) Send(ctx context.Context, data []byte) ([][]byte, error) {
	e, err := envelope.Decode(data)
	if err != nil {
		return nil, err
	}
	if e.Act() == l.act {
		<-time.After(l.lag)
	}
	return l.Transport.Send(ctx, data)
}

// cable is a link that can be cut.
type cable struct {
	agent.Transport
	cut atomic.Bool
}

func (c *cable) Send(ctx context.Context, data []byte) ([][]byte, error) {
	if c.cut.Load() {
		return nil, errors.New("the cable is cut")
	}
	return c.Transport.Send(ctx, data)
}

// wire connects two hosts in both directions by a cable that can be cut.
func wire(a, b *agent.Host) (cut func(bool)) {
	var both [2]*cable
	for i, ends := range [][2]*agent.Host{{a, b}, {b, a}} {
		c := &cable{}
		ends[0].Connect(agent.PeerHost(ends[1]).Through(func(next agent.Transport) agent.Transport { c.Transport = next; return c }))
		both[i] = c
	}
	return func(cut bool) {
		for _, c := range both {
			c.cut.Store(cut)
		}
	}
}

func uri(name string) string { return "agent://local/" + name }

func conversation(t *testing.T, h *agent.Host, owner *agent.Agent, id string) []store.Entry {
	t.Helper()
	log, err := h.Store().Log(context.WithoutCancel(t.Context()), owner.URI(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// concluded is the terminal that the log of the conversation ends with. The
// log must begin with what was fixed, be concluded once, and say what a gather
// came to once and before the fence.
func concluded(t *testing.T, h *agent.Host, owner *agent.Agent, id string) protocol.Terminal {
	t.Helper()
	log := conversation(t, h, owner, id)
	count := map[store.EntryKind]int{}
	var last protocol.Closing
	for i, e := range log {
		count[e.Kind]++
		switch {
		case e.Kind == store.Bound && (i > 0 || e.Peer != ""):
			t.Errorf("the log of %s has its %s at %d of %d, for %q", id, e.Kind, i, len(log), e.Peer)
		case count[store.Concluded] > 0 && e.Kind != store.Concluded && (e.Kind == store.Sent || e.From != e.To):
			t.Errorf("the log of %s goes on after its end: %s %s from %s to %s", id, e.Kind, e.Event, e.From, e.To)
		case e.Event == "!fence" && count[store.Reduced] == 0:
			t.Errorf("the log of %s has a fence before its result", id)
		case e.Kind == store.Concluded:
			if err := json.Unmarshal(e.Note, &last); err != nil {
				t.Fatal(err)
			}
		}
	}
	gather := slices.ContainsFunc(log, func(e store.Entry) bool { return e.Event == "!fence" })
	if count[store.Bound] != 1 || count[store.Concluded] != 1 || gather && count[store.Reduced] != 1 {
		t.Fatalf("conversation %s has these entries: %v", id, count)
	}
	return last.Terminal
}

// side is one participant's exchange.
func side(t *testing.T, h *agent.Host, owner, id, peer string) protocol.Exchange {
	t.Helper()
	x, err := h.Store().Exchange(context.WithoutCancel(t.Context()), store.Key{Owner: owner, Conversation: id, Peer: peer})
	if err != nil {
		t.Fatalf("the exchange of %s with %s: %v", owner, peer, err)
	}
	return x.State
}

// logged are the messages of the event that the owner's log has, in order.
func logged(t *testing.T, h *agent.Host, owner, id string, on protocol.Event) []*envelope.Envelope {
	t.Helper()
	log, err := h.Store().Log(context.WithoutCancel(t.Context()), owner, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	var list []*envelope.Envelope
	for _, e := range log {
		if e.Event != on || e.Envelope == nil {
			continue
		}
		m, err := envelope.Decode(e.Envelope)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

// unmet is the error of a conversation that did not come to what it was for.
func unmet(t *testing.T, err error, terminal protocol.Terminal, missing ...string) {
	t.Helper()
	u, ok := errors.AsType[*protocol.UnmetError](err)
	if !ok || u.Terminal != terminal || !slices.Equal(u.Missing, missing) {
		t.Errorf("the error is %v, want %s without %v", err, terminal, missing)
	}
}

func TestASubscriberGetsEveryItemInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := agent.New("source", agent.Publish(ticks, func(ctx context.Context, _ Job, emit func(Tick) error) error {
			for n := range 100 {
				if err := emit(Tick{n + 1}); err != nil {
					return err
				}
			}
			return nil
		}))
		planner, _, _ := pair(t, nil, source)
		n := 0
		for tick, err := range agent.Subscribe(t.Context(), planner, "source", ticks, piano) {
			if n++; err != nil || tick.N != n {
				t.Fatalf("item %d is %+v, %v", n, tick, err)
			}
		}
		if n != 100 {
			t.Errorf("%d items", n)
		}
	})
}

func TestAnIdleSubscriptionStaysAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := agent.New("source", agent.Publish(ticks, func(ctx context.Context, _ Job, emit func(Tick) error) error {
			for n := range 3 {
				select {
				case <-time.After(10 * time.Minute):
				case <-ctx.Done():
					return context.Cause(ctx)
				}
				if err := emit(Tick{n + 1}); err != nil {
					return err
				}
			}
			return nil
		}))
		planner, _, _ := pair(t, nil, source)
		n := 0
		for tick, err := range agent.Subscribe(t.Context(), planner, "source", ticks, piano) {
			if n++; err != nil || tick.N != n {
				t.Fatalf("item %d is %+v, %v", n, tick, err)
			}
		}
		if n != 3 {
			t.Errorf("%d items", n)
		}
	})
}

func TestAnOfferIsAcceptedOrRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		buyer := agent.New("buyer", agent.Consider(promise, func(_ context.Context, p Price) error {
			if p.Euros > 100 {
				return agent.Refuse(envelope.CodePermanent, "too-dear")
			}
			return nil
		}))
		planner, _, _ := pair(t, nil, buyer)
		if err := agent.Propose(t.Context(), planner, "buyer", promise, Price{90}); err != nil {
			t.Error(err)
		}
		err := agent.Propose(t.Context(), planner, "buyer", promise, Price{110})
		if rejected, ok := errors.AsType[*protocol.RejectedError](err); !ok || rejected.Reason != "too-dear" {
			t.Errorf("an offer that is too dear: %v", err)
		}
	})
}
