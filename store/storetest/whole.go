package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-agents/parley/store"
)

// whole is a set in which every part is there and fits a store that holds
// what primed wrote.
func whole() store.WriteSet {
	x := exchange(key(alice, "c", bob), "agreed")
	x.Version = 1
	x.State.ReplyBy, x.Task = at(5), "t"
	effect := store.EffectKey{Recipient: alice, Sender: bob, Capability: "urn:cap:x/v1", Key: "k"}
	held := effect
	held.Key = "held"
	return store.WriteSet{
		Exchanges:  []store.Exchange{x},
		Entries:    []store.Entry{entry(alice, "c", "new"), {Owner: alice, Conversation: "c", Kind: store.Concluded, Note: []byte("{}")}},
		Accept:     []store.Inbox{accepted(alice, bob, "new")},
		Settle:     []store.Settlement{{InboxKey: accepted(alice, bob, "held").InboxKey, Fence: 1}},
		Leases:     []store.Lease{{InboxKey: accepted(alice, bob, "new").InboxKey, Fence: 1, Until: at(99)}},
		DropUnsent: []store.Key{x.Key},
		Outbox:     []store.Outbox{outgoing(alice, "c", bob, "new", at(1))},
		Deliveries: []store.Delivery{{Owner: alice, MessageID: "sent", Status: store.Delivered, Attempt: 1}},
		Effects:    []store.Effect{{EffectKey: effect, Status: store.Begun}},
		Release:    []store.EffectKey{held},
		Turns:      []store.Turn{{Key: x.Key, Ordinal: 2, Kind: store.Reply}},
		Redrive:    []store.Redrive{{Owner: alice, MessageID: "later", NextAt: at(2)}},
		Bury:       []store.DeadLetter{{DeadKey: deadKey(alice, "new"), Reason: "expired", At: at(2)}},
		Unbury:     []store.DeadKey{deadKey(alice, "held")},
		Answers:    []store.CommandAnswer{{ID: uuid(1), At: at(3), Answer: "done"}},
	}
}

func primed(t *testing.T, s store.Store) {
	x := exchange(key(alice, "c", bob), "received")
	held := store.EffectKey{Recipient: alice, Sender: bob, Capability: "urn:cap:x/v1", Key: "held"}
	commit(t, s, store.WriteSet{
		Exchanges: []store.Exchange{x},
		Entries:   []store.Entry{entry(alice, "c", "held")},
		Accept:    []store.Inbox{accepted(alice, bob, "held")},
		Outbox:    []store.Outbox{outgoing(alice, "c", carol, "sent", at(0)), outgoing(alice, "c", bob, "unsent", at(0)), outgoing(alice, "d", carol, "later", at(900))},
		Effects:   []store.Effect{{EffectKey: held, Status: store.Begun}},
		Turns:     []store.Turn{{Key: x.Key, Ordinal: 1, Kind: store.Reply}},
		Bury:      []store.DeadLetter{{DeadKey: deadKey(alice, "held"), Reason: "expired", At: at(1)}},
	})
	is(t, "post", s.Post(t.Context(), command(1, alice)), nil)
	is(t, "put a callback", s.PutCallback(t.Context(), callback("t", "a")), nil)
	must(s.Pin(t.Context(), store.Pin{URI: bob, Key: []byte("key"), At: at(1)}))(t)
}

// contents is everything that the suite's keys can see.
func contents(t *testing.T, s store.Store) map[string]any {
	t.Helper()
	ctx := t.Context()
	all := map[string]any{}
	keep := func(what string, v any, err error) {
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("%s: %v", what, err)
		}
		all[what] = v
	}
	owners, err := s.Owners(ctx)
	keep("owners", owners, err)
	for _, owner := range []string{alice, bob, carol} {
		talks, err := s.Conversations(ctx, owner, 9)
		keep("talks of "+owner, talks, err)
		live, err := s.Exchanges(ctx, owner, "")
		keep("live of "+owner, live, err)
		log, err := s.Log(ctx, owner, "c", 0)
		keep("log of "+owner, log, err)
		due, err := s.Due(ctx, []string{owner}, at(3), 100)
		keep("due of "+owner, due, err)
		letters, err := s.DeadLetters(ctx, owner, 9)
		keep("letters of "+owner, letters, err)
		waiting, err := s.Commands(ctx, []string{owner}, 9)
		keep("commands of "+owner, waiting, err)
		rows, err := s.Outboxes(ctx, owner, 99)
		keep("rows of "+owner, rows, err)
		open, err := s.Callbacks(ctx, owner, "")
		keep("callbacks of "+owner, open, err)
		pin, err := s.Pinned(ctx, owner)
		keep("pin of "+owner, pin, err)
		read, err := s.Tasks(ctx, owner, "t")
		keep("task of "+owner, read, err)
		for _, peer := range []string{alice, bob, carol} {
			k := key(owner, "c", peer)
			outbox, err := s.Outbox(ctx, k)
			keep(fmt.Sprint("outbox ", k), outbox, err)
			turns, err := s.Turns(ctx, k)
			keep(fmt.Sprint("turns ", k), turns, err)
			for _, id := range []string{"held", "new"} {
				row, err := s.Inbox(ctx, store.InboxKey{Recipient: owner, Sender: peer, MessageID: id})
				keep(fmt.Sprint("inbox ", k, id), row, err)
			}
			for _, id := range []string{"held", "k"} {
				effect, err := s.Effect(ctx, store.EffectKey{Recipient: owner, Sender: peer, Capability: "urn:cap:x/v1", Key: id})
				keep(fmt.Sprint("effect ", k, id), effect, err)
			}
		}
	}
	return all
}

