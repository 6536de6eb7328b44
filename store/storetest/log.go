package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
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
	equal(t, "a page after the first", must(s.LogPage(t.Context(), alice, "c", 1, 1))(t), want[1:2])
	equal(t, "a page larger than the log", must(s.LogPage(t.Context(), alice, "c", 0, 9))(t), want)
	equal(t, "a page of nothing", len(must(s.LogPage(t.Context(), alice, "c", 0, 0))(t)), 0)
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
	open := fresh()
	s := open()
	for n := range 3 {
		commit(t, s, store.WriteSet{Entries: []store.Entry{entry(alice, "c", fmt.Sprint(n)), entry(bob, "c", fmt.Sprint(n)),
			{Owner: alice, Conversation: "c", Peer: bob, Kind: store.Fired, At: at(n).Add(time.Microsecond), Event: "#reply-by", From: "agreed", To: "failing"},
			{Owner: alice, Conversation: "c", Kind: store.Reduced, Note: []byte(fmt.Sprint(n))}}})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	commit(t, s, store.WriteSet{Entries: []store.Entry{entry(alice, "c", "reopened")}})
	for owner, length := range map[string]int{alice: 10, bob: 3} {
		log := must(s.Log(t.Context(), owner, "c", 0))(t)
		equal(t, "length of the log of "+owner, len(log), length)
		var prev [32]byte
		for _, e := range log {
			equal(t, fmt.Sprint("hash of entry ", e.Index, " of ", owner), e.Hash, store.Link(prev, e))
			prev = e.Hash
		}
	}
}

// largeEnvelopes writes envelopes around and far above the size at which an
// engine may keep bodies elsewhere.
func largeEnvelopes(t *testing.T, fresh func() Place) {
	open := fresh()
	s := open()
	var want []store.Entry
	for n, size := range []int{64<<10 - 1, 64 << 10, 64<<10 + 1, 1 << 20, 1 << 20} {
		e := entry(alice, "c", fmt.Sprint(n))
		e.Envelope = bytes.Repeat([]byte{byte(size)}, size)
		want = append(want, e)
	}
	content := strings.Repeat(`"content": {[\`, 10_000)
	for n := range 3 { // copies that differ around what they share
		e := entry(alice, "c", fmt.Sprint("copy ", n))
		e.Envelope = fmt.Appendf(nil, `{"actor":"content","content":{"text":%q},"message_id":"%d","v":"1.0"}`, content, n)
		want = append(want, e)
	}
	shared := want[4]
	shared.Owner, shared.Kind = bob, store.Received
	commit(t, s, store.WriteSet{Entries: append([]store.Entry{shared}, want[:4]...)})
	commit(t, s, store.WriteSet{Entries: want[4:]})
	k := key(alice, "c", bob)
	refused(t, s, store.WriteSet{Entries: []store.Entry{shared}, Settle: []store.Settlement{{InboxKey: store.InboxKey{Recipient: alice}}}}, store.ErrNotFound)
	check := func() {
		t.Helper()
		log := must(s.Log(t.Context(), alice, "c", 0))(t)
		equal(t, "entries", len(log), len(want))
		for n, e := range log {
			if want[n].Index, want[n].Hash = e.Index, e.Hash; !reflect.DeepEqual(e, want[n]) {
				t.Fatalf("entry %d with an envelope of %d bytes: got one of %d bytes", e.Index, len(want[n].Envelope), len(e.Envelope))
			}
			if got := must(s.Message(t.Context(), k, store.Sent, e.MessageID))(t); !bytes.Equal(got.Envelope, e.Envelope) {
				t.Fatalf("message %s: got an envelope of %d bytes, want %d", e.MessageID, len(got.Envelope), len(e.Envelope))
			}
		}
		log = must(s.Log(t.Context(), bob, "c", 0))(t)
		equal(t, "entries of the other log", len(log), 1)
		if !bytes.Equal(log[0].Envelope, shared.Envelope) {
			t.Fatalf("the other log: got an envelope of %d bytes, want %d", len(log[0].Envelope), len(shared.Envelope))
		}
	}
	check()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	check()
}

// notes writes entries that belong to a conversation and not to one of its
// exchanges.
func notes(t *testing.T, fresh func() Place) {
	open := fresh()
	s := open()
	x := exchange(key(alice, "c", bob), "done:ok")
	want := []store.Entry{{Kind: store.Bound, Note: []byte(`{"members":[]}`)}, entry(alice, "c", "m1"), {Kind: store.Concluded}}
	for _, size := range []int{64 << 10, 64<<10 + 1, 2 << 20} {
		want = append(want, store.Entry{Kind: store.Reduced, At: at(size), Note: bytes.Repeat([]byte{byte(size), 0}, size/2)})
	}
	for i := range want {
		want[i].Owner, want[i].Conversation = alice, "c"
	}
	commit(t, s, store.WriteSet{Exchanges: []store.Exchange{x}, Entries: want[:4]})
	commit(t, s, store.WriteSet{Entries: want[4:]})
	check := func() {
		t.Helper()
		log := must(s.Log(t.Context(), alice, "c", 0))(t)
		equal(t, "entries", len(log), len(want))
		for i, e := range log {
			want[i].Index, want[i].Hash = e.Index, e.Hash
			if !reflect.DeepEqual(e, want[i]) {
				t.Fatalf("entry %d, %s, with a note of %d bytes: got one of %d bytes", i, want[i].Kind, len(want[i].Note), len(e.Note))
			}
		}
		equal(t, "messages of the conversation", must(s.Conversations(t.Context(), alice, 9))(t)[0].Messages, 1)
		_, err := s.Message(t.Context(), key(alice, "c", ""), store.Bound, "")
		is(t, "a message without an id", err, store.ErrNotFound)
	}
	check()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	check()
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

func messageAnywhere(t *testing.T, fresh func() Place) {
	open := fresh()
	s := open()
	const all = 100
	for n := range all {
		commit(t, s, store.WriteSet{Entries: []store.Entry{entry(alice, "c", fmt.Sprint("m", n)), entry(alice, "d", fmt.Sprint("other", n))}})
	}
	k := key(alice, "c", bob)
	check := func() {
		t.Helper()
		for n, e := range must(s.Log(t.Context(), alice, "c", 0))(t) {
			equal(t, "message", must(s.Message(t.Context(), k, store.Sent, fmt.Sprint("m", n)))(t), e)
			is(t, "a message of another log", second(s.Message(t.Context(), k, store.Sent, fmt.Sprint("other", n))), store.ErrNotFound)
		}
	}
	check()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	check()
}
