package storetest

import (
	"fmt"
	"testing"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

func conversationSums(t *testing.T, fresh func() Place) {
	s := fresh()()
	first, second := exchange(key(alice, "c", carol), "done:ok"), exchange(key(alice, "c", bob), "agreed")
	first.OpenedAt, first.EndedAt, second.OpenedAt = at(1), at(9), at(2)
	fired := store.Entry{Owner: alice, Conversation: "c", Peer: bob, Kind: store.Fired, Event: "#reply-by"}
	commit(t, s, store.WriteSet{Exchanges: []store.Exchange{first}, Entries: []store.Entry{entry(alice, "c", "m1"), fired, entry(alice, "c", "m2")}})
	commit(t, s, store.WriteSet{Exchanges: []store.Exchange{second}})
	want := store.Conversation{Owner: alice, ID: "c", Protocol: protocol.RequestV1, Peers: []string{bob, carol},
		State: store.Live, OpenedAt: at(1), Messages: 2}
	equal(t, "a live conversation", must(s.Conversations(t.Context(), alice, 9))(t), []store.Conversation{want})

	second.Version, second.State.State, second.EndedAt = 1, "done:failed", at(7)
	commit(t, s, store.WriteSet{Exchanges: []store.Exchange{second}, Entries: []store.Entry{entry(alice, "c", "m3")}})
	want.State, want.EndedAt, want.Messages = store.Over, at(9), 3
	equal(t, "an ended conversation", must(s.Conversations(t.Context(), alice, 9))(t), []store.Conversation{want})
}

func conversationOrder(t *testing.T, fresh func() Place) {
	s := fresh()()
	must(s.Identity(t.Context(), store.Identity{Owner: carol, Seed: []byte("c")}))(t)
	equal(t, "owners before any exchange", must(s.Owners(t.Context()))(t), []string{carol})
	for _, k := range []store.Key{key(bob, "c", alice), key(alice, "c", bob), key(alice, "d", bob), key(bob, "e", alice), key(alice, "c", carol)} {
		x := exchange(k, "agreed")
		commit(t, s, store.WriteSet{Exchanges: []store.Exchange{x}})
	}
	step := exchange(key(alice, "c", bob), "agreed")
	step.Version = 1
	commit(t, s, store.WriteSet{Exchanges: []store.Exchange{step}}) // a later step does not move it

	list := func(owner string, limit int) []string {
		return mapped(must(s.Conversations(t.Context(), owner, limit))(t), func(c store.Conversation) string {
			return fmt.Sprint(c.Owner[len("agent://local/"):], " ", c.ID, " ", len(c.Peers))
		})
	}
	equal(t, "of all owners", list("", 9), []string{"bob e 1", "alice d 1", "alice c 2", "bob c 1"})
	equal(t, "of all owners, cut", list("", 3), []string{"bob e 1", "alice d 1", "alice c 2"})
	equal(t, "of one owner", list(alice, 9), []string{"alice d 1", "alice c 2"})
	equal(t, "of one owner, cut", list(alice, 1), []string{"alice d 1"})
	equal(t, "none asked for", len(list("", 0)), 0)
	equal(t, "of an owner without any", len(list(carol, 9)), 0)
	equal(t, "owners", must(s.Owners(t.Context()))(t), []string{alice, bob, carol})
}
