package agent_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/agent/agenttest"
	"github.com/parley-agents/parley/guard"
	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/transcript"
)

func woken(moved <-chan struct{}) bool {
	select {
	case <-moved:
		return true
	default:
		return false
	}
}

func TestWhoFollowsATaskIsWokenByEachStepThatIsTakenUnderIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := boxed(t, nil, curious(which), book.Name(), book.Protocol(), seatJSON, nil)
		at(time.Second)
		_, question := b.question(t)
		key := b.tasks(t)[0].Key
		for _, tt := range []struct {
			name string
			step func()
		}{
			{"a note", func() {
				if err := b.host.Note(t.Context(), key, "n", []byte(`"hello"`)); err != nil {
					t.Error(err)
				}
			}},
			{"an answer", func() { wantAck(t, b.take(t, b.answer(t, question, `{"choice":"aisle"}`))) }},
		} {
			name, step := tt.name, tt.step
			moved, release := b.host.Follow(b.who.URI(), b.task())
			second, releaseToo := b.host.Follow(b.who.URI(), b.task())
			other, releaseOther := b.host.Follow(b.who.URI(), "another")
			elsewhere, releaseElsewhere := b.host.Follow(uri("planner"), b.task())
			synctest.Wait()
			if woken(moved) {
				t.Errorf("%s: it is woken before anything has moved", name)
			}
			step()
			if synctest.Wait(); !woken(moved) || !woken(second) || woken(other) || woken(elsewhere) {
				t.Errorf("%s: woken %v, %v, and for something else %v, %v", name, woken(moved), woken(second), woken(other), woken(elsewhere))
			}
			for _, f := range []func(){release, releaseToo, releaseOther, releaseElsewhere} {
				f()
			}
		}
		moved, release := b.host.Follow(b.who.URI(), b.task())
		release()
		if again, drop := b.host.Follow(b.who.URI(), b.task()); again == moved {
			t.Error("what nobody waits for is kept")
			drop()
		} else {
			drop()
		}
		synctest.Wait()
	})
}

func TestANoteStandsInTheLogAndMovesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "b.db")
		release := make(chan struct{})
		defer close(release)
		b := boxed(t, open(t, path), held(release), book.Name(), book.Protocol(), seatJSON, nil)
		at(time.Second)
		before := b.tasks(t)[0]
		const note = `{"text":"hurry up"}`
		if err := b.host.Note(t.Context(), before.Key, "note-1", []byte(note)); err != nil {
			t.Fatal(err)
		}
		if err := b.host.Note(t.Context(), before.Key, "note-1", []byte(note)); !errors.Is(err, store.ErrDuplicate) {
			t.Errorf("the same note again: %v", err)
		}
		if err := b.host.Note(t.Context(), store.Key{Owner: b.who.URI(), Conversation: fresh(), Peer: uri("planner")}, "note-2", []byte(note)); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a note on no exchange: %v", err)
		}
		x := b.tasks(t)[0]
		if x.Version != before.Version+1 || x.State.State != before.State.State || x.State.Received != before.State.Received || x.State.Messages != before.State.Messages {
			t.Errorf("the note changed the exchange from %+v to %+v", before, x)
		}
		if err := b.host.Kill(); err != nil {
			t.Fatal(err)
		}
		b.who = answers(reference)
		b.host = begin(t, nil, open(t, path), b.who)
		at(time.Second)
		log, err := b.host.Store().Log(t.Context(), b.who.URI(), b.opening.Conversation(), 0)
		if err != nil {
			t.Fatal(err)
		}
		notes := 0
		for _, e := range log {
			if e.Kind == store.Noted {
				notes++
				if e.MessageID != "note-1" || string(e.Note) != note || e.From != e.To || e.Peer != uri("planner") {
					t.Errorf("it is noted as %+v", e)
				}
			}
		}
		if notes != 1 {
			t.Errorf("%d notes stand in the log", notes)
		}
		x = b.tasks(t)[0]
		if err := b.host.Note(t.Context(), x.Key, "note-3", []byte(note)); !errors.Is(err, agent.ErrEnded) || x.State.State != "done:ok" {
			t.Errorf("a note on what is in %q: %v", x.State.State, err)
		}
		if _, err := transcript.Replay(log, []store.Exchange{x}); err != nil {
			t.Errorf("the log does not fold: %v", err)
		}
		again, err := agenttest.Reexecute(t.Context(), b.host.Store(), b.opening.Conversation(), answers(reference))
		if err != nil || len(again.Differences) > 0 {
			t.Errorf("running again: %+v, %v", again, err)
		}
	})
}

func TestNotesSpendTheBudgetOfMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		flights := agent.New("flights", agent.Spend(agent.Budget{Messages: 6}), agent.Handle(book, func(ctx context.Context, s Seat) (Booking, error) {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return reference(ctx, s)
		}))
		b := boxed(t, nil, flights, book.Name(), book.Protocol(), seatJSON, nil)
		at(time.Second)
		key := b.tasks(t)[0].Key
		var err error
		taken := 0
		for ; err == nil && taken < 20; taken++ {
			err = b.host.Note(t.Context(), key, fresh(), []byte(`"more"`))
		}
		d, ok := errors.AsType[*agent.Decision](err)
		if !ok || d.Reason != guard.ReasonBudget {
			t.Errorf("after %d notes: %v, want that the budget is spent", taken, err)
		}
		close(release)
		synctest.Wait()
		if got := b.state(t); got != "done:ok" {
			t.Errorf("the notes left nothing for the result: %q", got)
		}
	})
}

func TestNotesHaveRoomForSoManyBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := boxed(t, nil, agent.New("flights", agent.Handle(book, slowly(time.Hour))), book.Name(), book.Protocol(), seatJSON, nil)
		at(time.Second)
		key := b.tasks(t)[0].Key
		note := []byte(`"` + strings.Repeat("x", 1<<20-2) + `"`)
		for n := range 4 {
			if err := b.host.Note(t.Context(), key, fresh(), note); err != nil {
				t.Fatalf("note %d: %v", n, err)
			}
		}
		if d, ok := errors.AsType[*agent.Decision](b.host.Note(t.Context(), key, fresh(), []byte(`"x"`))); !ok || d.Reason != guard.ReasonBudget {
			t.Errorf("got %v, want that the budget is spent", d)
		}
	})
}

func TestTheFirstNameOfAnExchangeStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		planner, a, _ := meet(t, answers(slowly(time.Second)))
		q := ask(t, planner, "flights", book, seat)
		key := exchangeOf(t, a, planner, q.id).Key
		moved, release := a.Follow(planner.URI(), "T-1")
		defer release()
		if err := a.Assign(t.Context(), key, "T-1"); err != nil || !woken(moved) {
			t.Errorf("Assign = %v, and who follows the name is woken: %v", err, woken(moved))
		}
		version := exchangeOf(t, a, planner, q.id).Version
		if err := a.Assign(t.Context(), key, "T-1"); err != nil || exchangeOf(t, a, planner, q.id).Version != version {
			t.Errorf("the same name again: %v", err)
		}
		if err := a.Assign(t.Context(), key, "T-2"); err == nil {
			t.Error("another name was taken")
		}
		key.Conversation = fresh()
		if err := a.Assign(t.Context(), key, "T-3"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a name for no exchange: %v", err)
		}
		if _, err := q.wait(); err != nil {
			t.Error(err)
		}
		list, err := a.Store().Tasks(t.Context(), planner.URI(), "T-1")
		if err != nil || len(list) != 1 || list[0].Conversation != q.id || list[0].Mailbox {
			t.Errorf("under the name are %+v, %v", list, err)
		}
	})
}

func TestEachStepSaysWhenItWasTakenByTheHostsClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock()
		planner, a, _ := pair(t, c, answers(func(ctx context.Context, _ Seat) (Booking, error) {
			<-ctx.Done()
			return Booking{}, ctx.Err()
		}))
		q := ask(t, planner, "flights", book, seat, agent.Within(30*time.Second))
		synctest.Wait()
		if x := exchangeOf(t, a, planner, q.id); !x.MovedAt.Equal(noon) {
			t.Errorf("it is opened at %v, moved at %v", x.OpenedAt, x.MovedAt)
		}
		// The deadline fires an hour late: it is taken at the time that it was due, and moved now.
		c.Advance(time.Hour)
		synctest.Wait()
		x := exchangeOf(t, a, planner, q.id)
		fired := slices.DeleteFunc(logOf(t, a, planner, q.id), func(e store.Entry) bool { return e.Kind != store.Fired })
		if len(fired) == 0 || !fired[0].At.Equal(noon.Add(30*time.Second)) || !x.MovedAt.Equal(noon.Add(time.Hour)) {
			t.Errorf("it moved at %v, by %+v", x.MovedAt, fired)
		}
		// A clock that goes back takes nothing with it.
		c.Advance(-30 * time.Minute)
		if err := a.Assign(t.Context(), x.Key, "T-1"); err != nil {
			t.Fatal(err)
		}
		if got := exchangeOf(t, a, planner, q.id).MovedAt; !got.Equal(x.MovedAt) {
			t.Errorf("it went back from %v to %v", x.MovedAt, got)
		}
		c.Advance(time.Hour)
		synctest.Wait()
		_, _ = q.wait()
	})
}
