package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-agents/parley/store"
)

// uuid is the nth id of a command.
func uuid(n int) string { return fmt.Sprintf("019caa10-5a00-7000-8000-%012d", n) }

func command(n int, owner string) store.Command {
	return store.Command{ID: uuid(n), Verb: store.VerbCancel, Owner: owner, Conversation: "c", By: "ops", At: at(n)}
}

func deadKey(owner, id string) store.DeadKey {
	return store.DeadKey{Owner: owner, Source: store.DeadOutbox, Peer: bob, MessageID: id}
}

func outboxLists(t *testing.T, fresh func() Place) {
	s := fresh()()
	for n, owner := range []string{alice, bob, alice, alice, bob} {
		commit(t, s, store.WriteSet{Outbox: []store.Outbox{outgoing(owner, "c", carol, fmt.Sprint(n), at(-n))}})
	}
	dead := store.Delivery{Owner: alice, MessageID: "2", Status: store.Dead, Attempt: 3, LastError: "no answer"}
	commit(t, s, store.WriteSet{Deliveries: []store.Delivery{dead, {Owner: bob, MessageID: "1", Status: store.Delivered}}})
	list := func(owner string, limit int, statuses ...store.OutboxStatus) []string {
		return mapped(must(s.Outboxes(t.Context(), owner, limit, statuses...))(t), idOf)
	}
	equal(t, "of all", list("", 9), []string{"4", "3", "2", "1", "0"})
	equal(t, "of all, cut", list("", 2), []string{"4", "3"})
	equal(t, "of one owner", list(alice, 9), []string{"3", "2", "0"})
	equal(t, "pending", list("", 9, store.Pending), []string{"4", "3", "0"})
	equal(t, "dead or delivered", list("", 9, store.Delivered, store.Dead, store.Dead), []string{"2", "1"})
	equal(t, "pending of one owner, cut", list(alice, 1, store.Pending), []string{"3"})
	equal(t, "of nobody", len(list(carol, 9)), 0)
	equal(t, "none asked for", len(list("", 0)), 0)
	equal(t, "none asked for by a mistake", len(list("", -1)), 0)
	row := must(s.OutboxRow(t.Context(), alice, "2"))(t)
	equal(t, "a listed row", must(s.Outboxes(t.Context(), "", 9, store.Dead))(t), []store.Outbox{row})
}

func inboxLists(t *testing.T, fresh func() Place) {
	s := fresh()()
	for n, owner := range []string{alice, bob, alice, carol, alice} {
		row := accepted(owner, bob, fmt.Sprint(n))
		row.AcceptedAt = at(10 * n)
		if n == 4 {
			row.AcceptedAt = at(5) // between the first two
		}
		commit(t, s, store.WriteSet{Accept: []store.Inbox{row}})
	}
	done := accepted(alice, bob, "2")
	commit(t, s, store.WriteSet{Settle: []store.Settlement{{InboxKey: done.InboxKey, Fence: 1}}})
	list := func(owner string, open bool, limit int) []string {
		return mapped(must(s.Inboxes(t.Context(), owner, open, limit))(t), inboxMessage)
	}
	equal(t, "of all", list("", false, 9), []string{"3", "2", "1", "4", "0"})
	equal(t, "of all, cut", list("", false, 3), []string{"3", "2", "1"})
	equal(t, "of one owner", list(alice, false, 9), []string{"2", "4", "0"})
	equal(t, "in progress", list("", true, 9), []string{"3", "1", "4", "0"})
	equal(t, "in progress of one owner, cut", list(alice, true, 1), []string{"4"})
	equal(t, "none asked for", len(list("", false, 0)), 0)
	done.AcceptedAt, done.Status = at(20), store.Settled
	equal(t, "a listed row", must(s.Inboxes(t.Context(), alice, false, 1))(t), []store.Inbox{done})
}

func deadLetters(t *testing.T, fresh func() Place) {
	open := fresh()
	s := open()
	letter := store.DeadLetter{DeadKey: deadKey(alice, "m"), Conversation: "c", Reason: "exhausted", LastError: "connection refused", Attempts: 9,
		At: at(1), Envelope: []byte(`{"v":"1.0"}`)}
	commit(t, s, store.WriteSet{Bury: []store.DeadLetter{letter}})
	equal(t, "a letter", must(s.DeadLetter(t.Context(), letter.DeadKey))(t), letter)

	// Each part of the key tells it from another one.
	var others []store.DeadLetter
	for n, change := range []func(*store.DeadKey){
		func(k *store.DeadKey) { k.Owner = bob }, func(k *store.DeadKey) { k.Source = store.DeadInbox }, func(k *store.DeadKey) { k.Peer = carol },
		func(k *store.DeadKey) { k.MessageID = "n" },
		func(k *store.DeadKey) { k.Source, k.Digest = store.DeadQuarantine, [32]byte{1} },
		func(k *store.DeadKey) { k.Source, k.Digest = store.DeadQuarantine, [32]byte{2} },
	} {
		other := letter
		change(&other.DeadKey)
		other.At, other.Envelope = at(100+n), bytes.Repeat([]byte{byte(n)}, 100_000)
		others = append(others, other)
	}
	letter.Reason, letter.Attempts, letter.Envelope = "expired", 10, bytes.Repeat([]byte("large "), 20_000)
	commit(t, s, store.WriteSet{Bury: append(others, letter)})
	check := func() {
		t.Helper()
		for n, want := range append(others, letter) {
			equal(t, fmt.Sprint("letter ", n), must(s.DeadLetter(t.Context(), want.DeadKey))(t), want)
		}
	}
	check()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	check()

	commit(t, s, store.WriteSet{Unbury: []store.DeadKey{letter.DeadKey, deadKey(carol, "none")}})
	is(t, "a removed letter", second(s.DeadLetter(t.Context(), letter.DeadKey)), store.ErrNotFound)
	commit(t, s, store.WriteSet{Bury: []store.DeadLetter{letter}, Unbury: []store.DeadKey{letter.DeadKey}})
	is(t, "a letter that is buried and removed", second(s.DeadLetter(t.Context(), letter.DeadKey)), store.ErrNotFound)
	equal(t, "letters that are left", len(must(s.DeadLetters(t.Context(), "", 99))(t)), len(others))
}

