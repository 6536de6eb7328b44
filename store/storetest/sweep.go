package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// sweep sweeps until nothing is left to forget.
func sweep(t *testing.T, s store.Store, now, before time.Time) (all store.Swept) {
	t.Helper()
	for {
		swept := must(s.Sweep(t.Context(), now, before, 100))(t)
		all.Inbox, all.Effects, all.Conversations = all.Inbox+swept.Inbox, all.Effects+swept.Effects, all.Conversations+swept.Conversations
		all.DeadLetters, all.Commands = all.DeadLetters+swept.DeadLetters, all.Commands+swept.Commands
		if swept.None() && !swept.More {
			return all
		}
	}
}

func sweepExpired(t *testing.T, fresh func() Place) {
	s := fresh()()
	settled, open, forever := accepted(alice, bob, "settled"), accepted(alice, bob, "open"), accepted(alice, bob, "forever")
	settled.Status, forever.Status, forever.ExpiresAt = store.Settled, store.Settled, time.Time{}
	effect := func(key string, status store.EffectStatus) store.Effect {
		return store.Effect{EffectKey: store.EffectKey{Recipient: alice, Sender: bob, Capability: "urn:cap:x/v1", Key: key},
			Status: status, At: at(0), ExpiresAt: at(1000)}
	}
	begun, ended := effect("begun", store.Begun), effect("ended", store.Ended)
	letter := store.DeadLetter{DeadKey: deadKey(alice, "m"), Reason: "expired", At: at(1000), Envelope: bytes.Repeat([]byte("large "), 20_000)}
	is(t, "post", s.Post(t.Context(), command(1, alice)), nil)
	is(t, "post", s.Post(t.Context(), command(2, alice)), nil)
	commit(t, s, store.WriteSet{Accept: []store.Inbox{settled, open, forever}, Claim: []store.Effect{begun, ended}, Bury: []store.DeadLetter{letter},
		Answers: []store.CommandAnswer{{ID: uuid(1), At: at(1000)}}})

	equal(t, "swept before its time", sweep(t, s, at(999), at(1000)), store.Swept{})
	equal(t, "swept at its time, but nothing is old", sweep(t, s, at(1000), time.Time{}), store.Swept{Inbox: 1, Effects: 1})
	equal(t, "swept when some is old", sweep(t, s, at(1000), at(1001)), store.Swept{DeadLetters: 1, Commands: 1})
	for what, err := range map[string]error{
		"the settled row":     second(s.Inbox(t.Context(), settled.InboxKey)),
		"the ended effect":    second(s.Effect(t.Context(), ended.EffectKey)),
		"the dead letter":     second(s.DeadLetter(t.Context(), letter.DeadKey)),
		"the command done":    second(s.Command(t.Context(), uuid(1))),
		"another dead letter": second(s.DeadLetter(t.Context(), deadKey(alice, "none"))),
	} {
		is(t, what, err, store.ErrNotFound)
	}
	equal(t, "swept in the end", sweep(t, s, at(1_000_000), at(1_000_000)), store.Swept{})
	equal(t, "the row in progress", must(s.Inbox(t.Context(), open.InboxKey))(t), open)
	equal(t, "the row that never expires", must(s.Inbox(t.Context(), forever.InboxKey))(t), forever)
	equal(t, "the effect that has begun", must(s.Effect(t.Context(), begun.EffectKey))(t), begun)
	equal(t, "the command that waits", must(s.Command(t.Context(), uuid(2)))(t), command(2, alice))
	// What was forgotten can come again.
	commit(t, s, store.WriteSet{Accept: []store.Inbox{settled}, Claim: []store.Effect{ended}})
}

// over is an exchange that ended, with all that belongs to its conversation.
func over(k store.Key, ended int) store.WriteSet {
	x := exchange(k, "done:ok")
	x.EndedAt = at(ended)
	e := entry(k.Owner, k.Conversation, k.Conversation)
	e.Peer = k.Peer
	return store.WriteSet{Exchanges: []store.Exchange{x}, Entries: []store.Entry{e},
		Outbox:     []store.Outbox{outgoing(k.Owner, k.Conversation, k.Peer, k.Owner+k.Conversation+k.Peer, at(0))},
		Deliveries: []store.Delivery{{Owner: k.Owner, MessageID: k.Owner + k.Conversation + k.Peer, Status: store.Delivered}},
		Turns:      []store.Turn{{Key: k, Ordinal: 1, Kind: store.Reply}}}
}

