package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/parley-agents/parley/store"
)

func notFound(t *testing.T, fresh func() Place) {
	s := fresh()()
	ctx := t.Context()
	k := key(alice, "c", bob)
	for what, err := range map[string]error{
		"exchange": second(s.Exchange(ctx, k)),
		"inbox":    second(s.Inbox(ctx, store.InboxKey{Recipient: alice, Sender: bob, MessageID: "m"})),
		"message":  second(s.Message(ctx, key(alice, "c", bob), store.Sent, "m")),
		"row":      second(s.OutboxRow(ctx, alice, "m")),
		"effect":   second(s.Effect(ctx, store.EffectKey{Recipient: alice, Sender: bob})),
		"letter":   second(s.DeadLetter(ctx, store.DeadKey{Owner: alice, Source: store.DeadOutbox, Peer: bob, MessageID: "m"})),
		"command":  second(s.Command(ctx, uuid(1))),
		"pin":      second(s.Pinned(ctx, bob)),
		"unpin":    s.Unpin(ctx, bob),
		"callback": second(s.Callback(ctx, callback("t", "a").CallbackKey)),
		"delete":   s.DeleteCallback(ctx, callback("t", "a").CallbackKey),
		"advance":  s.AdvanceCallback(ctx, callback("t", "a")),
	} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: got %v, want not found", what, err)
		}
	}
	equal(t, "exchanges", len(must(s.Exchanges(ctx, alice, "c"))(t)), 0)
	equal(t, "log", len(must(s.Log(ctx, alice, "c", 0))(t)), 0)
	equal(t, "outbox", len(must(s.Outbox(ctx, k))(t)), 0)
	equal(t, "turns", len(must(s.Turns(ctx, k))(t)), 0)
	equal(t, "owners", len(must(s.Owners(ctx))(t)), 0)
	equal(t, "conversations", len(must(s.Conversations(ctx, "", 9))(t)), 0)
	equal(t, "due", must(s.Due(ctx, []string{alice}, at(0), 9))(t), store.Due{})
	equal(t, "dead letters", len(must(s.DeadLetters(ctx, "", 9))(t)), 0)
	equal(t, "inboxes", len(must(s.Inboxes(ctx, "", false, 9))(t)), 0)
	equal(t, "outboxes", len(must(s.Outboxes(ctx, "", 9))(t)), 0)
	equal(t, "commands", len(must(s.Commands(ctx, []string{alice}, 9))(t)), 0)
	equal(t, "pins", len(must(s.Pins(ctx))(t)), 0)
	equal(t, "tasks", len(must(s.Tasks(ctx, alice, "t"))(t)), 0)
	equal(t, "mailboxes", len(must(s.Mailboxes(ctx, store.MailboxQuery{Owner: alice, Peer: bob}))(t)), 0)
	equal(t, "number of mailboxes", must(s.CountMailboxes(ctx, store.MailboxQuery{Owner: alice, Peer: bob}))(t), 0)
	equal(t, "callbacks", len(must(s.Callbacks(ctx, alice, ""))(t)), 0)
	commit(t, s, store.WriteSet{}) // nothing to write is no error
}

func second[T any](_ T, err error) error { return err }

func endedContext(t *testing.T, fresh func() Place) {
	s := fresh()()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 { // an engine that is ready for work must not win by chance
		if err := s.Commit(ctx, store.WriteSet{Entries: []store.Entry{entry(alice, "c", "m")}}); !errors.Is(err, context.Canceled) {
			t.Fatalf("commit: got %v, want context canceled", err)
		}
		if _, err := s.Log(ctx, alice, "c", 0); !errors.Is(err, context.Canceled) {
			t.Fatalf("read: got %v, want context canceled", err)
		}
	}
	equal(t, "log", len(must(s.Log(t.Context(), alice, "c", 0))(t)), 0)
}

