package agent_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/store"
)

func only(act envelope.Performative, what loss) func(*envelope.Envelope) loss {
	return func(e *envelope.Envelope) loss {
		if e.Act() == act {
			return what
		}
		return nothing
	}
}

func lost(*envelope.Envelope) loss { return theMessage }

func TestWithoutAnAnswerTheExchangeIsCancelledAtItsDeadlineAndUnknownAfterTheCancelWindow(t *testing.T) {
	for name, there := range map[string]func(*envelope.Envelope) loss{"every answer is lost": none, "every message is lost": lost} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				planner, _, a, _ := lossyPair(t, there, lost, answers(reference))
				q := ask(t, planner, "flights", book, seat, agent.Within(20*time.Second))
				at(19*time.Second + 999*time.Millisecond)
				if got := state(t, a, planner, q.id); got != "requested" {
					t.Fatalf("before the deadline the initiator is in %q, want requested", got)
				}
				at(time.Millisecond)
				if got := state(t, a, planner, q.id); got != "cancelling" {
					t.Fatalf("at the deadline the initiator is in %q, want cancelling", got)
				}
				_, err := q.wait()
				if kind, e := ending(err); kind != "unknown" || e.Code != envelope.CodeDeadline || e.Conversation != q.id {
					t.Fatalf("Ask = %v, want unknown", err)
				}
				if took := time.Since(began); took != 25*time.Second {
					t.Errorf("it was given up after %v, want 20 s and the cancel window of 5 s", took)
				}
			})
		})
	}
}

func TestTheParticipantEndsItsOwnSideAtTheDeadline(t *testing.T) {
	for name, tt := range map[string]struct {
		within time.Duration
		kind   string
		state  string
	}{
		"before agree it refuses":  {50 * time.Millisecond, "expired", "done:expired"},
		"after agree nobody knows": {2 * time.Second, "unknown", "done:failed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stopped := make(chan error, 1)
				flights := answers(func(ctx context.Context, _ Seat) (Booking, error) {
					<-ctx.Done()
					stopped <- context.Cause(ctx)
					return Booking{}, ctx.Err()
				})
				// Both sides' time is over at one moment: the cancel is lost, so that it does not come first.
				planner, _, _, b := lossyPair(t, first(envelope.Cancel, theMessage), none, flights)
				q := ask(t, planner, "flights", book, seat, agent.Within(tt.within))
				_, err := q.wait()
				if kind, e := ending(err); kind != tt.kind || e.Code != envelope.CodeDeadline {
					t.Fatalf("Ask = %v, want %s (deadline)", err, tt.kind)
				}
				<-stopped
				at(time.Second)
				if got := state(t, b, flights, q.id); string(got) != tt.state {
					t.Errorf("the participant is in %q, want %s", got, tt.state)
				}
			})
		})
	}
}

func TestAResultAfterTheDeadlineCountsOnlyWithinWhatClocksMayDiffer(t *testing.T) {
	for name, tt := range map[string]struct {
		arrives time.Duration
		kind    string
	}{
		"at the deadline and a second": {6 * time.Second, "<nil>"},
		"later":                        {6*time.Second + time.Millisecond, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				flights := answers(reference)
				planner, _, a, b := lossyPair(t, none, only(envelope.Inform, theMessage), flights)
				q := ask(t, planner, "flights", book, seat, agent.Within(5*time.Second))
				at(tt.arrives)
				sent := sentOf(t, b, flights, q.id)
				inform := sent[len(sent)-1]
				before := semantics(t, a, planner, q.id)
				replies := hand(t, a, inform, token(t, b, flights.URI(), planner.URI()))
				if tt.kind == "unknown" {
					wantNack(t, replies, envelope.CodeDeadline, guard.ReasonLate)
					if after := semantics(t, a, planner, q.id); after != before {
						t.Errorf("a late result changed the exchange from %s to %s", before, after)
					}
					if got := a.Counts()["violation.deadline"]; got != 1 {
						t.Errorf("late messages counted %d, want 1", got)
					}
					log := logOf(t, a, planner, q.id)
					if last := log[len(log)-1]; last.Kind != store.Rejected || last.Event != "?inform" || last.Reason != guard.ReasonLate {
						t.Errorf("the late result is logged as %s %s (%s)", last.Kind, last.Event, last.Reason)
					}
					// Sent again, it gets the same answer.
					wantNack(t, hand(t, a, inform.Resend(7, ""), token(t, b, flights.URI(), planner.URI())), envelope.CodeDeadline, guard.ReasonLate)
				} else {
					wantAck(t, replies)
				}
				_, err := q.wait()
				if kind, _ := ending(err); kind != tt.kind {
					t.Errorf("Ask = %v, want %s", err, tt.kind)
				}
			})
		})
	}
}