func atomicity(t *testing.T, fresh func() Place) {
	s := fresh()()
	primed(t, s)
	before := contents(t, s)
	for _, c := range []struct {
		part  string
		spoil func(*store.WriteSet)
		want  error
	}{
		{"the exchange", func(w *store.WriteSet) { w.Exchanges[0].Version = 7 }, store.ErrConflict},
		{"an accepted row", func(w *store.WriteSet) { w.Accept = append(w.Accept, w.Accept[0]) }, store.ErrDuplicate},
		{"a settlement", func(w *store.WriteSet) { w.Settle[0].Fence = 7 }, store.ErrFenced},
		{"an outbox row", func(w *store.WriteSet) { w.Outbox = append(w.Outbox, w.Outbox[0]) }, store.ErrDuplicate},
		{"a delivery", func(w *store.WriteSet) { w.Deliveries[0].MessageID = "none" }, store.ErrNotFound},
		{"a claim", func(w *store.WriteSet) {
			w.Claim = append(w.Claim, store.Effect{EffectKey: w.Effects[0].EffectKey}, store.Effect{EffectKey: w.Effects[0].EffectKey})
		}, store.ErrDuplicate},
		{"another time", func(w *store.WriteSet) { w.Redrive[0].MessageID = "sent" }, store.ErrNotPending},
		{"an answer", func(w *store.WriteSet) { w.Answers = append(w.Answers, w.Answers[0]) }, store.ErrDuplicate},
		{"a turn", func(w *store.WriteSet) { w.Turns = append(w.Turns, w.Turns[0]) }, store.ErrDuplicate},
	} {
		w := whole()
		c.spoil(&w)
		refused(t, s, w, c.want)
		equal(t, "contents after "+c.part+" did not fit", contents(t, s), before)
	}
	commit(t, s, whole())
	after := contents(t, s)
	for _, what := range []string{"live of " + alice, "log of " + alice, "due of " + alice, "letters of " + alice, "commands of " + alice, "task of " + alice} {
		if fmt.Sprint(after[what]) == fmt.Sprint(before[what]) {
			t.Errorf("%s is the same after the whole set was written", what)
		}
	}
}

func isolation(t *testing.T, fresh func() Place) {
	s := fresh()()
	primed(t, s)
	commit(t, s, whole())
	mine := contents(t, s)
	x := exchange(key(carol, "c", bob), "agreed")
	commit(t, s, store.WriteSet{
		Exchanges: []store.Exchange{x},
		Entries:   []store.Entry{entry(carol, "c", "new")},
		Accept:    []store.Inbox{accepted(carol, bob, "new")},
		Outbox:    []store.Outbox{outgoing(carol, "c", bob, "new", at(1))},
		Effects:   []store.Effect{{EffectKey: store.EffectKey{Recipient: carol, Sender: bob, Capability: "urn:cap:x/v1", Key: "k"}, Status: store.Ended}},
		Turns:     []store.Turn{{Key: x.Key, Ordinal: 1, Kind: store.Reply}},
	})
	x.Version = 1
	commit(t, s, store.WriteSet{Exchanges: []store.Exchange{x}, DropUnsent: []store.Key{x.Key}})
	must(s.TakeOver(t.Context(), carol))(t)
	both := contents(t, s)
	for what, was := range mine {
		if is := both[what]; fmt.Sprint(is) != fmt.Sprint(was) && what != "owners" && !concerns(what, carol) {
			t.Errorf("%s changed by another owner's step:\n got %+v\nwant %+v", what, is, was)
		}
	}
	if fmt.Sprint(both["live of "+carol]) == fmt.Sprint(mine["live of "+carol]) {
		t.Error("the other owner's step left no trace")
	}
}

// concerns reports whether a line of contents is the owner's.
func concerns(what, owner string) bool {
	return strings.HasSuffix(what, " of "+owner) || strings.Contains(what, " {"+owner+" ")
}