func sweepTalks(t *testing.T, fresh func() Place) {
	effect := store.Effect{EffectKey: store.EffectKey{Recipient: alice, Sender: bob, Capability: "urn:cap:x/v1", Key: "k"},
		Conversation: "c", Status: store.Ended, At: at(1), ExpiresAt: at(1000)}
	begun := effect
	begun.Status = store.Begun
	child, parent := exchange(key(alice, "child", carol), "agreed"), exchange(key(alice, "parent", carol), "agreed")
	child.Parent = key(alice, "c", bob)
	received := entry(alice, "c", "received")
	received.Kind = store.Received
	known := accepted(alice, bob, "received")
	known.Status = store.Settled
	late := outgoing(alice, "c", bob, "late", at(0))
	for what, lean := range map[string]struct {
		set   store.WriteSet
		spoil func(*store.Exchange)
	}{
		"a live exchange of its own":         {store.WriteSet{Exchanges: []store.Exchange{exchange(key(alice, "c", carol), "agreed")}}, nil},
		"an exchange of its own, just ended": {over(key(alice, "c", carol), 50), nil},
		"a live child":                       {store.WriteSet{Exchanges: []store.Exchange{child}}, nil},
		"a live parent":                      {store.WriteSet{Exchanges: []store.Exchange{parent}}, func(x *store.Exchange) { x.Parent = parent.Key }},
		"an effect that is kept":             {store.WriteSet{Claim: []store.Effect{effect}}, nil},
		"an effect that has begun":           {store.WriteSet{Claim: []store.Effect{begun}}, nil},
		"a message that the inbox knows":     {store.WriteSet{Entries: []store.Entry{received}, Accept: []store.Inbox{known}}, nil},
		"a message that is still to be sent": {store.WriteSet{Outbox: []store.Outbox{late}}, nil},
		"a dead letter":                      {store.WriteSet{Bury: []store.DeadLetter{{DeadKey: deadKey(alice, "m"), Conversation: "c", At: at(60)}}}, nil},
		"an end that is not known":           {store.WriteSet{}, func(x *store.Exchange) { x.EndedAt = time.Time{} }},
	} {
		s := fresh()()
		set := over(key(alice, "c", bob), 10)
		if lean.spoil != nil {
			lean.spoil(&set.Exchanges[0])
		}
		commit(t, s, set)
		commit(t, s, lean.set)
		before := contents(t, s)
		equal(t, "swept beside "+what, sweep(t, s, at(40), at(50)), store.Swept{})
		equal(t, "contents beside "+what, contents(t, s), before)
	}

	open := fresh()
	s := open()
	for _, k := range []store.Key{key(alice, "c", bob), key(alice, "c", carol), key(bob, "c", alice), key(alice, "d", bob)} {
		set := over(k, 10)
		if k.Owner == bob || k.Conversation == "d" {
			set.Exchanges[0].EndedAt = at(50)
		}
		commit(t, s, set)
	}
	// Neither an ended child nor an ended parent keeps a conversation.
	last := over(key(alice, "e", bob), 50)
	last.Exchanges[0].Parent = key(alice, "c", bob)
	commit(t, s, last)
	// A row without an end of its own goes with its conversation, and not before.
	lasting, other := known, accepted(alice, carol, "received")
	lasting.ExpiresAt, other.ExpiresAt = time.Time{}, time.Time{}
	// One that belongs to another conversation stays, though its message is in the log too.
	noted, elsewhere := entry(alice, "c", "noted"), accepted(alice, bob, "noted")
	noted.Kind, noted.Envelope, noted.Note = store.Noted, nil, []byte(`{}`)
	elsewhere.Conversation, elsewhere.ExpiresAt = "d", time.Time{}
	commit(t, s, store.WriteSet{Entries: []store.Entry{received, noted}, Accept: []store.Inbox{lasting, other, elsewhere}})
	equal(t, "swept too early", sweep(t, s, at(40), at(9)), store.Swept{})
	equal(t, "the row before", must(s.Inbox(t.Context(), lasting.InboxKey))(t), lasting)
	equal(t, "swept", sweep(t, s, at(40), at(50)), store.Swept{Conversations: 1})
	check := func() {
		t.Helper()
		for _, k := range []store.Key{key(alice, "c", bob), key(alice, "c", carol)} {
			is(t, "exchange", second(s.Exchange(t.Context(), k)), store.ErrNotFound)
			is(t, "message", second(s.Message(t.Context(), k, store.Sent, "c")), store.ErrNotFound)
			is(t, "outbox row", second(s.OutboxRow(t.Context(), alice, k.Owner+k.Conversation+k.Peer)), store.ErrNotFound)
			equal(t, "outbox", len(must(s.Outbox(t.Context(), k))(t)), 0)
			equal(t, "turns", len(must(s.Turns(t.Context(), k))(t)), 0)
		}
		is(t, "inbox row", second(s.Inbox(t.Context(), lasting.InboxKey)), store.ErrNotFound)
		equal(t, "a row of another sender", must(s.Inbox(t.Context(), other.InboxKey))(t), other)
		equal(t, "a row of another conversation", must(s.Inbox(t.Context(), elsewhere.InboxKey))(t), elsewhere)
		equal(t, "log", len(must(s.Log(t.Context(), alice, "c", 0))(t)), 0)
		equal(t, "conversations", len(must(s.Conversations(t.Context(), alice, 9))(t)), 2)
		equal(t, "correlated", mapped(must(s.Correlated(t.Context(), alice, "corr"))(t), talk), []string{"d", "e"})
		for _, k := range []store.Key{key(bob, "c", alice), key(alice, "d", bob)} {
			equal(t, "kept exchanges", len(must(s.Exchanges(t.Context(), k.Owner, k.Conversation))(t)), 1)
			equal(t, "kept entries", len(must(s.Log(t.Context(), k.Owner, k.Conversation, 0))(t)), 1)
			equal(t, "kept rows", len(must(s.Outbox(t.Context(), k))(t)), 1)
			equal(t, "kept turns", len(must(s.Turns(t.Context(), k))(t)), 1)
		}
	}
	check()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	check()
	lasting.Conversation = "f"
	commit(t, s, store.WriteSet{Accept: []store.Inbox{lasting}})
	commit(t, s, over(key(alice, "c", bob), 10)) // what was forgotten can be opened again
	equal(t, "index of the first entry", must(s.Log(t.Context(), alice, "c", 0))(t)[0].Index, int64(1))
}

