package a2a

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
)

func TestEveryProtocolGoesOverTheWire(t *testing.T) {
	for how, cfg := range reads() {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWires()
				for i, name := range []string{"flights", "hotels"} {
					opts := append(ticking(250, nil),
						agent.Contribute(poll, func(context.Context, Seat) (Tick, error) { return Tick{i}, nil }),
						agent.Consider(deal, func(_ context.Context, s Seat) error {
							if s.Flight == "none" {
								return agent.Refuse("permanent", "no-need")
							}
							return nil
						}),
						agent.Bid(haul, func(context.Context, Seat) (Tick, error) { return Tick{i}, nil },
							func(context.Context, Seat, Tick) (Booking, error) { return Booking{name}, nil }))
					w.start(t, agent.Config{}, name+".example", agent.New(name, opts...))
				}
				_, planner := w.asking(t, nil, cfg(w), agent.Peer("hotels", "http://hotels.example"))
				ctx, in := t.Context(), Seat{"AY121"}
				var told []int
				for tick, err := range agent.Subscribe(ctx, planner, "flights", ticks, in, within(time.Minute)) {
					if err != nil {
						t.Error(err)
					}
					told = append(told, tick.N)
				}
				equal(t, "ticks", told, upTo(0, 250))
				both := []string{"hotels", "flights"}
				gathered, err := agent.Gather(ctx, planner, both, poll, in, agent.GatherTerms{}, within(time.Minute))
				if err != nil || string(gathered.Value) != `[{"n":0},{"n":1}]` || gathered.Terminal != "COMPLETED" {
					t.Errorf("Gather = %+v, %v", gathered, err)
				}
				hauled, err := agent.CallForProposals(ctx, planner, both, haul, in, agent.AuctionTerms[Seat, Tick]{Pick: cheapest}, within(time.Minute))
				if err != nil || len(hauled.Delivered) != 1 || hauled.Delivered[0].Result.Reference != "flights" {
					t.Errorf("CallForProposals = %+v, %v", hauled, err)
				}
				if err := agent.Propose(ctx, planner, "hotels", deal, in, within(time.Minute)); err != nil {
					t.Errorf("Propose = %v", err)
				}
				if err := agent.Propose(ctx, planner, "hotels", deal, Seat{"none"}, within(time.Minute)); err == nil {
					t.Error("what was not wanted was taken")
				}
			})
		})
	}
}

func cheapest(_ context.Context, bids []agent.Tender[Tick]) ([]agent.Tender[Tick], error) {
	slices.SortFunc(bids, func(a, b agent.Tender[Tick]) int { return a.Bid.N - b.Bid.N })
	return bids, nil
}

func TestWhatALostAnswerLeavesInDoubtIsSentAgainUnderItsIDAndDoneOnce(t *testing.T) {
	for how, cfg := range reads() {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, arrived %t", how, after), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWires()
					done := 0
					w.start(t, agent.Config{}, "flights.example", agent.New("flights", answers(func(ctx context.Context) (Booking, error) {
						done++
						if a, err := agent.AskBack(ctx, which); err != nil || a.Choice != "aisle" {
							return Booking{}, fmt.Errorf("answered %v: %w", a, err)
						}
						return booked(ctx)
					})))
					var mu sync.Mutex
					tries := map[string]int{}
					w.spoil(func(r *http.Request, body string, done func() *http.Response) (*http.Response, error) {
						if !strings.Contains(body, `"method":"SendMessage"`) {
							return nil, nil
						}
						_, rest, _ := strings.Cut(body, `"message_id":"`)
						mu.Lock()
						tries[rest[:36]]++
						lost := tries[rest[:36]] <= 2
						mu.Unlock()
						if !lost {
							return nil, nil
						}
						if after {
							discard(done())
						}
						return nil, errRefused
					})
					_, planner := w.asking(t, nil, cfg(w), answering("aisle"))
					got, err := agent.Ask(t.Context(), planner, "flights", book, Seat{"AY121"}, within(10*time.Minute))
					if err != nil || got.Reference != "R1" || done != 1 {
						t.Errorf("Ask = %v, %v; it was done %d times", got, err, done)
					}
					if mu.Lock(); len(tries) < 2 { // the request, and the answer to the question
						t.Errorf("%v were sent", tries)
					}
					mu.Unlock()
				})
			})
		}
	}
}

