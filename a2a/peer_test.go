package a2a

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// bindings are the ways in which a card may lead, by the order in which it has
// them; reads are the ways to read.
func reads() map[string]func(w *wires) DialConfig {
	return map[string]func(w *wires) DialConfig{
		"stream":      func(w *wires) DialConfig { return w.dialling(DialConfig{}) },
		"poll":        func(w *wires) DialConfig { return w.dialling(DialConfig{Poll: time.Second}) },
		"few streams": func(w *wires) DialConfig { return w.dialling(DialConfig{Streams: 1}) },
	}
}

// asking starts a planner that reaches the flights at their host.
func (w *wires) asking(t *testing.T, st store.Store, cfg DialConfig, opts ...agent.Option) (*serving, *agent.Agent) {
	t.Helper()
	p := agent.New("planner", append([]agent.Option{agent.Peer("flights", "http://flights.example/flights")}, opts...)...)
	return w.start(t, agent.Config{Store: st, Dial: Dialer(cfg)}, "planner.example", p), p
}

func within(d time.Duration) agent.AskOption { return agent.Within(d) }

func TestAnAgentElsewhereIsAskedAsIfItWereHere(t *testing.T) {
	strict := Config{NoStreams: true, Extensions: []wire.AgentExtension{{URI: "urn:needed", Required: true}}}
	for how, cfg := range reads() {
		for what, served := range map[string]Config{"": {}, " of one without streams that requires an extension": strict} {
			t.Run(how+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWires()
					w.startWith(t, agent.Config{}, served, "flights.example", agent.New("flights",
						agent.Handle(book, func(ctx context.Context, s Seat) (Booking, error) {
							if s.Flight == "none" {
								return Booking{}, agent.Refuse("permanent", "sold-out")
							}
							for n := range 150 {
								if err := agent.Progress(ctx, Tick{n}); err != nil {
									return Booking{}, err
								}
							}
							a, err := agent.AskBack(ctx, which)
							return Booking{a.Choice}, err
						}),
						agent.Handle(look, func(context.Context, Seat) (Booking, error) { return Booking{"seen"}, nil })))
					dial := cfg(w)
					dial.Client.Extensions = []string{"urn:needed"}
					_, planner := w.asking(t, nil, dial, agent.Handle(protocol.Question, func(context.Context, protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
						return protocol.QuestionAnswered{Choice: "aisle"}, nil
					}))
					got, err := agent.Ask(t.Context(), planner, "flights", book, Seat{"AY121"}, within(time.Minute))
					if err != nil || got.Reference != "aisle" {
						t.Errorf("Ask = %v, %v", got, err)
					}
					got, err = agent.Ask(t.Context(), planner, "flights", look, Seat{"AY121"}, within(time.Minute))
					if err != nil || got.Reference != "seen" {
						t.Errorf("Ask = %v, %v", got, err)
					}
					_, err = agent.Ask(t.Context(), planner, "flights", book, Seat{"none"}, within(time.Minute))
					if refused, ok := errors.AsType[*protocol.RefusedError](err); !ok || refused.Reason != "sold-out" {
						t.Errorf("Ask = %v", err)
					}
				})
			})
		}
	}
}

func TestAHostStartsThoughItsPeerIsDownAndFindsItLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires()
		_, planner := w.asking(t, nil, w.dialling(DialConfig{}))
		asked := make(chan error, 1)
		go func() {
			got, err := agent.Ask(t.Context(), planner, "flights", book, Seat{"AY121"}, within(5*time.Minute))
			asked <- errors.Join(err, same(got.Reference, "R1"))
		}()
		time.Sleep(time.Minute)
		w.start(t, agent.Config{}, "flights.example", agent.New("flights", answers(booked)))
		if err := <-asked; err != nil {
			t.Error(err)
		}
	})
}

func same[T comparable](got, want T) error {
	if got != want {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	return nil
}

func TestACancelReachesAnAgentElsewhereAndWhatItCameToComesBack(t *testing.T) {
	for how, cfg := range reads() {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWires()
				w.start(t, agent.Config{}, "flights.example", agent.New("flights", answers(func(ctx context.Context) (Booking, error) {
					<-ctx.Done()
					return Booking{}, ctx.Err()
				})))
				_, planner := w.asking(t, nil, cfg(w))
				q, err := agent.Start(t.Context(), planner, "flights", book, Seat{"AY121"}, within(time.Hour))
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				if err := q.Cancel(t.Context()); err != nil {
					t.Fatal(err)
				}
				before := time.Now()
				_, err = q.Wait(t.Context())
				if _, ok := errors.AsType[*protocol.CancelledError](err); !ok || time.Since(before) > 5*time.Second {
					t.Errorf("after %s Wait = %v", time.Since(before), err)
				}
			})
		})
	}
}