func sweepLimit(t *testing.T, fresh func() Place) {
	s := fresh()()
	const all = 40
	for n := range all {
		row, set := accepted(alice, bob, fmt.Sprint(n)), over(key(alice, fmt.Sprint("talk", n), bob), 10+n)
		row.Status, row.ExpiresAt = store.Settled, at(10+n)
		set.Accept = []store.Inbox{row}
		set.Bury = []store.DeadLetter{{DeadKey: deadKey(alice, fmt.Sprint(n)), At: at(10 + n)}}
		commit(t, s, set)
	}
	swept := must(s.Sweep(t.Context(), at(900), at(900), 25))(t)
	equal(t, "the first sweep", swept, store.Swept{Inbox: 25, DeadLetters: 25, Conversations: 25, More: true})
	equal(t, "the oldest row that is left", must(s.Inboxes(t.Context(), alice, false, 99))(t)[0].ExpiresAt.Before(at(35)), false)
	equal(t, "the youngest letter that is left", must(s.DeadLetters(t.Context(), alice, 99))(t)[0].At, at(49))
	is(t, "a conversation that ended first", second(s.Exchange(t.Context(), key(alice, "talk24", bob))), store.ErrNotFound)
	is(t, "a conversation that ended later", second(s.Exchange(t.Context(), key(alice, "talk25", bob))), nil)
	swept = must(s.Sweep(t.Context(), at(900), at(900), 25))(t)
	equal(t, "the second sweep", swept, store.Swept{Inbox: 15, DeadLetters: 15, Conversations: 15})
	equal(t, "what is left", len(must(s.Conversations(t.Context(), alice, 99))(t)), 0)
	equal(t, "none asked for", must(s.Sweep(t.Context(), at(900), at(900), -1))(t).None(), true)
}

// sweepBehindKept has conversations that stay before the one that may go.
func sweepBehindKept(t *testing.T, fresh func() Place) {
	s := fresh()()
	for n := range 100 {
		set := over(key(alice, fmt.Sprint("kept", n), bob), 1)
		set.Claim = []store.Effect{{EffectKey: store.EffectKey{Recipient: alice, Sender: bob, Key: fmt.Sprint(n)}, Status: store.Begun, Conversation: fmt.Sprint("kept", n)}}
		commit(t, s, set)
	}
	commit(t, s, over(key(alice, "may go", bob), 2))
	swept, calls := 0, 0
	for more := true; more; calls++ {
		one := must(s.Sweep(t.Context(), at(9), at(9), 2))(t)
		swept, more = swept+one.Conversations, one.More
		if calls > 200 {
			t.Fatal("the sweeps come to no end")
		}
	}
	equal(t, "conversations", swept, 1)
	equal(t, "kept conversations", len(must(s.Conversations(t.Context(), alice, 999))(t)), 100)
	commit(t, s, over(key(alice, "may go too", bob), 1)) // before the place where the last one stood
	equal(t, "swept in the next round", sweep(t, s, at(9), at(9)).Conversations, 1)
}