// answering answers every question with the choice.
func answering(choice string) agent.Option {
	return agent.Handle(protocol.Question, func(context.Context, protocol.QuestionAsked) (protocol.QuestionAnswered, error) {
		return protocol.QuestionAnswered{Choice: choice}, nil
	})
}

func TestDeadlineHopsAndTraceGoAlong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires()
		var inner agent.Work
		w.start(t, agent.Config{}, "flights.example", agent.New("flights", agent.Handle(look, func(ctx context.Context, _ Seat) (Booking, error) {
			inner, _ = agent.Current(ctx)
			return Booking{"seen"}, nil
		})))
		var desk *agent.Agent
		desk = agent.New("desk", agent.Peer("flights", "http://flights.example"), agent.Handle(look, func(ctx context.Context, s Seat) (Booking, error) {
			return agent.Ask(ctx, desk, "flights", look, s, within(time.Hour)) // more than there is
		}))
		w.start(t, agent.Config{Dial: Dialer(w.dialling(DialConfig{}))}, "desk.example", desk)
		var mu sync.Mutex
		traces := map[string]bool{}
		w.spoil(func(r *http.Request, body string, _ func() *http.Response) (*http.Response, error) {
			if _, rest, ok := strings.Cut(body, `"traceparent":"`); ok {
				mu.Lock()
				defer mu.Unlock()
				if head := r.Header.Get("Traceparent"); head != rest[:55] {
					t.Errorf("the header says %q, the envelope %q", head, rest[:55])
				}
				traces[rest[3:35]] = true
			}
			return nil, nil
		})
		planner := agent.New("planner", agent.Peer("desk", "http://desk.example"))
		w.start(t, agent.Config{Dial: Dialer(w.dialling(DialConfig{}))}, "planner.example", planner)
		deadline := time.Now().Add(time.Minute)
		if _, err := agent.Ask(t.Context(), planner, "desk", look, Seat{"AY121"}, within(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if inner.Hop != 1 || !inner.Deadline.Before(deadline) || inner.Deadline.Before(deadline.Add(-10*time.Second)) || inner.Sender != "agent://local/desk" {
			t.Errorf("the last of the chain worked under %+v", inner)
		}
		if len(traces) != 1 {
			t.Errorf("the traces are %v", traces)
		}
	})
}

func TestAnExchangeOutlivesARestartOfEitherSide(t *testing.T) {
	for how, cfg := range reads() {
		for _, side := range []string{"asking", "asked"} {
			t.Run(how+", "+side, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWires()
					gate, begun := make(chan struct{}), 0
					there := memory.New()
					serve := func() *serving {
						return w.start(t, agent.Config{Store: reopened{there}}, "flights.example", agent.New("flights", answers(func(ctx context.Context) (Booking, error) {
							begun++
							if err := agent.Agree(ctx); err != nil {
								return Booking{}, err
							}
							select {
							case <-gate:
							case <-ctx.Done():
								return Booking{}, ctx.Err()
							}
							return booked(ctx)
						})))
					}
					flightsHost := serve()
					here := memory.New()
					host, planner := w.asking(t, reopened{here}, cfg(w))
					q, err := agent.Start(t.Context(), planner, "flights", book, Seat{"AY121"}, within(time.Hour))
					if err != nil {
						t.Fatal(err)
					}
					time.Sleep(3 * time.Second)
					if side == "asking" {
						host.end(t)
						time.Sleep(time.Minute)
						close(gate)
						time.Sleep(time.Minute)
						_, planner = w.asking(t, here, cfg(w))
						if q, err = agent.Resume(t.Context(), planner, "flights", q.ID(), book); err != nil {
							t.Fatal(err)
						}
					} else {
						flightsHost.end(t)
						w.serve("flights.example", nil)
						time.Sleep(time.Minute)
						serve()
						close(gate)
					}
					if got, err := q.Wait(t.Context()); err != nil || got.Reference != "R1" {
						t.Errorf("Wait = %v, %v", got, err)
					}
				})
			})
		}
	}
}

