package sqlite

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

func TestTheLastHeadsAreRememberedAndNoMoreThanTwiceAsMany(t *testing.T) {
	var h heads
	name := func(n int) chain { return chain{"agent://local/a", fmt.Sprint(n)} }
	const all = 5*keptHeads + 7
	for n := range all {
		h.put(name(n), head{index: int64(n)})
	}
	for n := all - keptHeads; n < all; n++ {
		if found, ok := h.get(name(n)); !ok || found.index != int64(n) {
			t.Fatalf("head %d: got %d, %t", n, found.index, ok)
		}
	}
	if kept := len(h.young) + len(h.old); kept > 2*keptHeads {
		t.Errorf("%d heads are kept, want at most %d", kept, 2*keptHeads)
	}
	h.put(name(all-1), head{index: 1})
	if found, _ := h.get(name(all - 1)); found.index != 1 {
		t.Errorf("got the head before the last, %d", found.index)
	}
	h.forget()
	if _, ok := h.get(name(all - 1)); ok {
		t.Error("a head was remembered after all")
	}
}

func TestALogThatWasRemovedStartsAnew(t *testing.T) {
	s := openTemp(t)
	ctx := t.Context()
	one := store.WriteSet{Entries: []store.Entry{{Owner: "agent://local/a", Conversation: "c", Kind: store.Fired}}}
	for range 2 {
		if err := s.Commit(ctx, one); err != nil {
			t.Fatal(err)
		}
		log, err := s.Log(ctx, "agent://local/a", "c", 0)
		if err != nil || len(log) != 1 || log[0].Index != 1 || log[0].Hash != store.Link([32]byte{}, log[0]) {
			t.Fatalf("got %+v, %v", log, err)
		}
		err = s.write(ctx, func(ctx context.Context, w *writer) error {
			_, err := w.conn.ExecContext(ctx, "DELETE FROM log")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestAStepLeavesAloneWhatStays(t *testing.T) {
	s := openTemp(t)
	err := s.write(t.Context(), func(ctx context.Context, w *writer) error {
		run(t, w, "CREATE TABLE touched (name TEXT, step INTEGER)")
		for _, column := range []string{"correlation", "outcome", "due_ms"} {
			run(t, w, fmt.Sprintf("CREATE TRIGGER touch_%s AFTER UPDATE OF %[1]s ON exchange BEGIN INSERT INTO touched VALUES ('%[1]s', OLD.version); END", column))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	x := store.Exchange{Key: store.Key{Owner: "agent://local/a", Conversation: "c", Peer: "agent://local/b"},
		State: protocol.Exchange{Protocol: protocol.RequestV1, Role: protocol.Participant, State: "agreed"}}
	for _, step := range []struct {
		what string
		move func()
		want string
	}{
		{"opening", func() { x.State.ReplyBy = time.UnixMilli(500) }, ""},
		{"a step", func() { x.State.Received++ }, ""},
		{"a later timer", func() { x.State.ReplyBy = time.UnixMilli(900) }, "due_ms outcome"},
		{"another correlation", func() { x.Correlation = "d" }, "correlation due_ms outcome"},
		{"the end", func() { x.State.State, x.EndedAt = "done:ok", time.UnixMilli(700) }, "due_ms outcome"},
	} {
		step.move()
		if err := s.Commit(t.Context(), store.WriteSet{Exchanges: []store.Exchange{x}}); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		x.Version++
		due, err := s.Due(t.Context(), []string{x.Owner}, time.UnixMilli(1000), 9)
		if err != nil || len(due.Timers) == 1 == x.State.Done() || len(due.Timers) == 1 && !due.Timers[0].At.Equal(x.State.ReplyBy) {
			t.Errorf("%s: %+v is due, %v", step.what, due.Timers, err)
		}
		// Not by the writer, which would then look anew.
		if got := answer(t, s.pool, fmt.Sprint("SELECT ifnull(group_concat(name, ' ' ORDER BY name), '') FROM touched WHERE step = ", x.Version-1)); got != step.want {
			t.Errorf("%s touched %q, want %q", step.what, got, step.want)
		}
	}
}
