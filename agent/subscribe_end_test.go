package agent_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/guard/schema"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

func TestASubscriptionWhoseTimeIsOverIsCancelledAndConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		publisher := source(quietly(ended))
		planner, a, b := meet(t, publisher)
		began := time.Now()
		l := subscribe(t.Context(), t, planner, nil, agent.Within(time.Minute))
		got, err := l.wait()
		if kind, _ := ending(err); kind != "cancelled" || len(got) != 1 || time.Since(began) != time.Minute {
			t.Errorf("told %v, %v after %v", got, err, time.Since(began))
		}
		<-ended
		at(time.Second)
		if got := state(t, b, publisher, l.id); got != "done:cancelled" {
			t.Errorf("the publisher is in %q", got)
		}
		if got := concludes(t, a, planner, l.id); got == protocol.TerminalCancelled {
			t.Error("a timer counts as a cancel that somebody asked for")
		}
	})
}

func TestAnItemThatComesLateDoesNotMakeItAFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, publisher := agent.New("planner"), source(counting(1000, 100*time.Millisecond))
		a, b := begin(t, nil, nil, planner), begin(t, nil, nil, publisher)
		cut := wire(a, b)
		l := subscribe(t.Context(), t, planner, nil, agent.Within(10*time.Second))
		at(9500 * time.Millisecond)
		cut(true)
		at(2 * time.Second)
		next := exchangeOf(t, a, planner, l.id).State.Received + 1
		for _, e := range sentOf(t, b, publisher, l.id) {
			if e.Seq() == next { // the one that was under way when the line was cut
				wantNack(t, hand(t, a, e, token(t, b, publisher.URI(), planner.URI())), envelope.CodeDeadline, guard.ReasonLate)
			}
		}
		cut(false)
		_, err := l.wait()
		if kind, e := ending(err); e.Code == envelope.CodeValidation || kind == "<nil>" {
			t.Errorf("the sequence ends with %v though every item fits", err)
		}
		if a.Counts()["violation.deadline"] == 0 {
			t.Errorf("no item came late: %v", a.Counts())
		}
	})
}

// BadTick is what a publisher tells that has other ideas of a tick.
type BadTick struct {
	N int `json:"n"`
}

func TestAnItemThatDoesNotFitEndsTheSubscriptionThereAndIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		foreign := protocol.NewStream[Job, BadTick](ticks.Name().String())
		publisher := agent.New("source", agent.Publish(foreign, func(ctx context.Context, _ Job, emit func(BadTick) error) error {
			for _, n := range []int{1, 2, 0} {
				if err := emit(BadTick{n}); err != nil {
					return err
				}
			}
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return context.Cause(ctx)
		}))
		planner, a, b := meet(t, publisher)
		l := subscribe(t.Context(), t, planner, nil)
		got, err := l.wait()
		kind, e := ending(err)
		if kind != "failed" || e.Code != envelope.CodeValidation || e.Reason != guard.ReasonSchema || e.Pointer != "/content/n" || e.Conversation != l.id || e.Peer != uri("source") {
			t.Errorf("the sequence ends with %+v", err)
		}
		if !slices.Equal(got, upTo(2)) {
			t.Errorf("told %v before", got)
		}
		<-ended
		at(time.Second)
		if a.Counts()["violation.content"] != 1 {
			t.Errorf("counted %v", a.Counts())
		}
		for who, got := range map[string]protocol.State{"subscriber": state(t, a, planner, l.id), "publisher": state(t, b, publisher, l.id)} {
			if got != "done:cancelled" {
				t.Errorf("the %s is in %q", who, got)
			}
		}
	})
}

func TestAnItemThatDoesNotFitItsOwnSchemaIsRefusedBeforeItIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		publisher := source(func(_ context.Context, emit emitTick) error {
			if invalid, ok := errors.AsType[*schema.Invalid](emit(Tick{0})); !ok || invalid.Violations[0].Pointer != "/n" {
				t.Errorf("an item that does not fit: %v", invalid)
			}
			return emit(Tick{1})
		})
		planner, a, _ := meet(t, publisher)
		l := subscribe(t.Context(), t, planner, nil)
		if got, err := l.wait(); err != nil || !slices.Equal(got, upTo(1)) {
			t.Errorf("told %v, %v", got, err)
		}
		if refused := a.Counts()["violation.content"]; refused != 0 {
			t.Errorf("%d items were refused by the subscriber", refused)
		}
	})
}