// There is nothing to read of a task whose opening act has not arrived.
func TestAfterARestartAnOpeningThatIsStillToBeSentIsSentBeforeItIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires()
		w.start(t, agent.Config{}, "flights.example", agent.New("flights", answers(func(ctx context.Context) (Booking, error) { return booked(ctx) })))
		var mu sync.Mutex
		var methods []string
		cut := true
		w.spoil(func(_ *http.Request, body string, _ func() *http.Response) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			if _, rest, ok := strings.Cut(body, `"method":"`); ok && !cut {
				method, _, _ := strings.Cut(rest, `"`)
				methods = append(methods, method)
			}
			if cut && strings.Contains(body, `"method":"SendMessage"`) {
				return nil, errRefused
			}
			return nil, nil
		})
		here := memory.New()
		host, planner := w.asking(t, reopened{here}, w.dialling(DialConfig{}))
		q, err := agent.Start(t.Context(), planner, "flights", book, Seat{"AY121"}, within(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		host.end(t)
		mu.Lock()
		cut = false
		mu.Unlock()
		_, planner = w.asking(t, here, w.dialling(DialConfig{}))
		if q, err = agent.Resume(t.Context(), planner, "flights", q.ID(), book); err != nil {
			t.Fatal(err)
		}
		if got, err := q.Wait(t.Context()); err != nil || got.Reference != "R1" {
			t.Errorf("Wait = %v, %v", got, err)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(methods) == 0 || methods[0] != "SendMessage" {
			t.Errorf("called are %v", methods)
		}
	})
}

// reopened is a store that outlives its host.
type reopened struct{ store.Store }

func (reopened) Close() error { return nil }

func TestTheOrderAndTheNumberOfTimesInWhichActsAreShownChangeNothing(t *testing.T) {
	for how, cfg := range reads() {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWires()
				s := w.start(t, agent.Config{}, "flights.example", agent.New("flights", answers(func(ctx context.Context) (Booking, error) {
					for n := range 20 {
						if err := agent.Progress(ctx, Tick{n}); err != nil {
							return Booking{}, err
						}
					}
					return booked(ctx)
				})))
				for _, a := range s.server.agents {
					a.service = altered{a.service, func(t *wire.Task) {
						slices.Reverse(t.Artifacts)
						slices.Reverse(t.History)
						t.Artifacts = append(t.Artifacts, t.Artifacts...)
						t.History = append(t.History, t.History...)
						t.History = append(t.History, wire.Message{MessageID: "x", Role: wire.Agent, Parts: []wire.Part{{Text: new("hello")}}})
					}}
				}
				host, planner := w.asking(t, nil, cfg(w))
				seen := 0
				q, err := agent.Start(t.Context(), planner, "flights", book, Seat{"AY121"}, within(time.Minute))
				if err != nil {
					t.Fatal(err)
				}
				if got, err := q.Wait(t.Context()); err != nil || got.Reference != "R1" {
					t.Errorf("Wait = %v, %v", got, err)
				}
				log, err := host.Store().Log(t.Context(), planner.URI(), q.ID(), 0)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range log {
					if e.Kind == store.Rejected {
						t.Errorf("rejected for %s", e.Reason)
					}
					if e.Event == "?inform~" {
						seen++
					}
				}
				if seen != 20 {
					t.Errorf("%d of 20 partial results came", seen)
				}
			})
		})
	}
}

