package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/parley-agents/parley/store"
)

func logOrder(t *testing.T, fresh func() Place) {
	s := fresh()()
	fired := store.Entry{Owner: alice, Conversation: "c", Peer: bob, Kind: store.Fired, Event: "#reply-by", From: "agreed", To: "failing"}
	rejected := entry(alice, "c", "m2")
	rejected.Kind, rejected.Reason, rejected.From, rejected.To = store.Rejected, "illegal-transition", "agreed", "agreed"
	want := []store.Entry{entry(alice, "c", "m1"), fired, rejected}
	commit(t, s, store.WriteSet{Entries: []store.Entry{want[0], entry(alice, "other", "m3"), want[1]}})
	commit(t, s, store.WriteSet{Entries: []store.Entry{want[2], entry(bob, "c", "m4")}})

	got := must(s.Log(t.Context(), alice, "c", 0))(t)
	equal(t, "indexes", mapped(got, indexOf), []int64{1, 2, 3})
	seen := map[[32]byte]bool{{}: true}
	for i := range got {
		if seen[got[i].Hash] {
			t.Fatalf("entry %d has the hash %x of another or none", got[i].Index, got[i].Hash)
		}
		seen[got[i].Hash] = true
		want[i].Index, want[i].Hash = got[i].Index, got[i].Hash
	}
	equal(t, "entries", got, want)
	equal(t, "entries after the first", must(s.Log(t.Context(), alice, "c", 1))(t), want[1:])
	equal(t, "entries after the last", len(must(s.Log(t.Context(), alice, "c", 3))(t)), 0)
	equal(t, "another owner's log", mapped(must(s.Log(t.Context(), bob, "c", 0))(t), indexOf), []int64{1})
	equal(t, "another conversation's log", mapped(must(s.Log(t.Context(), alice, "other", 0))(t), indexOf), []int64{1})
}

func logConcurrent(t *testing.T, fresh func() Place) {
	s := fresh()()
	const writers, each = 8, 20
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range each {
				err := s.Commit(t.Context(), store.WriteSet{Entries: []store.Entry{
					entry(alice, "shared", fmt.Sprintf("%d-%d", w, n)), entry(alice, fmt.Sprint("own ", w), fmt.Sprint(n))}})
				if err != nil {
					t.Errorf("commit: %v", err)
				}
				// What was committed is there for the next read.
				if own, err := s.Log(t.Context(), alice, fmt.Sprint("own ", w), int64(n)); err != nil || len(own) != 1 {
					t.Errorf("after commit %d of writer %d: got %d new entries, %v", n, w, len(own), err)
				}
			}
		})
	}
	wg.Wait()
	shared := must(s.Log(t.Context(), alice, "shared", 0))(t)
	equal(t, "length of the shared log", len(shared), writers*each)
	last := map[byte]int{}
	for i, e := range shared {
		equal(t, "index", e.Index, int64(i+1))
		var w, n int
		if _, err := fmt.Sscanf(e.MessageID, "%d-%d", &w, &n); err != nil {
			t.Fatal(err)
		}
		equal(t, fmt.Sprint("order of writer ", w), n, last[byte(w)])
		last[byte(w)]++
	}
}

func logChain(t *testing.T, fresh func() Place) {
	first, second := entry(alice, "c", "m1"), entry(alice, "c", "m2")
	hashes := func(first store.Entry) (at1, at2 [32]byte) {
		s := fresh()()
		second := second
		second.Owner, second.Conversation = first.Owner, first.Conversation
		commit(t, s, store.WriteSet{Entries: []store.Entry{first, second}})
		log := must(s.Log(t.Context(), first.Owner, first.Conversation, 0))(t)
		return log[0].Hash, log[1].Hash
	}
	was1, was2 := hashes(first)
	same1, same2 := hashes(first)
	equal(t, "first hash of the same log", same1, was1)
	equal(t, "second hash of the same log", same2, was2)
	for what, change := range map[string]func(*store.Entry){
		"owner":        func(e *store.Entry) { e.Owner = carol },
		"conversation": func(e *store.Entry) { e.Conversation = "d" },
		"peer":         func(e *store.Entry) { e.Peer = carol },
		"kind":         func(e *store.Entry) { e.Kind = store.Received },
		"time":         func(e *store.Entry) { e.At = e.At.Add(time.Millisecond) },
		"event":        func(e *store.Entry) { e.Event = "!failure" },
		"from":         func(e *store.Entry) { e.From = "received" },
		"to":           func(e *store.Entry) { e.To = "done:failed" },
		"message id":   func(e *store.Entry) { e.MessageID = "m9" },
		"digest":       func(e *store.Entry) { e.Digest[31]++ },
		"reason":       func(e *store.Entry) { e.Reason = "late" },
	} {
		changed := first
		change(&changed)
		now1, now2 := hashes(changed)
		if now1 == was1 || now2 == was2 {
			t.Errorf("another %s left the chain as it was", what)
		}
	}
}

func messageByID(t *testing.T, fresh func() Place) {
	s := fresh()()
	received := entry(alice, "c", "m1")
	received.Kind = store.Received
	timer := store.Entry{Owner: alice, Conversation: "c", Peer: bob, Kind: store.Fired, Event: "#reply-by"}
	commit(t, s, store.WriteSet{Entries: []store.Entry{timer, entry(alice, "c", "m1"), received, entry(bob, "d", "m2")}})
	log := must(s.Log(t.Context(), alice, "c", 0))(t)
	k := key(alice, "c", bob)
	equal(t, "sent", must(s.Message(t.Context(), k, store.Sent, "m1"))(t), log[1])
	equal(t, "received", must(s.Message(t.Context(), k, store.Received, "m1"))(t), log[2])
	for _, miss := range []struct {
		k    store.Key
		kind store.EntryKind
		id   string
	}{
		{k, store.Sent, "m2"}, {k, store.Rejected, "m1"}, {k, store.Fired, ""},
		{key(alice, "c", carol), store.Sent, "m1"}, {key(alice, "d", bob), store.Sent, "m1"}, {key(carol, "c", bob), store.Sent, "m1"},
	} {
		if _, err := s.Message(t.Context(), miss.k, miss.kind, miss.id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s message %q: got %v, want not found", miss.kind, miss.id, err)
		}
	}
}