func TestAForgedItemUnderANumberThatWasUsedDoesNotEndTheSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		publisher := source(counting(5, time.Second))
		planner, a, b := meet(t, publisher)
		l := subscribe(t.Context(), t, planner, nil)
		at(2500 * time.Millisecond)
		item := sentOf(t, b, publisher, l.id)[1]
		h := item.Header()
		h.MessageID, h.ContentDigest = fresh(), ""
		wantNack(t, hand(t, a, seal(t, h, `{"n":77}`), token(t, b, publisher.URI(), planner.URI())), envelope.CodePermanent, guard.ReasonEquivocation)
		if got, err := l.wait(); err != nil || !slices.Equal(got, upTo(5)) {
			t.Errorf("told %v, %v", got, err)
		}
	})
}

func TestAStreamEndsAsItsPublisherSays(t *testing.T) {
	first := func(emit emitTick, err error) error { return errors.Join(emit(Tick{1}), err) }
	for name, tt := range map[string]struct {
		fn     func(context.Context, emitTick) error
		told   int
		kind   string
		code   envelope.Code
		reason string
	}{
		"by nil":                  {func(_ context.Context, emit emitTick) error { return first(emit, nil) }, 1, "<nil>", "", ""},
		"by nil, without an item": {func(context.Context, emitTick) error { return nil }, 0, "<nil>", "", ""},
		"by an error":             {func(_ context.Context, emit emitTick) error { return first(emit, errors.New(secret)) }, 1, "failed", envelope.CodePermanent, "handler"},
		"by a panic": {func(_ context.Context, emit emitTick) error {
			defer panic(secret)
			return first(emit, nil)
		}, 1, "failed", envelope.CodePermanent, "handler-panic"},
		"by a refusal": {func(context.Context, emitTick) error { return agent.Refuse(envelope.CodeCapacity, "sold-out") }, 0, "refused", envelope.CodeCapacity, "sold-out"},
		"by a refusal after an item": {func(_ context.Context, emit emitTick) error {
			return first(emit, agent.Refuse(envelope.CodeCapacity, "sold-out"))
		}, 1, "failed", envelope.CodeCapacity, "sold-out"},
		"by a failure": {func(_ context.Context, emit emitTick) error {
			return first(emit, agent.Fail(envelope.CodeTransient, "broken"))
		}, 1, "failed", envelope.CodeTransient, "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				publisher := source(tt.fn)
				planner, a, b := meet(t, publisher)
				l := subscribe(t.Context(), t, planner, nil)
				got, err := l.wait()
				if kind, e := ending(err); kind != tt.kind || e.Code != tt.code || e.Reason != tt.reason || len(got) != tt.told {
					t.Errorf("told %v, then %v; want %d and %s (%s, %s)", got, err, tt.told, tt.kind, tt.code, tt.reason)
				}
				synctest.Wait()
				if x, y := state(t, a, planner, l.id), state(t, b, publisher, l.id); x != y || !x.Done() {
					t.Errorf("the subscriber is in %q, the publisher in %q", x, y)
				}
			})
		})
	}
}

func TestAPublisherWhoseSubscriberVanishesStopsWithinTheLease(t *testing.T) {
	for name, fn := range map[string]func(chan<- error) func(context.Context, emitTick) error{
		"though it has nothing to tell": func(ended chan<- error) func(context.Context, emitTick) error { return quietly(ended) },
		"and is let off while emit waits": func(ended chan<- error) func(context.Context, emitTick) error {
			return func(ctx context.Context, emit emitTick) error {
				err := counting(1000, 10*time.Millisecond)(ctx, emit)
				ended <- err
				return err
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan error, 1)
				publisher := source(fn(ended))
				planner, a, b := meet(t, publisher)
				l := subscribe(t.Context(), t, planner, nil)
				at(time.Second)
				if err := a.Kill(); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				if err := <-ended; err == nil {
					t.Error("the publisher was not told why")
				}
				if took := time.Since(began); took > protocol.Lease {
					t.Errorf("the publisher went on for %v", took)
				}
				synctest.Wait()
				x := exchangeOf(t, b, publisher, l.id).State
				if x.State != "done:failed" || x.Error == nil || x.Error.Code != envelope.CodeDeadline {
					t.Errorf("the publisher is in %q with %+v", x.State, x.Error)
				}
				<-l.done
			})
		})
	}
}