func TestABusyPeerIsLeftAloneForAsLongAsItWants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires()
		w.start(t, agent.Config{}, "flights.example", agent.New("flights", answers(booked)))
		var sends []time.Time
		w.spoil(func(_ *http.Request, body string, _ func() *http.Response) (*http.Response, error) {
			if !strings.Contains(body, `"method":"SendMessage"`) {
				return nil, nil
			}
			if sends = append(sends, time.Now()); len(sends) > 1 {
				return nil, nil
			}
			return canned(503, http.Header{"Retry-After": {"40"}}, ""), nil
		})
		_, planner := w.asking(t, nil, w.dialling(DialConfig{}))
		if _, err := agent.Ask(t.Context(), planner, "flights", book, Seat{"AY121"}, within(5*time.Minute)); err != nil {
			t.Fatal(err)
		}
		if len(sends) != 2 || sends[1].Sub(sends[0]) < 40*time.Second {
			t.Errorf("it was sent at %v", sends)
		}
	})
}

func TestMoreExchangesThanStreamsAreAllRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires()
		gate := make(chan struct{})
		w.start(t, agent.Config{}, "flights.example", agent.New("flights", agent.Handle(look, func(ctx context.Context, s Seat) (Booking, error) {
			<-gate
			return Booking{s.Flight}, nil
		})))
		_, planner := w.asking(t, nil, w.dialling(DialConfig{Streams: 5}))
		const n = 40
		ended := make(chan error, n)
		for i := range n {
			go func() {
				flight := fmt.Sprint("AY", i)
				got, err := agent.Ask(t.Context(), planner, "flights", look, Seat{flight}, within(time.Minute))
				ended <- errors.Join(err, same(got.Reference, flight))
			}()
		}
		time.Sleep(10 * time.Second)
		close(gate)
		for range n {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestAWebhookHasThingsReadThatNobodyWouldPollForYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires()
		w.start(t, agent.Config{}, "flights.example", agent.New("flights", answers(func(ctx context.Context) (Booking, error) {
			time.Sleep(time.Minute)
			return booked(ctx)
		})))
		hook := NewWebhook("http://hooks.example/planner")
		w.serve("hooks.example", hook)
		_, planner := w.asking(t, nil, w.dialling(DialConfig{Webhook: hook, Poll: 3 * time.Hour}))
		began := time.Now()
		got, err := agent.Ask(t.Context(), planner, "flights", book, Seat{"AY121"}, within(5*time.Hour))
		if took := time.Since(began); err != nil || got.Reference != "R1" || took > 2*time.Minute {
			t.Errorf("after %s: %v, %v", took, got, err)
		}
	})
}

func TestOnlyWhoeverKnowsTheSecretOfAWebhookCausesReads(t *testing.T) {
	w := newWires()
	host := w.start(t, agent.Config{}, "planner.example", agent.New("planner"))
	hook := NewWebhook("http://planner.example/hook")
	r := newReader(nil, host.Host)
	defer hook.enter(r)()
	for name, tt := range map[string]struct {
		method, header, value string
		want                  int
	}{
		"the secret":             {"POST", "Authorization", "Bearer " + hook.secret, 204},
		"the secret, lower case": {"POST", "Authorization", "bearer " + hook.secret, 204},
		"the secret as a token":  {"POST", "X-A2A-Notification-Token", hook.secret, 204},
		"no secret":              {"POST", "X-Other", "", 401},
		"an empty secret":        {"POST", "Authorization", "Bearer ", 401},
		"another secret":         {"POST", "Authorization", "Bearer " + hook.secret + "x", 401},
		"another scheme":         {"POST", "Authorization", "Basic " + hook.secret, 401},
		"another method":         {"GET", "Authorization", "Bearer " + hook.secret, 405},
	} {
		req := httptest.NewRequest(tt.method, "http://planner.example/hook", strings.NewReader(`{"task":{}}`))
		req.Header.Set(tt.header, tt.value)
		rec := httptest.NewRecorder()
		hook.ServeHTTP(rec, req)
		woken := false
		select {
		case <-r.wake:
			woken = true
		default:
		}
		if rec.Code != tt.want || woken != (tt.want == 204) {
			t.Errorf("%s: status %d, woken %t", name, rec.Code, woken)
		}
	}
}