func TestEachDelegationKeepsATenthOfTheTimeOrAQuarterSecondForTheWayBack(t *testing.T) {
	for name, within := range map[string]time.Duration{"a tenth": 30 * time.Second, "a quarter second": 1700 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				conversations := map[string]string{}
				note := func(who string) agent.AskOption {
					return agent.Opened(func(id string) { mu.Lock(); defer mu.Unlock(); conversations[who] = id })
				}
				var middle, last *agent.Agent
				middle = agent.New("middle", agent.Handle(look, func(ctx context.Context, s Seat) (Booking, error) {
					<-time.After(70 * time.Millisecond)
					return agent.Ask(ctx, middle, "last", look, s, note("middle"))
				}))
				last = agent.New("last", agent.Handle(look, func(ctx context.Context, s Seat) (Booking, error) {
					<-time.After(130 * time.Millisecond)
					return agent.Ask(ctx, last, "flights", look, s, note("last"))
				}))
				flights := answers(reference)
				first := agent.New("first")
				hosts := []*agent.Host{begin(t, nil, nil, first), begin(t, nil, nil, middle), begin(t, nil, nil, last), begin(t, nil, nil, flights)}
				agent.Introduce(hosts...)
				if _, err := agent.Ask(t.Context(), first, "middle", look, seat, agent.Within(within), note("first")); err != nil {
					t.Fatal(err)
				}
				chain := []*envelope.Envelope{
					sentOf(t, hosts[0], first, conversations["first"])[0],
					sentOf(t, hosts[1], middle, conversations["middle"])[0],
					sentOf(t, hosts[2], last, conversations["last"])[0],
				}
				for i, e := range chain[1:] {
					parent := chain[i]
					margin := max(parent.ReplyBy().Sub(e.Timestamp())/10, 250*time.Millisecond)
					if want := parent.ReplyBy().Add(-margin).Truncate(time.Millisecond); !e.ReplyBy().Equal(want) {
						t.Errorf("hop %d: reply_by %v, want %v", i+1, e.ReplyBy(), want)
					}
					h, p := e.Header(), parent.Header()
					if h.Hop != p.Hop+1 || h.CorrelationID != p.CorrelationID || h.CausationID != p.MessageID || h.Actor != p.Actor {
						t.Errorf("hop %d: hop %d, correlation %s, causation %s, actor %s do not follow from the parent's", i+1, h.Hop, h.CorrelationID, h.CausationID, h.Actor)
					}
					if h.Trace.Traceparent[:35] != p.Trace.Traceparent[:35] || h.Trace.Traceparent == p.Trace.Traceparent {
						t.Errorf("hop %d: trace %s is no new span of %s", i+1, h.Trace.Traceparent, p.Trace.Traceparent)
					}
				}
			})
		})
	}
}

