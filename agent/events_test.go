package agent_test

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/llm"
	"github.com/parley-agents/parley/store"
)

// watching collects a sequence in a goroutine of its own. before is called
// with each event before it is taken.
type watching struct {
	events []agent.Event
	err    error
	done   chan struct{}
}

func watch(t *testing.T, seq iter.Seq2[agent.Event, error], before func(agent.Event)) *watching {
	w := &watching{done: make(chan struct{})}
	go func() {
		defer close(w.done)
		for e, err := range seq {
			if (e == nil) == (err == nil) {
				t.Errorf("yielded %v, %v", e, err)
			}
			if w.err != nil {
				t.Errorf("yielded %v, %v after the error %v", e, err, w.err)
			}
			if err != nil {
				w.err = err
				continue
			}
			if before != nil {
				before(e)
			}
			w.events = append(w.events, e)
		}
	}()
	return w
}

func (w *watching) acts(t *testing.T) []store.Entry {
	t.Helper()
	<-w.done
	if w.err != nil {
		t.Errorf("the sequence ended with %v", w.err)
	}
	var list []store.Entry
	for _, e := range w.events {
		a, ok := e.(*agent.Acted)
		if !ok {
			continue
		}
		entry := store.Entry{Index: a.Index, At: a.At, Kind: a.Kind, Event: a.Event, From: a.From, To: a.To}
		if a.Message != nil {
			entry.MessageID = a.Message.ID()
		}
		list = append(list, entry)
	}
	return list
}

// sameActs compares acts with the owner's log.
func sameActs(t *testing.T, who string, got, log []store.Entry) {
	t.Helper()
	var want []store.Entry
	for _, e := range log {
		want = append(want, store.Entry{Index: e.Index, At: e.At, Kind: e.Kind, Event: e.Event, From: e.From, To: e.To, MessageID: e.MessageID})
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s saw\n%v, want\n%v", who, got, want)
	}
}

func TestAWatcherSeesEachActOnceAndInOrderWheneverItComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flights := answers(func(ctx context.Context, s Seat) (Booking, error) {
			<-time.After(2 * time.Second)
			return reference(ctx, s)
		})
		planner, a, b := pair(t, nil, flights)
		x := begun(t, planner)
		early := watch(t, x.Events(t.Context()), nil)
		at(time.Second)
		middle := watch(t, agent.Watch(t.Context(), flights, x.ID(), "planner"), nil)
		if _, err := x.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		at(time.Second)
		late, lateThere := watch(t, x.Events(t.Context()), nil), watch(t, agent.Watch(t.Context(), flights, x.ID(), planner.URI()), nil)
		mine, theirs := logOf(t, a, planner, x.ID()), logOf(t, b, flights, x.ID())
		if len(mine) < 3 || len(theirs) < 3 {
			t.Fatalf("logs of %d and %d entries, want request, agree and inform", len(mine), len(theirs))
		}
		sameActs(t, "who came early", early.acts(t), mine)
		sameActs(t, "who came in the middle", middle.acts(t), theirs)
		sameActs(t, "who came late", late.acts(t), mine)
		sameActs(t, "who came late to the other side", lateThere.acts(t), theirs)
	})
}

func TestATimerIsAnActWithoutAMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, a, _ := pair(t, nil, answers(func(context.Context, Seat) (Booking, error) {
			<-time.After(time.Hour)
			return Booking{"R1"}, nil
		}))
		x := begun(t, planner, agent.Within(time.Minute))
		w := watch(t, x.Events(t.Context()), nil)
		sameActs(t, "the watcher", w.acts(t), logOf(t, a, planner, x.ID()))
		if !slices.ContainsFunc(w.events, func(e agent.Event) bool {
			acted, ok := e.(*agent.Acted)
			return ok && acted.Kind == store.Fired && acted.Message == nil
		}) {
			t.Error("no timer was seen")
		}
		at(2 * time.Hour)
	})
}

func TestASequenceOfEventsEndsForAReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		flights := held(release)
		planner, a, _ := pair(t, nil, flights)
		x := begun(t, planner, agent.Within(time.Hour))
		at(time.Second)

		seen := 0
		for range x.Events(t.Context()) { // yielding after this would panic
			seen++
			break
		}
		if seen != 1 {
			t.Errorf("a consumer that left was told %d events", seen)
		}

		why := errors.New("seen enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := watch(t, x.Events(ctx), nil)
		at(time.Second)
		cancel(why)
		if <-gone.done; !errors.Is(gone.err, why) {
			t.Errorf("at the end of its context: %v", gone.err)
		}
		ended := watch(t, x.Events(ctx), nil)
		if <-ended.done; !errors.Is(ended.err, why) || len(ended.events) != 0 {
			t.Errorf("under an ended context: %d events, %v", len(ended.events), ended.err)
		}

		for name, tt := range map[string]struct {
			seq  iter.Seq2[agent.Event, error]
			want error
		}{
			"an unknown conversation": {agent.Watch(t.Context(), planner, fresh(), "flights"), store.ErrNotFound},
			"an agent without a host": {agent.Watch(t.Context(), agent.New("homeless"), x.ID(), "flights"), agent.ErrStopped},
		} {
			w := watch(t, tt.seq, nil)
			if <-w.done; !errors.Is(w.err, tt.want) || len(w.events) != 0 {
				t.Errorf("%s: %d events, %v", name, len(w.events), w.err)
			}
		}
		misnamed := watch(t, agent.Watch(t.Context(), planner, x.ID(), "no name"), nil)
		if <-misnamed.done; misnamed.err == nil {
			t.Error("a peer whose name is none can be watched")
		}

		stopped := watch(t, x.Events(t.Context()), nil)
		at(time.Second)
		if err := a.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if <-stopped.done; !errors.Is(stopped.err, agent.ErrStopped) {
			t.Errorf("when the host stopped: %v", stopped.err)
		}
	})
}

func TestAWatcherSeesWhatTheModelCallsAndHowItWasMended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		script := agenttest.NewScript(
			func(ctx context.Context, r llm.Request) (*llm.Response, error) {
				<-gate
				return agenttest.Calls(agenttest.Call("weather", "```json\n{\"name\": \"Turku\",}\n```"), agenttest.Call("nothing", "{}"))(ctx, r)
			}, says("R1"))
		c := clerk(script, weather(new(atomic.Int32)))
		planner, _, b := pair(t, nil, c)
		q := ask(t, planner, "clerk", look, seat)
		at(time.Second)
		w := watch(t, agent.Watch(t.Context(), c, q.id, "planner"), nil)
		at(0)
		close(gate)
		if _, err := q.wait(); err != nil {
			t.Fatal(err)
		}
		sameActs(t, "the watcher", w.acts(t), logOf(t, b, c, q.id))
		var calling []agent.Calling
		var called []agent.Called
		var mended []string
		for _, e := range w.events {
			switch e := e.(type) {
			case *agent.Calling:
				calling = append(calling, *e)
			case *agent.Called:
				called = append(called, *e)
			case *agent.Mended:
				if len(e.Fixes) > 0 {
					mended = append(mended, e.Function)
				}
			}
		}
		if len(calling) != 2 || calling[0].Function != "weather" || string(calling[0].Arguments) != `{"name":"Turku"}` || calling[1].Function != "nothing" {
			t.Errorf("calling %+v", calling)
		}
		if len(called) != 2 || called[0].ID != calling[0].ID || !strings.Contains(string(called[0].Result), "It rains in Turku.") ||
			!strings.Contains(string(called[1].Result), "unknown-function") {
			t.Errorf("called %+v", called)
		}
		if !slices.Equal(mended, []string{"weather"}) {
			t.Errorf("mended %v", mended)
		}
		if last, ok := w.events[len(w.events)-1].(*agent.Acted); !ok || last.To != "done:ok" {
			t.Errorf("the last event is %+v, want the act that ended the exchange", w.events[len(w.events)-1])
		}
	})
}

func TestAWatcherSeesWhatTheGuardRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := work(t, book, lost)
		seen := watch(t, agent.Watch(t.Context(), w.planner, w.q.id, "flights"), nil)
		at(0)
		wantNack(t, w.toPlanner(t, seal(t, answering(w.b, t, w.request, envelope.Inform, 1), bookingJSON)), envelope.CodePermanent, "illegal-transition")
		wantAck(t, w.toPlanner(t, seal(t, answering(w.b, t, w.request, envelope.Agree, 2), "{}")))
		wantAck(t, w.toPlanner(t, seal(t, answering(w.b, t, w.request, envelope.Inform, 3), `{"reference":"R9"}`)))
		w.finish()
		sameActs(t, "the watcher", seen.acts(t), logOf(t, w.a, w.planner, w.q.id))
		if !slices.ContainsFunc(seen.events, func(e agent.Event) bool {
			r, ok := e.(*agent.Refused)
			return ok && r.Rule == "legality" && r.Code == envelope.CodePermanent && r.Pointer == "/performative"
		}) {
			t.Errorf("saw %v", seen.events)
		}
	})
}

// streaming is a model that tells its text in pieces and then gives a result.
type streaming struct{ pieces []string }

func (s *streaming) Complete(ctx context.Context, r llm.Request) (*llm.Response, error) {
	return s.Stream(ctx, r, func(llm.Part) error { return nil })
}

func (s *streaming) Stream(ctx context.Context, r llm.Request, each func(llm.Part) error) (*llm.Response, error) {
	for _, p := range s.pieces {
		if err := each(llm.Part{Text: p}); err != nil {
			return nil, err
		}
	}
	reply, err := says("R1")(ctx, r)
	reply.Text = strings.Join(s.pieces, "")
	return reply, err
}

// deltas is the text that was streamed and in how many pieces.
func deltas(events []agent.Event) (text string, pieces int) {
	for _, e := range events {
		if d, ok := e.(*agent.Delta); ok {
			text += d.Text
			pieces++
		}
	}
	return text, pieces
}

func TestTextThatIsStreamedReachesASlowWatcherInFewerPiecesAndWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &streaming{pieces: slices.Repeat([]string{"Let ", "me ", "see. "}, 100)}
		begin := make(chan struct{})
		c := clerk(model, agent.Instructions(func(context.Context) string { <-begin; return "" }))
		planner, _, b := pair(t, nil, c)
		q := ask(t, planner, "clerk", look, seat)
		at(0)
		w := watch(t, agent.Watch(t.Context(), c, q.id, "planner"), func(agent.Event) { <-time.After(time.Second) })
		at(200 * time.Millisecond) // agree is logged before the text comes, and read after it
		close(begin)
		if _, err := q.wait(); err != nil {
			t.Fatal(err)
		}
		sameActs(t, "the slow watcher", w.acts(t), logOf(t, b, c, q.id))
		text, pieces := deltas(w.events)
		if text != strings.Join(model.pieces, "") || pieces == 0 || pieces >= len(model.pieces) {
			t.Errorf("%d pieces of %d, in all %q", pieces, len(model.pieces), text)
		}
	})
}

func TestAWatcherThatDoesNotReadHoldsNobodyUpAndLosesNoAct(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &streaming{pieces: slices.Repeat([]string{strings.Repeat("x", 5000)}, 3000)}
		begin := make(chan struct{})
		c := clerk(model, agent.Instructions(func(context.Context) string { <-begin; return "" }))
		planner, _, b := pair(t, nil, c)
		q := ask(t, planner, "clerk", look, seat)
		at(time.Second)
		wake := make(chan struct{})
		w := watch(t, agent.Watch(t.Context(), c, q.id, "planner"), func(agent.Event) { <-wake })
		at(0)
		began := time.Now()
		close(begin)
		if _, err := q.wait(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("the answer took %v", took)
		}
		close(wake)
		sameActs(t, "the watcher that slept", w.acts(t), logOf(t, b, c, q.id))
		if text, pieces := deltas(w.events); len(text) == 0 || len(text) > 4<<20 || pieces > 1024 {
			t.Errorf("%d bytes in %d pieces were kept for it", len(text), pieces)
		}
	})
}