func TestWhatAPeerSaysUnderAnotherKeyIsNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires()
		w.start(t, agent.Config{}, "flights.example", agent.New("flights", agent.Handle(look, func(context.Context, Seat) (Booking, error) {
			return Booking{"mine"}, nil
		})))
		// Somebody in the middle forwards everything, and serves a card of his own.
		forged := keyed(7)
		text := aCard(t, flights, forged, nil)
		lost := false
		w.spoil(func(r *http.Request, body string, done func() *http.Response) (*http.Response, error) {
			switch {
			case r.URL.Host == "flights.example" && strings.HasSuffix(r.URL.Path, wire.CardPath):
				return canned(200, nil, string(text)), nil
			case strings.Contains(body, `"method":"SendMessage"`) && !lost: // the next answer has the result
				lost = true
				discard(done())
				return nil, errRefused
			}
			return nil, nil
		})
		for _, foreign := range []bool{false, true} {
			lost = false
			host, planner := w.asking(t, nil, w.dialling(DialConfig{Foreign: foreign}))
			if _, err := agent.Ask(t.Context(), planner, "flights", look, Seat{"AY121"}, within(20*time.Second)); err == nil {
				t.Errorf("foreign agents allowed %t: the answer of another key was believed", foreign)
			}
			host.end(t)
		}
	})
}

func TestWhatIsSentAgainThoughItHasArrivedIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires()
		w.start(t, agent.Config{}, "flights.example", agent.New("flights", answers(booked)))
		p, err := Dial(t.Context(), "http://flights.example/flights", w.dialling(DialConfig{}))
		if err != nil {
			t.Fatal(err)
		}
		planner := agent.New("planner")
		host := w.start(t, agent.Config{}, "planner.example", planner)
		host.Connect(p.Link())
		var conversation string
		if _, err := agent.Ask(t.Context(), planner, "flights", book, Seat{"AY121"}, agent.Opened(func(id string) { conversation = id })); err != nil {
			t.Fatal(err)
		}
		log, err := host.Store().Log(t.Context(), planner.URI(), conversation, 0)
		if err != nil {
			t.Fatal(err)
		}
		opening := must(envelope.Decode(log[0].Envelope))
		replies, err := carrier{p}.Send(t.Context(), opening.Resend(2, must(host.Token(planner.URI(), flights))).Bytes())
		if err != nil || len(replies) == 0 {
			t.Fatalf("answered by %d envelopes, %v", len(replies), err)
		}
		for _, r := range replies {
			if e := must(envelope.Decode(r)); e.Sender() != flights || e.Receiver() != planner.URI() || e.Conversation() != conversation {
				t.Errorf("answered by %s", r)
			}
		}
	})
}

func TestATaskThatIsTooLargeToBeShownIsReadPieceByPiece(t *testing.T) {
	for how, cfg := range reads() {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWires()
				gate := make(chan struct{})
				w.start(t, agent.Config{}, "flights.example", agent.New("flights", answers(func(ctx context.Context) (Booking, error) {
					for n := range 150 {
						if err := agent.Progress(ctx, Tick{n}); err != nil {
							return Booking{}, err
						}
					}
					<-gate
					return booked(ctx)
				})))
				st, small := memory.New(), cfg(w)
				small.Client.MaxResponse = 40 << 10 // a fifth of it
				host, planner := w.asking(t, reopened{st}, small)
				q, err := agent.Start(t.Context(), planner, "flights", book, Seat{"AY121"}, within(time.Hour))
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				host.end(t)
				time.Sleep(time.Minute)
				host, planner = w.asking(t, st, small)
				if q, err = agent.Resume(t.Context(), planner, "flights", q.ID(), book); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				close(gate)
				if got, err := q.Wait(t.Context()); err != nil || got.Reference != "R1" {
					t.Errorf("Wait = %v, %v", got, err)
				}
				x, err := host.Store().Exchange(t.Context(), store.Key{Owner: planner.URI(), Conversation: q.ID(), Peer: flights})
				if err != nil || x.State.Received != 152 {
					t.Errorf("%d acts came, %v", x.State.Received, err)
				}
			})
		})
	}
}