func deadLetterOrder(t *testing.T, fresh func() Place) {
	s := fresh()()
	for n, owner := range []string{alice, bob, alice, alice} {
		commit(t, s, store.WriteSet{Bury: []store.DeadLetter{{DeadKey: deadKey(owner, fmt.Sprint(n)), Reason: "expired", At: at(10 - n/2)}}})
	}
	list := func(owner string, limit int) []string {
		return mapped(must(s.DeadLetters(t.Context(), owner, limit))(t), letterID)
	}
	equal(t, "of all", list("", 9), []string{"1", "0", "3", "2"})
	equal(t, "of all, cut", list("", 2), []string{"1", "0"})
	equal(t, "of one owner", list(alice, 9), []string{"0", "3", "2"})
	equal(t, "of one owner, cut", list(alice, 1), []string{"0"})
	equal(t, "none asked for", len(list("", 0)), 0)
	commit(t, s, store.WriteSet{Bury: []store.DeadLetter{{DeadKey: deadKey(alice, "2"), Reason: "expired", At: at(9)}}})
	equal(t, "one written over", list("", 9), []string{"1", "0", "2", "3"})
}

func commands(t *testing.T, fresh func() Place) {
	open := fresh()
	s := open()
	ctx := t.Context()
	asked := command(2, alice)
	asked.Verb, asked.Peer, asked.MessageID, asked.Source, asked.By = store.VerbRequeue, bob, "m", store.DeadInbox, "ops@acme"
	is(t, "post", s.Post(ctx, asked), nil)
	is(t, "post again", s.Post(ctx, asked), store.ErrDuplicate)
	for n, owner := range map[int]string{3: alice, 1: alice, 4: bob, 5: carol} {
		is(t, "post", s.Post(ctx, command(n, owner)), nil)
	}
	list := func(limit int, owners ...string) []string {
		return mapped(must(s.Commands(ctx, owners, limit))(t), commandID)
	}
	equal(t, "a command", must(s.Command(ctx, uuid(2)))(t), asked)
	equal(t, "that wait", list(9, alice), []string{uuid(1), uuid(2), uuid(3)})
	equal(t, "that wait, cut", list(2, bob, alice), []string{uuid(1), uuid(2)})
	equal(t, "that wait for two", list(9, bob, alice), []string{uuid(1), uuid(2), uuid(3), uuid(4)})
	equal(t, "that wait for nobody", len(list(9)), 0)
	equal(t, "none asked for", len(list(0, alice)), 0)

	answer := func(n int) store.WriteSet {
		return store.WriteSet{Answers: []store.CommandAnswer{{ID: uuid(n), At: at(50), Answer: "it was sent", Error: "but late"}}}
	}
	refused(t, s, answer(9), store.ErrNotFound)
	commit(t, s, answer(2))
	refused(t, s, answer(2), store.ErrDuplicate)
	asked.DoneAt, asked.Answer, asked.Error = at(50), "it was sent", "but late"
	is(t, "post once more", s.Post(ctx, command(2, alice)), store.ErrDuplicate)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	equal(t, "a command that is done", must(s.Command(ctx, uuid(2)))(t), asked)
	equal(t, "that still wait", list(9, alice), []string{uuid(1), uuid(3)})
	if err := s.Commit(ctx, store.WriteSet{Answers: []store.CommandAnswer{{ID: uuid(1)}}}); err == nil {
		t.Fatal("an answer without a time was accepted")
	}
}

func badCommands(t *testing.T, fresh func() Place) {
	s := fresh()()
	long := strings.Repeat("x", 513)
	for n, c := range []struct {
		field string
		spoil func(*store.Command)
	}{
		{"ID", func(c *store.Command) { c.ID = "" }},
		{"ID", func(c *store.Command) { c.ID = strings.ToUpper(c.ID) }},
		{"Verb", func(c *store.Command) { c.Verb = "" }},
		{"Verb", func(c *store.Command) { c.Verb = "delete" }},
		{"Source", func(c *store.Command) { c.Source = "log" }},
		{"Owner", func(c *store.Command) { c.Owner = "" }},
		{"Owner", func(c *store.Command) { c.Owner = long }},
		{"Conversation", func(c *store.Command) { c.Conversation = long }},
		{"Peer", func(c *store.Command) { c.Peer = long }},
		{"MessageID", func(c *store.Command) { c.MessageID = long }},
		{"By", func(c *store.Command) { c.By = long }},
		{"Answer", func(c *store.Command) { c.DoneAt = at(1) }},
		{"Answer", func(c *store.Command) { c.Answer = "yes" }},
	} {
		bad := command(n+1, alice)
		c.spoil(&bad)
		err := s.Post(t.Context(), bad)
		if wrong, ok := errors.AsType[*store.CommandError](err); !ok || wrong.Field != c.field {
			t.Errorf("case %d: got %v, want an error about %s", n, err, c.field)
		}
	}
	equal(t, "commands", len(must(s.Commands(t.Context(), []string{alice}, 99))(t)), 0)
}
