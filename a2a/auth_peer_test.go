package a2a

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/store/memory"
)

func TestAServerThatWantsToKnowItsCallersKnowsAPeerByItsToken(t *testing.T) {
	ctx := t.Context()
	quiet := slog.New(slog.DiscardHandler)
	there := agent.NewHost(agent.Config{Store: memory.New(), Log: quiet}, agent.New("flights", answers(func(ctx context.Context) (Booking, error) { return booked(ctx) })))
	if err := there.Start(ctx); err != nil {
		t.Fatal(err)
	}
	defer there.Stop(context.WithoutCancel(ctx))
	s, err := NewServer(there, Config{Authenticate: []Authenticator{PeerTokens(there)}, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	served := httptest.NewServer(s.Handler())
	defer served.Close()
	defer s.Close()
	planner := agent.New("planner", agent.Peer("flights", served.URL))
	here := agent.NewHost(agent.Config{Store: memory.New(), Log: quiet, Dial: Dialer(DialConfig{Log: quiet})}, planner)
	if err := here.Start(ctx); err != nil {
		t.Fatal(err)
	}
	defer here.Stop(context.WithoutCancel(ctx))
	if got, err := agent.Ask(ctx, planner, "flights", book, Seat{"AY121"}); err != nil || got.Reference != "R1" {
		t.Errorf("%v, %v", got, err)
	}
}
