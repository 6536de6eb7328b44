package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/parley-agents/parley/store"
)

func pins(t *testing.T, fresh func() Place) {
	open := fresh()
	s := open()
	ctx := t.Context()
	first := store.Pin{URI: bob, Key: []byte("first key"), From: "https://bob.example/card", At: at(1)}
	second := store.Pin{URI: bob, Key: []byte("second key"), From: "loopback", At: at(2)}
	other := store.Pin{URI: carol, Key: []byte("another key"), From: "loopback", At: at(3)}
	_, err := s.Pinned(ctx, bob)
	is(t, "before it is met", err, store.ErrNotFound)
	equal(t, "first", must(s.Pin(ctx, first))(t), first)
	equal(t, "second", must(s.Pin(ctx, second))(t), first)
	equal(t, "another agent", must(s.Pin(ctx, other))(t), other)
	equal(t, "all", must(s.Pins(ctx))(t), []store.Pin{first, other})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	equal(t, "pinned after reopening", must(s.Pinned(ctx, bob))(t), first)
	is(t, "unpin", s.Unpin(ctx, bob), nil)
	is(t, "unpin again", s.Unpin(ctx, bob), store.ErrNotFound)
	_, err = s.Pinned(ctx, bob)
	is(t, "once it is unpinned", err, store.ErrNotFound)
	equal(t, "anew", must(s.Pin(ctx, second))(t), second)
	equal(t, "the other one", must(s.Pinned(ctx, carol))(t), other)
}

// pinRivals meets an agent many times at once, with another key each.
func pinRivals(t *testing.T, fresh func() Place) {
	s := fresh()()
	var (
		wg   sync.WaitGroup
		kept [32]store.Pin
	)
	for n := range kept {
		wg.Go(func() {
			p, err := s.Pin(t.Context(), store.Pin{URI: bob, Key: []byte(fmt.Sprint(n)), At: at(n)})
			if err != nil {
				t.Errorf("pin: %v", err)
			}
			kept[n] = p
		})
	}
	wg.Wait()
	for _, p := range kept {
		equal(t, "the key that was kept", p, kept[0])
	}
}

func callback(task, id string) store.Callback {
	return store.Callback{CallbackKey: store.CallbackKey{Owner: alice, Task: task, ID: id}, Peer: bob, Config: []byte(`{"token":"` + id + `"}`),
		NextAt: at(5), CreatedAt: at(4)}
}

func callbackID(c store.Callback) string { return c.Task + " " + c.ID }

func callbacks(t *testing.T, fresh func() Place) {
	open := fresh()
	s := open()
	ctx := t.Context()
	put := func(list ...store.Callback) {
		t.Helper()
		for _, c := range list {
			is(t, "put", s.PutCallback(ctx, c), nil)
		}
	}
	a, done, foreign := callback("t", "a"), callback("t", "d"), callback("t", "a")
	done.Done, foreign.Owner = true, bob
	put(callback("t", "b"), a, done, callback("u", "a"), foreign)
	equal(t, "one", must(s.Callback(ctx, a.CallbackKey))(t), a)
	list := func(task string) []string { return mapped(must(s.Callbacks(ctx, alice, task))(t), callbackID) }
	equal(t, "of a task", list("t"), []string{"t a", "t b", "t d"})
	equal(t, "of another", list("u"), []string{"u a"})
	equal(t, "of no task", list("v"), []string(nil))
	equal(t, "of all, not done", list(""), []string{"t a", "t b", "u a"})

	a.Place, a.Done, a.Attempt, a.NextAt = "12", true, 3, at(70)
	told := a
	told.Peer, told.CreatedAt = carol, at(99) // it writes neither
	is(t, "advance", s.AdvanceCallback(ctx, told), nil)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	equal(t, "advanced", must(s.Callback(ctx, a.CallbackKey))(t), a)
	equal(t, "of all, not done, then", list(""), []string{"t b", "u a"})

	stale := a
	stale.Config, stale.Place = []byte("what it was read with"), "13"
	is(t, "advance under another config", s.AdvanceCallback(ctx, stale), store.ErrNotFound)
	equal(t, "not advanced", must(s.Callback(ctx, a.CallbackKey))(t), a)
	again := store.Callback{CallbackKey: a.CallbackKey, Peer: carol, CreatedAt: at(9)} // written over whole
	put(again)
	equal(t, "written over", must(s.Callback(ctx, a.CallbackKey))(t), again)
	is(t, "advance what was written over", s.AdvanceCallback(ctx, a), store.ErrNotFound)
	again.Place = "1"
	is(t, "advance without a config", s.AdvanceCallback(ctx, again), nil)
	equal(t, "advanced without a config", must(s.Callback(ctx, a.CallbackKey))(t), again)

	is(t, "delete", s.DeleteCallback(ctx, a.CallbackKey), nil)
	is(t, "delete again", s.DeleteCallback(ctx, a.CallbackKey), store.ErrNotFound)
	is(t, "advance what is gone", s.AdvanceCallback(ctx, again), store.ErrNotFound)
	_, err := s.Callback(ctx, a.CallbackKey)
	is(t, "read what is gone", err, store.ErrNotFound)
	equal(t, "what is left", list("t"), []string{"t b", "t d"})
	equal(t, "another owner's", must(s.Callback(ctx, foreign.CallbackKey))(t), foreign)
}