func TestACycleOfAgentsEndsAtTheHopLimitInBoundedMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		agents := map[string]*agent.Agent{}
		var kinds []string
		var mu sync.Mutex
		pass := func(from, to string) agent.Option {
			return agent.Handle(look, func(ctx context.Context, s Seat) (Booking, error) {
				runs.Add(1)
				b, err := agent.Ask(ctx, agents[from], to, look, s)
				kind, e := ending(err)
				mu.Lock()
				defer mu.Unlock()
				kinds = append(kinds, kind+" "+e.Reason)
				return b, err
			})
		}
		for from, to := range map[string]string{"one": "two", "two": "three", "three": "one"} {
			agents[from] = agent.New(from, pass(from, to))
		}
		a, b, c := begin(t, nil, nil, agents["one"]), begin(t, nil, nil, agents["two"]), begin(t, nil, nil, agents["three"])
		var messages atomic.Int32
		counting := func(next agent.Transport) agent.Transport {
			return &lossy{Transport: next, lose: func(*envelope.Envelope) loss { messages.Add(1); return nothing }}
		}
		for _, from := range []*agent.Host{a, b, c} {
			for _, to := range []*agent.Host{a, b, c} {
				if from != to {
					from.Connect(agent.PeerHost(to).Through(counting))
				}
			}
		}
		_, err := agent.Ask(t.Context(), agents["one"], "two", look, seat, agent.Within(5*time.Minute))
		if kind, _ := ending(err); kind != "failed" {
			t.Errorf("Ask = %v, want failed", err)
		}
		at(time.Minute)
		// Hops 0 to 8 are worked on; the innermost question, hop 9, is refused.
		if runs.Load() != guard.HopLimit+1 {
			t.Errorf("the cycle ran %d handlers, want %d", runs.Load(), guard.HopLimit+1)
		}
		if kinds[0] != "refused hop-limit" {
			t.Errorf("the innermost question ended with %q, want refused hop-limit", kinds[0])
		}
		// Ten requests with at most an agree and one answer each.
		if n := messages.Load(); n > 30 {
			t.Errorf("%d messages were sent, want at most 30", n)
		}
	})
}

func TestADeadlineThatHasPassedIsAnErrorBeforeAnythingIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, link, a, _ := lossyPair(t, none, none, answers(reference))
		for _, within := range []time.Duration{0, -time.Second} {
			if _, err := agent.Ask(t.Context(), planner, "flights", look, seat, agent.Within(within)); !errors.Is(err, agent.ErrPast) {
				t.Errorf("Within(%v): %v, want ErrPast", within, err)
			}
		}
		live, err := a.Store().Exchanges(t.Context(), planner.URI(), "")
		if err != nil || len(live) != 0 || len(link.seen) != 0 {
			t.Errorf("exchanges %v, sent %v, %v; want none", live, link.seen, err)
		}
	})
}

func TestAHandlerWithoutTimeLeftCannotDelegate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nested := make(chan error, 1)
		var middle *agent.Agent
		middle = agent.New("middle", agent.Handle(look, func(ctx context.Context, s Seat) (Booking, error) {
			b, err := agent.Ask(ctx, middle, "flights", look, s, agent.Within(time.Hour))
			nested <- err
			return b, err
		}))
		planner, _, _ := pair(t, nil, middle, answers(reference))
		_, err := agent.Ask(t.Context(), planner, "middle", look, seat, agent.Within(250*time.Millisecond))
		if nested := <-nested; !errors.Is(nested, agent.ErrPast) {
			t.Errorf("the nested Ask = %v, want ErrPast", nested)
		}
		if kind, _ := ending(err); kind != "failed" {
			t.Errorf("Ask = %v, want failed", err)
		}
	})
}

func TestARequestThatArrivesAfterItsDeadlineIsRefusedWithoutWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flights := answers(func(context.Context, Seat) (Booking, error) { t.Error("the handler ran"); return Booking{}, nil })
		planner, a, b := pair(t, nil, flights)
		h := opening(planner, flights, look.Name(), look.Protocol())
		h.ReplyBy = time.Now().Add(-1100 * time.Millisecond)
		e := seal(t, h, seatJSON)
		wantAck(t, hand(t, b, e, token(t, a, planner.URI(), flights.URI())))
		sent := sentOf(t, b, flights, e.Conversation())
		if len(sent) != 1 || sent[0].Act() != envelope.Refuse || sent[0].Header().Error.Code != envelope.CodeDeadline {
			t.Errorf("it answered %v, want refuse(deadline)", sent)
		}
	})
}
