package agent_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

// post is a transport that hands the bytes over to whoever is behind it.
type post func(ctx context.Context, data []byte) ([][]byte, error)

func (p post) Send(ctx context.Context, data []byte) ([][]byte, error) { return p(ctx, data) }
func (p post) Capabilities() agent.Capabilities {
	return agent.Capabilities{Latency: agent.Network, SenderLearns: true}
}

// keyed is a store in which the agent has a key that others know.
func keyed(uri string) (store.Store, ed25519.PublicKey, error) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, nil, err
	}
	s := memory.New()
	_, err = s.Identity(context.Background(), store.Identity{Owner: uri, Seed: private.Seed()})
	return s, public, err
}

// Two processes that know each other's keys and can carry bytes to each other
// talk as two hosts of one process do.
func ExamplePeerAt() {
	ctx, guest, shop := context.Background(), agent.New("guest"), barista()
	here, guestKey, err := keyed("agent://local/guest")
	if err != nil {
		log.Fatal(err)
	}
	there, shopKey, err := keyed("agent://local/barista")
	if err != nil {
		log.Fatal(err)
	}
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	a := agent.NewHost(agent.Config{Store: here, Log: quiet}, guest)
	b := agent.NewHost(agent.Config{Store: there, Log: quiet}, shop)
	a.Connect(agent.PeerAt(post(b.Deliver), map[string]ed25519.PublicKey{"agent://local/barista": shopKey}))
	b.Connect(agent.PeerAt(post(a.Deliver), map[string]ed25519.PublicKey{"agent://local/guest": guestKey}))
	for _, h := range []*agent.Host{a, b} {
		if err := h.Start(ctx); err != nil {
			log.Fatal(err)
		}
		defer h.Stop(ctx)
	}
	fmt.Println(agent.Ask(ctx, guest, "barista", Buy, Order{Coffees: 2}))
	// Output: {2 coffees} <nil>
}

func TestWhoHasAnotherKeyThanTheOneThatIsKnownIsNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, flights := agent.New("planner"), answers(func(context.Context, Seat) (Booking, error) { t.Error("the handler ran"); return Booking{}, nil })
		own, public, err := keyed("agent://local/flights")
		if err != nil {
			t.Fatal(err)
		}
		a, b := begin(t, nil, nil, planner), begin(t, nil, own, flights)
		wrong := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize)).Public().(ed25519.PublicKey)
		keys := map[string]ed25519.PublicKey{"agent://local/flights": public}
		a.Connect(agent.PeerAt(post(b.Deliver), keys))
		clear(keys) // they were taken when the link was made
		b.Connect(agent.PeerAt(post(a.Deliver), map[string]ed25519.PublicKey{"agent://local/planner": wrong}))
		_, err = agent.Ask(t.Context(), planner, "flights", look, seat)
		if kind, _ := ending(err); kind != "unknown" { // it gets no answer that it could trust either
			t.Errorf("Ask = %v, want unknown", err)
		}
		if got := b.Counts()["violation.identity"]; got == 0 {
			t.Error("the message was not refused for want of identity")
		}
		if _, err := agent.Ask(t.Context(), planner, "hotels", protocol.Query[Seat, Booking]("acme.hotel.look/v1"), seat); !errors.Is(err, agent.ErrUnknownPeer) {
			t.Errorf("Ask = %v, want ErrUnknownPeer", err)
		}
	})
}
