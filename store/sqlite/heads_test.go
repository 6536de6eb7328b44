package sqlite

import (
	"context"
	"fmt"
	"testing"

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
