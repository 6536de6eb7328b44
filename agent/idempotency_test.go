package agent_test

import (
	"context"
	"errors"
	"maps"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store/memory"
)

func TestADuplicateOfARequestBeingWorkedOnIsToldSoAndTheExchangeGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := work(t, book, none)
		told := wantNack(t, w.toFlights(t, w.request.Resend(2, "")), envelope.CodeTransient, guard.ReasonInProgress)
		if !told.Retriable || told.RetryAfter != 30*time.Second {
			t.Errorf("told %+v, want to wait for the end of the lease of 30 s", told)
		}
		// After agree, that is what a duplicate gets.
		at(200 * time.Millisecond)
		again := w.toFlights(t, w.request.Resend(3, ""))
		if len(again) != 1 || again[0].Digest() != sentOf(t, w.b, w.flights, w.q.id)[0].Digest() {
			t.Errorf("answers %v, want the stored agree", again)
		}
		if got := w.b.Counts()["duplicate"]; got != 2 {
			t.Errorf("duplicates counted %d, want 2", got)
		}
		w.finish()
		if out, err := w.q.wait(); err != nil || out.Reference != "R1" || w.runs.Load() != 1 {
			t.Errorf("Ask = %v, %v after %d runs", out, err, w.runs.Load())
		}
	})
}

func TestADuplicateOfACompletedRequestGetsTheStoredAnswer(t *testing.T) {
	for name, end := range map[string]func(context.Context) (Booking, error){
		"a result": func(context.Context) (Booking, error) { return Booking{Reference: "R1"}, nil },
		"a refusal": func(context.Context) (Booking, error) {
			return Booking{}, agent.Refuse(envelope.CodePermanent, "sold-out")
		},
		"a failure": func(context.Context) (Booking, error) { return Booking{}, errors.New("lost") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var runs atomic.Int32
				flights := answers(func(ctx context.Context, _ Seat) (Booking, error) { runs.Add(1); return end(ctx) })
				planner, a, b := pair(t, nil, flights)
				q := ask(t, planner, "flights", book, seat)
				q.wait()
				synctest.Wait()
				sent := sentOf(t, b, flights, q.id)
				before := len(logOf(t, b, flights, q.id))
				request := sentOf(t, a, planner, q.id)[0]
				for attempt := 2; attempt < 5; attempt++ {
					again := hand(t, b, request.Resend(attempt, ""), token(t, a, planner.URI(), flights.URI()))
					if len(again) != 1 || again[0].Digest() != sent[len(sent)-1].Digest() {
						t.Fatalf("attempt %d is answered with %v, want the stored %s", attempt, again, sent[len(sent)-1].Act())
					}
				}
				if runs.Load() != 1 || len(logOf(t, b, flights, q.id)) != before {
					t.Errorf("duplicates had effects: %d runs, %d more entries", runs.Load(), len(logOf(t, b, flights, q.id))-before)
				}
			})
		})
	}
}

func TestADuplicateOfAnAnswerIsAcknowledgedAndChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flights := answers(reference)
		planner, a, b := pair(t, nil, flights)
		q := ask(t, planner, "flights", book, seat)
		q.wait()
		synctest.Wait()
		before := semantics(t, a, planner, q.id)
		for _, e := range sentOf(t, b, flights, q.id) {
			wantAck(t, hand(t, a, e.Resend(2, ""), token(t, b, flights.URI(), planner.URI())))
		}
		if after := semantics(t, a, planner, q.id); after != before {
			t.Errorf("duplicates changed the exchange from %s to %s", before, after)
		}
	})
}

func TestOneKeyHasOneEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		var keys []string
		flights := answers(func(ctx context.Context, s Seat) (Booking, error) {
			n := runs.Add(1)
			keys = append(keys, agent.EffectKey(ctx))
			switch s.Flight {
			case "AY1":
				return Booking{}, agent.Refuse(envelope.CodeCapacity, "sold-out")
			case "AY2":
				return Booking{}, agent.Fail(envelope.CodePermanent, "lost")
			}
			return Booking{Reference: "R" + string('0'+n)}, nil
		})
		planner, _, b := pair(t, nil, flights)
		ask := func(flight, key string) (string, error) {
			t.Helper()
			out, err := agent.Ask(t.Context(), planner, "flights", book, Seat{Flight: flight}, agent.Key(key))
			return out.Reference, err
		}
		first, err := ask("AY121", "k1")
		if err != nil {
			t.Fatal(err)
		}
		// The same again under a new message: the same result, nothing done.
		if again, err := ask("AY121", "k1"); err != nil || again != first || runs.Load() != 1 {
			t.Errorf("the second time: %s, %v after %d runs, want %s after one", again, err, runs.Load(), first)
		}
		if got := b.Counts()["effect.recalled"]; got != 1 {
			t.Errorf("recalled %d, want 1", got)
		}
		// Other content under the key is refused.
		_, err = ask("AY122", "k1")
		if kind, e := ending(err); kind != "refused" || e.Code != envelope.CodePermanent || e.Reason != guard.ReasonMismatch || runs.Load() != 1 {
			t.Errorf("other content: %v after %d runs, want refused (mismatch)", err, runs.Load())
		}
		// What is refused leaves its key free, for other content too.
		if _, err := ask("AY1", "k2"); err == nil {
			t.Error("AY1 was not refused")
		}
		if ref, err := ask("AY123", "k2"); err != nil || ref != "R3" {
			t.Errorf("after a refusal: %s, %v", ref, err)
		}
		// A failure is an outcome like any other: it is not tried again.
		before := runs.Load()
		for range 2 {
			_, err := ask("AY2", "k3")
			if kind, e := ending(err); kind != "failed" || e.Reason != "lost" {
				t.Errorf("the failed effect: %v", err)
			}
		}
		if runs.Load() != before+1 {
			t.Errorf("the failed effect was tried %d times", runs.Load()-before)
		}
		// Another sender's keys are its own.
		if keys[0] == keys[1] || keys[1] != keys[2] {
			t.Errorf("effect keys %v, want one per key of the sender", keys)
		}
	})
}

