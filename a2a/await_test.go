package a2a

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
)

func TestACallThatWaitsForItsTaskEndsWithTheServerAndWithTheHost(t *testing.T) {
	for name, end := range map[string]func(*serving, context.Context){
		"the server": func(s *serving, _ context.Context) { s.server.Close() },
		"the host":   func(s *serving, ctx context.Context) { _ = s.Stop(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				forever := func(ctx context.Context) (Booking, error) { <-ctx.Done(); return Booking{}, ctx.Err() }
				s := newWires().start(t, agent.Config{}, "flights.example", agent.New("flights", answers(forever)))
				own := s.server.agents[0].service.(*service)
				c := client{t, own, planner}
				m := must(messageOf(must(envelope.Seal(c.opens(book, envelope.Request), []byte(seat))).Bytes(), "", wire.User))
				for range 2 { // it may be asked again afterwards, and waits no more
					told := make(chan error, 1)
					go func() {
						_, err := own.SendMessage(t.Context(), c.call(true), &wire.SendMessageRequest{Message: *m})
						told <- err
					}()
					synctest.Wait()
					end(s, context.WithoutCancel(t.Context()))
					if e, ok := errors.AsType[*wire.Error](<-told); !ok || e.Kind != wire.Unavailable {
						t.Errorf("got %v", e)
					}
				}
			})
		})
	}
}
