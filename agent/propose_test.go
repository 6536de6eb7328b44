package agent_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// buyer is an agent that decides on promises.
func buyer(fn func(context.Context, Price) error) *agent.Agent {
	return agent.New("buyer", agent.Consider(promise, fn))
}

func accept(context.Context, Price) error { return nil }

// offering makes an offer in a goroutine.
func offering(ctx context.Context, t *testing.T, from *agent.Agent, p Price, opts ...agent.AskOption) *asking[struct{}] {
	t.Helper()
	return underway(t, func(opened agent.AskOption) (struct{}, error) {
		return struct{}{}, agent.Propose(ctx, from, "buyer", promise, p, append(opts, opened)...)
	})
}

// answered is how an offer ended.
func answered(err error) (kind string, e protocol.Ending) {
	if rejected, ok := errors.AsType[*protocol.RejectedError](err); ok {
		return "rejected", rejected.Ending
	}
	return ending(err)
}

func TestAnOfferEndsAsWhoeverConsidersItSays(t *testing.T) {
	wait := func(ctx context.Context, _ Price) error { <-ctx.Done(); return context.Cause(ctx) }
	for name, tt := range map[string]struct {
		fn     func(context.Context, Price) error
		kind   string
		code   envelope.Code
		reason string
		mine   protocol.State
		theirs protocol.State
	}{
		"it is accepted": {accept, "<nil>", "", "", "done:accepted", "done:accepted"},
		"it is rejected": {func(context.Context, Price) error { return agent.Refuse(envelope.CodeCapacity, "too-dear") },
			"rejected", envelope.CodeCapacity, "too-dear", "done:rejected", "done:rejected"},
		"it fails": {func(context.Context, Price) error { return agent.Fail(envelope.CodeTransient, "broken") },
			"failed", envelope.CodeTransient, "broken", "done:failed", "done:failed"},
		"with an error": {func(context.Context, Price) error { return errors.New(secret) },
			"failed", envelope.CodePermanent, "handler", "done:failed", "done:failed"},
		"with a panic":   {func(context.Context, Price) error { panic(secret) }, "failed", envelope.CodePermanent, "handler-panic", "done:failed", "done:failed"},
		"after its time": {wait, "expired", envelope.CodeDeadline, "lapsed", "done:refused", "done:expired"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := buyer(tt.fn)
				planner, h, other := meet(t, b)
				began := time.Now()
				q := offering(t.Context(), t, planner, Price{90}, agent.Within(20*time.Second))
				_, err := q.wait()
				if _, stopped := errors.AsType[*protocol.CancelledError](err); stopped && tt.kind == "expired" {
					// Both sides' time is over at one moment: the proposer's cancel may come before the other's own timer.
					tt.kind, tt.code, tt.reason, tt.mine, tt.theirs = "cancelled", "", "", "done:cancelled", "done:cancelled"
				}
				if _, refused := errors.AsType[*protocol.RejectedError](err); refused && tt.kind == "expired" {
					// So may the other's refusal before the proposer's timer.
					tt.kind, tt.mine = "rejected", "done:rejected"
				}
				if kind, e := answered(err); kind != tt.kind || e.Code != tt.code || e.Reason != tt.reason {
					t.Errorf("the offer ended with %v, want %s (%s, %s)", err, tt.kind, tt.code, tt.reason)
				}
				if took := time.Since(began); took > 20*time.Second {
					t.Errorf("it took %v", took)
				}
				at(time.Second)
				if mine, theirs := state(t, h, planner, q.id), state(t, other, b, q.id); mine != tt.mine || theirs != tt.theirs {
					t.Errorf("the proposer is in %q, the other in %q, want %q and %q", mine, theirs, tt.mine, tt.theirs)
				}
				for _, e := range sentOf(t, other, b, q.id) {
					if e.Act() == envelope.Agree && tt.theirs != "done:accepted" {
						t.Error("the runtime accepted")
					}
				}
			})
		})
	}
}