func TestTheIDOfAConversationIsNoKeyOfWhatHasAnotherOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		planner, _, b := pair(t, nil, answers(func(context.Context, Seat) (Booking, error) {
			return Booking{Reference: "R" + string('0'+runs.Add(1))}, nil
		}))
		first := ask(t, planner, "flights", book, seat, agent.Key("k1"))
		if _, err := first.wait(); err != nil {
			t.Fatal(err)
		}
		if out, err := agent.Ask(t.Context(), planner, "flights", book, seat, agent.Key(first.id)); err != nil || out.Reference != "R2" || runs.Load() != 2 {
			t.Errorf("under the id of that conversation: %v, %v after %d runs", out, err, runs.Load())
		}
		if got := b.Counts()["effect.recalled"]; got != 0 {
			t.Errorf("recalled %d, want 0", got)
		}
	})
}

// A carrier's key is not in the ledger, so the exchange that has it says what it is of.
func TestAKeyThatACarrierMadeIsOfOneCapability(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := map[string]int{}
		does := func(name string) func(context.Context, Seat) (Booking, error) {
			return func(context.Context, Seat) (Booking, error) { runs[name]++; return Booking{Reference: name}, nil }
		}
		rebook := protocol.Request[Seat, Booking]("acme.flight.rebook/v1")
		planner, flights := agent.New("planner"), agent.New("flights", agent.Handle(book, does("book")), agent.Handle(rebook, does("rebook")))
		agent.NewHost(agent.Config{}, planner)
		b := begin(t, nil, memory.New(), flights)
		made := opening(planner, flights, book.Name(), book.Protocol())
		made.IdempotencyKey = made.ConversationID
		for _, again := range []struct {
			name protocol.Name
			want map[string]int
		}{
			{book.Name(), map[string]int{"book": 1}},
			{rebook.Name(), map[string]int{"book": 1, "rebook": 1}},
			{book.Name(), map[string]int{"book": 1, "rebook": 1}},
		} {
			h, mail := made, agent.Mail{Caller: planner.URI(), Task: taskOf(made.ConversationID), Mailbox: true, New: len(runs) == 0}
			if !mail.New {
				h = opening(planner, flights, again.name, book.Protocol())
				h.IdempotencyKey, mail.Task = made.ConversationID, taskOf(h.ConversationID)
			}
			if _, err := b.Accept(t.Context(), seal(t, h, seatJSON), mail); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if !maps.Equal(runs, again.want) {
				t.Errorf("%s: ran %v, want %v", again.name, runs, again.want)
			}
		}
	})
}

func TestSendersDoNotShareKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		one, two := agent.New("one"), agent.New("two")
		flights := answers(func(ctx context.Context, _ Seat) (Booking, error) {
			runs.Add(1)
			return Booking{Reference: "R-" + agent.EffectKey(ctx)}, nil
		})
		begin(t, nil, nil, one, two, flights)
		first, err := agent.Ask(t.Context(), one, "flights", book, seat, agent.Key("k"))
		if err != nil {
			t.Fatal(err)
		}
		second, err := agent.Ask(t.Context(), two, "flights", book, seat, agent.Key("k"))
		if err != nil || second == first || runs.Load() != 2 {
			t.Errorf("the second sender got %v, %v after %d runs", second, err, runs.Load())
		}
	})
}

func TestRequestsUnderOneKeyAtTheSameTimeRunOneHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		flights := answers(func(context.Context, Seat) (Booking, error) {
			runs.Add(1)
			<-time.After(time.Second)
			return Booking{Reference: "R1"}, nil
		})
		planner, _, _ := pair(t, nil, flights)
		var asked []*asking[Booking]
		for range 6 {
			asked = append(asked, ask(t, planner, "flights", book, seat, agent.Key("k")))
		}
		ok, told := 0, 0
		for _, q := range asked {
			_, err := q.wait()
			switch kind, e := ending(err); {
			case err == nil:
				ok++
			case kind == "refused" && e.Code == envelope.CodeTransient && e.Reason == guard.ReasonInProgress:
				told++
			default:
				t.Errorf("Ask = %v, want the result or refused (in-progress)", err)
			}
		}
		if runs.Load() != 1 || ok != 1 || told != 5 {
			t.Errorf("%d runs, %d results, %d told to wait; want 1, 1 and 5", runs.Load(), ok, told)
		}
		if out, err := agent.Ask(t.Context(), planner, "flights", book, seat, agent.Key("k")); err != nil || out.Reference != "R1" || runs.Load() != 1 {
			t.Errorf("afterwards: %v, %v after %d runs", out, err, runs.Load())
		}
	})
}

func TestACancelledRequestLeavesItsKeyFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		flights := answers(func(ctx context.Context, _ Seat) (Booking, error) {
			if runs.Add(1) == 1 {
				<-ctx.Done()
				return Booking{}, ctx.Err()
			}
			return Booking{Reference: "R2"}, nil
		})
		planner, _, _ := pair(t, nil, flights)
		ctx, cancel := context.WithCancel(t.Context())
		q := askIn(ctx, t, planner, "flights", book, seat, agent.Key("k"))
		at(time.Second)
		cancel()
		q.wait()
		at(time.Second)
		if out, err := agent.Ask(t.Context(), planner, "flights", book, seat, agent.Key("k")); err != nil || out.Reference != "R2" {
			t.Errorf("Ask = %v, %v", out, err)
		}
	})
}