func sweepShared(t *testing.T, fresh func() Place) {
	s := fresh()()
	body := bytes.Repeat([]byte("large "), 20_000)
	for _, k := range []store.Key{key(alice, "c", bob), key(alice, "d", bob), key(bob, "e", alice)} {
		set := over(k, 10)
		set.Entries[0].Envelope = body
		commit(t, s, set)
	}
	letter := store.DeadLetter{DeadKey: deadKey(carol, "m"), At: at(70), Envelope: body}
	live := exchange(key(bob, "e", carol), "agreed")
	commit(t, s, store.WriteSet{Bury: []store.DeadLetter{letter}, Exchanges: []store.Exchange{live}})
	equal(t, "swept", sweep(t, s, at(50), at(50)), store.Swept{Conversations: 2})
	equal(t, "the body that is still logged", must(s.Log(t.Context(), bob, "e", 0))(t)[0].Envelope, body)
	live.Version, live.State.State, live.EndedAt = 1, "done:ok", at(20)
	commit(t, s, store.WriteSet{Exchanges: []store.Exchange{live}})
	equal(t, "swept then", sweep(t, s, at(50), at(50)), store.Swept{Conversations: 1})
	equal(t, "the body that is still buried", must(s.DeadLetter(t.Context(), letter.DeadKey))(t).Envelope, body)
	equal(t, "swept last", sweep(t, s, at(80), at(80)), store.Swept{DeadLetters: 1})
	again := over(key(alice, "c", bob), 10)
	again.Entries[0].Envelope = body
	commit(t, s, again)
	equal(t, "the body written again", must(s.Log(t.Context(), alice, "c", 0))(t)[0].Envelope, body)
}

func sweepAgrees(t *testing.T, fresh func() Place) {
	s := fresh()()
	worlds := 0
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(&worlds)
		w.live(t, r, s)
		now, before := moment(r), moment(r)
		if rapid.IntRange(0, 4).Draw(r, "keep conversations") == 0 {
			before = time.Time{}
		}
		logs := map[string][]store.Entry{}
		for _, owner := range w.owners {
			for _, c := range conversations() {
				logs[owner+c] = must(s.Log(t.Context(), owner, c, 0))(t)
			}
		}
		// A call goes on where the one before left off, and the one after the last
		// conversation begins with the first: nothing is left when all of them were
		// looked at and none went.
		for quiet, done := false, false; !done; {
			limit := rapid.IntRange(1, 3).Draw(r, "limit")
			swept, err := s.Sweep(t.Context(), now, before, limit)
			if err != nil || max(swept.Inbox, swept.Effects, swept.Conversations, swept.DeadLetters, swept.Commands) > limit {
				r.Fatalf("at most %d: swept %+v, %v", limit, swept, err)
			}
			quiet = quiet && swept.None()
			if !swept.More {
				quiet, done = true, quiet
			}
		}
		w.model.sweep(now, before)
		w.compare(t, r, s)
		for _, owner := range w.owners {
			for _, c := range conversations() {
				if left := must(s.Log(t.Context(), owner, c, 0))(t); len(left) > 0 {
					equal(t, "a kept log with its hashes", left, logs[owner+c])
				}
			}
		}
	})
}

func sweepBesideCommits(t *testing.T, fresh func() Place) {
	s := fresh()()
	const writers, each = 4, 25
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range each {
				set := over(key(alice, fmt.Sprintf("%d-%d", w, n), bob), n)
				if err := s.Commit(t.Context(), set); err != nil {
					t.Errorf("commit: %v", err)
				}
				if _, err := s.Sweep(t.Context(), at(900), at(each/2), 10); err != nil {
					t.Errorf("sweep: %v", err)
				}
			}
		})
	}
	wg.Wait()
	sweep(t, s, at(900), at(each/2))
	left := must(s.Conversations(t.Context(), alice, 999))(t)
	equal(t, "conversations that are left", len(left), writers*(each-each/2))
	for _, c := range left {
		x := must(s.Exchange(t.Context(), key(alice, c.ID, bob)))(t)
		log := must(s.Log(t.Context(), alice, c.ID, 0))(t)
		if x.State.State != protocol.State("done:ok") || len(log) != 1 || log[0].Hash != store.Link([32]byte{}, log[0]) {
			t.Fatalf("conversation %s has %d entries and state %s", c.ID, len(log), x.State.State)
		}
	}
	if _, err := s.Exchange(t.Context(), key(alice, "0-0", bob)); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("an old conversation: got %v, want not found", err)
	}
}