func TestWhoTakesAnOfferBackLearnsWhatTheOtherMadeOfIt(t *testing.T) {
	for name, tt := range map[string]struct {
		fn    func(context.Context, Price) error
		state protocol.State
	}{
		"it stopped": {func(ctx context.Context, _ Price) error { <-ctx.Done(); return context.Cause(ctx) }, "done:cancelled"},
		// The acceptance had happened when the cancel came.
		"it had accepted": {func(ctx context.Context, _ Price) error { <-ctx.Done(); return nil }, "done:ok"},
		"it could not undo": {func(ctx context.Context, _ Price) error {
			<-ctx.Done()
			return agent.Fail(envelope.CodePermanent, "half-done")
		}, "done:failed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := buyer(tt.fn)
				planner, h, other := meet(t, b)
				enough := errors.New("enough")
				ctx, cancel := context.WithCancelCause(t.Context())
				q := offering(ctx, t, planner, Price{90})
				at(time.Second)
				cancel(enough)
				if _, err := q.wait(); !errors.Is(err, enough) {
					t.Errorf("Propose = %v, want the cause", err)
				}
				at(time.Second)
				if mine, theirs := state(t, h, planner, q.id), state(t, other, b, q.id); mine != tt.state || theirs != tt.state {
					t.Errorf("the proposer is in %q, the other in %q, want %q", mine, theirs, tt.state)
				}
			})
		})
	}
}

func TestACancelThatCrossesTheAcceptanceLeavesTheOfferAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var holding atomic.Bool
		holding.Store(true)
		back := func(e *envelope.Envelope) loss {
			if e.Act() == envelope.Agree && holding.Load() {
				return theMessage
			}
			return nothing
		}
		b := buyer(accept)
		planner, _, h, other := lossyPair(t, none, back, b)
		ctx, cancel := context.WithCancel(t.Context())
		q := offering(ctx, t, planner, Price{90})
		at(10 * time.Millisecond)
		cancel()
		q.wait()
		at(0)
		if got := state(t, h, planner, q.id); got != "cancelling" {
			t.Fatalf("the proposer is in %q", got)
		}
		holding.Store(false)
		at(4 * time.Second)
		if mine, theirs := state(t, h, planner, q.id), state(t, other, b, q.id); mine != "done:accepted" || theirs != "done:accepted" {
			t.Errorf("the proposer is in %q, the other in %q", mine, theirs)
		}
		if got := concludes(t, h, planner, q.id); got != protocol.TerminalCompleted {
			t.Errorf("the conversation ended %s", got)
		}
	})
}

func TestAnOfferUnderOneKeyIsAcceptedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bank ledger
		var runs atomic.Int32
		planner, _, other := meet(t, buyer(func(ctx context.Context, p Price) error {
			runs.Add(1)
			if p.Euros > 100 {
				return agent.Refuse(envelope.CodePermanent, "too-dear")
			}
			bank.add(agent.EffectKey(ctx))
			return nil
		}))
		offer := func(euros int, key string) (string, protocol.Ending) {
			return answered(agent.Propose(t.Context(), planner, "buyer", promise, Price{euros}, agent.Key(key)))
		}
		for range 2 {
			if kind, _ := offer(90, "k1"); kind != "<nil>" {
				t.Errorf("the offer ended %s", kind)
			}
		}
		if runs.Load() != 1 || bank.total() != 1 || other.Counts()["effect.recalled"] != 1 {
			t.Errorf("%d runs and the effects %v", runs.Load(), bank.by)
		}
		if kind, e := offer(91, "k1"); kind != "rejected" || e.Reason != guard.ReasonMismatch {
			t.Errorf("other content under the key: %s, %+v", kind, e)
		}
		// What is rejected leaves its key free.
		if kind, _ := offer(110, "k2"); kind != "rejected" {
			t.Errorf("too dear: %s", kind)
		}
		if kind, _ := offer(80, "k2"); kind != "<nil>" || bank.total() != 2 {
			t.Errorf("after a rejection: %s, %v", kind, bank.by)
		}
	})
}