// callbackRivals advances callbacks at the very moment at which they are
// deleted or set up anew.
func callbackRivals(t *testing.T, fresh func() Place) {
	s := fresh()()
	ctx := t.Context()
	for round := range 40 {
		old := callback("t", fmt.Sprint(round))
		is(t, "put", s.PutCallback(ctx, old), nil)
		fresh := old
		fresh.Config, fresh.CreatedAt = []byte("new"), at(round+10)
		remove := round%2 == 0
		var wg sync.WaitGroup
		for n := range 8 {
			wg.Go(func() {
				told := old
				told.Place, told.Done = fmt.Sprint(n), true
				if err := s.AdvanceCallback(ctx, told); err != nil && !errors.Is(err, store.ErrNotFound) {
					t.Errorf("advance: %v", err)
				}
			})
		}
		wg.Go(func() {
			var err error
			if remove {
				err = s.DeleteCallback(ctx, old.CallbackKey)
			} else {
				err = s.PutCallback(ctx, fresh)
			}
			if err != nil {
				t.Errorf("delete or set up anew: %v", err)
			}
		})
		wg.Wait()
		left, err := single(s.Callback(ctx, old.CallbackKey))
		is(t, "read", err, nil)
		want := []store.Callback(nil)
		if !remove {
			want = []store.Callback{fresh}
		}
		equal(t, "what is left", left, want)
	}
}

func sweepCallbacks(t *testing.T, fresh func() Place) {
	s := fresh()()
	ctx := t.Context()
	ended := func(x store.Exchange, at time.Time) store.WriteSet {
		x.State.State, x.EndedAt = "done:ok", at
		return store.WriteSet{Exchanges: []store.Exchange{x}, Entries: []store.Entry{entry(x.Owner, x.Conversation, x.Conversation),
			{Owner: x.Owner, Conversation: x.Conversation, Peer: x.Peer, Kind: store.Noted, MessageID: "noted", Note: []byte(`{}`)}}}
	}
	task := mailbox(bob, "t", 50)
	question := exchange(key(alice, "question", bob), "agreed")
	question.Task, question.Mailbox, question.Parent = "t", true, task.Key
	plain := exchange(key(alice, "plain", bob), "agreed")
	foreign := callback("t", "a")
	foreign.Owner = carol
	commit(t, s, ended(task, at(50)))
	commit(t, s, ended(question, at(10)))
	commit(t, s, ended(plain, at(10)))
	commit(t, s, ended(mailbox(bob, "u", 50), at(50)))
	for _, c := range []store.Callback{callback("t", "a"), callback("t", "b"), callback("u", "a"), callback("", "a"), callback("not yet", "a"), foreign} {
		is(t, "put", s.PutCallback(ctx, c), nil)
	}
	count := func(owner, task string) int { return len(must(s.Callbacks(ctx, owner, task))(t)) }
	equal(t, "swept with the question", sweep(t, s, at(20), at(20)), store.Swept{Conversations: 2})
	equal(t, "callbacks of a task that is there", count(alice, "t"), 2)

	later := must(s.Exchange(ctx, key(alice, "of u", bob)))(t)
	later.EndedAt = at(90)
	commit(t, s, store.WriteSet{Exchanges: []store.Exchange{later}})
	equal(t, "swept with the task", sweep(t, s, at(60), at(60)), store.Swept{Conversations: 1})
	equal(t, "callbacks of the task", count(alice, "t"), 0)
	equal(t, "callbacks of another task", count(alice, "u"), 1)
	equal(t, "callbacks of all tasks", count(alice, ""), 3)
	equal(t, "callbacks of another owner", count(carol, "t"), 1)
	equal(t, "under the task", len(must(s.Tasks(ctx, alice, "t"))(t)), 0)
	equal(t, "mailboxes", named(t, s, store.MailboxQuery{Owner: alice, Peer: bob}), []string{"u"})
	equal(t, "the log", len(must(s.Log(ctx, alice, "of t", 0))(t)), 0)
	is(t, "what was noted", second(s.Message(ctx, key(alice, "of t", bob), store.Noted, "noted")), store.ErrNotFound)
	commit(t, s, store.WriteSet{Exchanges: []store.Exchange{mailbox(bob, "t", 95)}}) // it can come again
	equal(t, "under the task, anew", len(must(s.Tasks(ctx, alice, "t"))(t)), 1)
}