func TestAnIdleStreamIsKeptAliveByReceiptsAndLeavesNoTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		publisher := source(quietly(ended))
		var probes atomic.Int32
		back := func(e *envelope.Envelope) loss {
			if e.Status() == envelope.Partial && e.Attempt() > 1 {
				probes.Add(1)
			}
			return nothing
		}
		planner, _, a, b := lossyPair(t, none, back, publisher)
		ctx, cancel := context.WithCancel(t.Context())
		l := subscribe(ctx, t, planner, nil)
		at(time.Second)
		before := [2]int{len(logOf(t, a, planner, l.id)), len(logOf(t, b, publisher, l.id))}
		at(10 * time.Minute)
		if got := [2]int{len(logOf(t, a, planner, l.id)), len(logOf(t, b, publisher, l.id))}; got != before {
			t.Errorf("the logs have %v entries, before the silence they had %v", got, before)
		}
		if n := probes.Load(); n < 10*60/30 || n > 10*60/5 {
			t.Errorf("%d probes in ten minutes", n)
		}
		if got := state(t, b, publisher, l.id); got != "active" || len(ended) > 0 {
			t.Errorf("the publisher is in %q", got)
		}
		cancel()
		<-ended
		<-l.done
		at(time.Second)
	})
}

func TestAStreamHasRoomForAThousandMessages(t *testing.T) {
	if testing.Short() {
		t.Skip("a thousand messages")
	}
	synctest.Test(t, func(t *testing.T) {
		publisher := source(counting(2000, 0))
		planner, a, b := meet(t, publisher)
		l := subscribe(t.Context(), t, planner, nil)
		got, err := l.wait()
		kind, e := ending(err)
		if kind != "failed" || e.Code != envelope.CodeCapacity || e.Reason != guard.ReasonBudget {
			t.Errorf("the sequence ends with %v", err)
		}
		if !slices.Equal(got, upTo(len(got))) || len(got) < 990 {
			t.Errorf("told %d items", len(got))
		}
		synctest.Wait()
		for who, x := range map[string]store.Exchange{"subscriber": exchangeOf(t, a, planner, l.id), "publisher": exchangeOf(t, b, publisher, l.id)} {
			if x.State.Messages > guard.MaxMessages || !x.State.Done() {
				t.Errorf("the %s is in %q after %d messages", who, x.State.State, x.State.Messages)
			}
		}
	})
}

func TestASubscriptionThatCannotBeOpenedSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, a, _ := meet(t, source(counting(1, 0)))
		first := func(from *agent.Agent, to string) error {
			for _, err := range agent.Subscribe(t.Context(), from, to, ticks, piano) {
				return err
			}
			return nil
		}
		if err := first(planner, "nobody"); !errors.Is(err, agent.ErrUnknownPeer) {
			t.Errorf("nobody: %v", err)
		}
		if err := first(agent.New("homeless"), "source"); !errors.Is(err, agent.ErrStopped) {
			t.Errorf("without a host: %v", err)
		}
		if err := a.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := first(planner, "source"); !errors.Is(err, agent.ErrStopped) {
			t.Errorf("on a host that has stopped: %v", err)
		}
	})
}

func TestASubscriberIsToldThatItsHostStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		planner, a, _ := meet(t, source(quietly(ended)))
		l := subscribe(context.WithoutCancel(t.Context()), t, planner, nil)
		at(time.Second)
		if err := a.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, err := l.wait(); !errors.Is(err, agent.ErrStopped) || len(got) != 1 {
			t.Errorf("told %v, %v", got, err)
		}
		<-ended
	})
}