func TestAnOfferThatWasAcceptedAsItsCancelCameIsRecalledAsAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		b := buyer(func(ctx context.Context, _ Price) error {
			if runs.Add(1) == 1 {
				<-ctx.Done()
			}
			return nil
		})
		planner, _, other := meet(t, b)
		ctx, cancel := context.WithCancel(t.Context())
		q := offering(ctx, t, planner, Price{90}, agent.Key("k"))
		at(time.Second)
		cancel()
		q.wait()
		at(time.Second)
		if got := state(t, other, b, q.id); got != "done:ok" {
			t.Fatalf("the other is in %q", got)
		}
		err := agent.Propose(t.Context(), planner, "buyer", promise, Price{90}, agent.Key("k"))
		if err != nil || runs.Load() != 1 {
			t.Errorf("the same offer again: %v after %d runs", err, runs.Load())
		}
	})
}

func TestAnOfferIsAcceptedUnderOneKeyThoughTheHostDies(t *testing.T) {
	for name, tt := range map[string]struct {
		when  func(store.WriteSet) bool
		after bool
		runs  int32
	}{
		"before it is accepted into the inbox": {accepts, false, 1},
		"after it is accepted into the inbox":  {accepts, true, 1},
		"before the answer is durable":         {completes, false, 2},
		"after the answer is durable":          {completes, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "buyer.db")
				var bank ledger
				var runs atomic.Int32
				considers := func() *agent.Agent {
					return buyer(func(ctx context.Context, _ Price) error {
						runs.Add(1)
						bank.add(agent.EffectKey(ctx))
						return nil
					})
				}
				planner := agent.New("planner")
				a := begin(t, nil, nil, planner)
				var b *agent.Host
				disk := &crashing{Store: open(t, path), when: tt.when, after: tt.after}
				reopened := make(chan struct{})
				disk.crash = func() {
					dying := b
					go func() {
						defer close(reopened)
						if err := dying.Kill(); err != nil {
							t.Error(err)
						}
						agent.Introduce(a, begin(t, nil, open(t, path), considers()))
					}()
				}
				b = begin(t, nil, disk, considers())
				agent.Introduce(a, b)
				disk.armed.Store(true)
				if err := agent.Propose(t.Context(), planner, "buyer", promise, Price{90}, agent.Within(5*time.Minute)); err != nil {
					t.Fatal(err)
				}
				<-reopened
				if runs.Load() != tt.runs || len(bank.by) != 1 {
					t.Errorf("%d runs and the effects %v, want %d under one key", runs.Load(), bank.by, tt.runs)
				}
			})
		})
	}
}

func TestASecondRunOfAHandlerMeetsTheOfferOfTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var considered atomic.Int32
		considers := buyer(func(context.Context, Price) error {
			considered.Add(1)
			<-time.After(2 * time.Second)
			return nil
		})
		middle := func(crash func()) *agent.Agent {
			var m *agent.Agent
			m = agent.New("middle", agent.Handle(look, func(ctx context.Context, _ Seat) (Booking, error) {
				if crash != nil {
					time.AfterFunc(time.Second, crash)
				}
				return Booking{"R1"}, agent.Propose(ctx, m, "buyer", promise, Price{90})
			}))
			return m
		}
		out, err := lives{first: middle, second: middle(nil), others: []*agent.Agent{considers}}.ask(t)
		if err != nil || out.Reference != "R1" || considered.Load() != 1 {
			t.Errorf("Ask = %v, %v after %d considerations", out, err, considered.Load())
		}
	})
}

func TestAnOfferThatDoesNotFitIsRefusedBeforeAnythingIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, _, other := meet(t, buyer(func(context.Context, Price) error { t.Error("it was considered"); return nil }))
		if err := agent.Propose(t.Context(), planner, "buyer", promise, Price{-1}); err == nil {
			t.Error("an offer below nothing was sent")
		}
		if n := len(other.Counts()); n != 0 {
			t.Errorf("counted %v", other.Counts())
		}
	})
}