func closed(t *testing.T, fresh func() Place) {
	s := fresh()()
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
	}
	ctx := t.Context()
	k := key(alice, "c", bob)
	for what, err := range map[string]error{
		"meta":       second(s.Meta(ctx, store.Meta{})),
		"identity":   second(s.Identity(ctx, store.Identity{Owner: alice})),
		"commit":     s.Commit(ctx, store.WriteSet{}),
		"take over":  second(s.TakeOver(ctx, alice)),
		"renew":      s.Renew(ctx, store.InboxKey{}, 1, at(0)),
		"owners":     second(s.Owners(ctx)),
		"talks":      second(s.Conversations(ctx, "", 1)),
		"due":        second(s.Due(ctx, []string{alice}, at(0), 1)),
		"exchange":   second(s.Exchange(ctx, k)),
		"exchanges":  second(s.Exchanges(ctx, alice, "")),
		"children":   second(s.Children(ctx, k)),
		"correlated": second(s.Correlated(ctx, alice, "corr")),
		"inbox":      second(s.Inbox(ctx, store.InboxKey{})),
		"log":        second(s.Log(ctx, alice, "c", 0)),
		"message":    second(s.Message(ctx, key(alice, "c", bob), store.Sent, "m")),
		"outbox":     second(s.Outbox(ctx, k)),
		"row":        second(s.OutboxRow(ctx, alice, "m")),
		"effect":     second(s.Effect(ctx, store.EffectKey{})),
		"turns":      second(s.Turns(ctx, k)),
		"letters":    second(s.DeadLetters(ctx, "", 1)),
		"letter":     second(s.DeadLetter(ctx, store.DeadKey{})),
		"inboxes":    second(s.Inboxes(ctx, "", true, 1)),
		"outboxes":   second(s.Outboxes(ctx, "", 1)),
		"post":       s.Post(ctx, command(1, alice)),
		"commands":   second(s.Commands(ctx, []string{alice}, 1)),
		"command":    second(s.Command(ctx, uuid(1))),
		"tasks":      second(s.Tasks(ctx, alice, "t")),
		"mailboxes":  second(s.Mailboxes(ctx, store.MailboxQuery{})),
		"count":      second(s.CountMailboxes(ctx, store.MailboxQuery{})),
		"pin":        second(s.Pin(ctx, store.Pin{})),
		"pinned":     second(s.Pinned(ctx, bob)),
		"pins":       second(s.Pins(ctx)),
		"unpin":      s.Unpin(ctx, bob),
		"put":        s.PutCallback(ctx, store.Callback{}),
		"callback":   second(s.Callback(ctx, store.CallbackKey{})),
		"callbacks":  second(s.Callbacks(ctx, alice, "")),
		"delete":     s.DeleteCallback(ctx, store.CallbackKey{}),
		"advance":    s.AdvanceCallback(ctx, store.Callback{}),
		"sweep":      second(s.Sweep(ctx, at(0), at(0), 1)),
	} {
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("%s: got %v, want closed", what, err)
		}
	}
}

func durability(t *testing.T, fresh func() Place) {
	open := fresh()
	s := open()
	primed(t, s)
	commit(t, s, whole())
	before := contents(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	equal(t, "contents after reopening", contents(t, s), before)
	commit(t, s, store.WriteSet{Entries: []store.Entry{entry(alice, "c", "later")}})
	equal(t, "indexes after reopening", mapped(must(s.Log(t.Context(), alice, "c", 0))(t), indexOf), []int64{1, 2, 3, 4})
}

func closeUnderLoad(t *testing.T, fresh func() Place) {
	open := fresh()
	s := open()
	const writers = 8
	acknowledged := make([]int, writers)
	var started, done sync.WaitGroup
	started.Add(writers)
	for w := range writers {
		done.Go(func() {
			for n := 0; ; n++ {
				k := key(alice, fmt.Sprint(w), bob)
				err := s.Commit(t.Context(), store.WriteSet{
					Entries: []store.Entry{entry(k.Owner, k.Conversation, fmt.Sprint(n))},
					Turns:   []store.Turn{{Key: k, Ordinal: n + 1, Kind: store.Reply}}})
				if n == 0 {
					started.Done()
				}
				if err != nil {
					if !errors.Is(err, store.ErrClosed) {
						t.Errorf("commit: %v", err)
					}
					return
				}
				acknowledged[w]++
			}
		})
	}
	started.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	done.Wait()
	s = open()
	for w, n := range acknowledged {
		equal(t, "entries", len(must(s.Log(t.Context(), alice, fmt.Sprint(w), 0))(t)), n)
		equal(t, "turns", len(must(s.Turns(t.Context(), key(alice, fmt.Sprint(w), bob)))(t)), n)
	}
}
