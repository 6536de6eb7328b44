package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

func metaAndIdentity(t *testing.T, fresh func() Place) {
	open := fresh()
	s := open()
	first := store.Meta{Generation: 7, Secret: []byte("secret")}
	equal(t, "first meta", must(s.Meta(t.Context(), first))(t), first)
	equal(t, "second meta", must(s.Meta(t.Context(), store.Meta{Generation: 8, Secret: []byte("other")}))(t), first)
	a := store.Identity{Owner: alice, Seed: []byte("a")}
	b := store.Identity{Owner: bob, Seed: []byte("b")}
	equal(t, "alice's identity", must(s.Identity(t.Context(), a))(t), a)
	equal(t, "bob's identity", must(s.Identity(t.Context(), b))(t), b)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	equal(t, "meta after reopening", must(s.Meta(t.Context(), store.Meta{Generation: 9}))(t), first)
	equal(t, "identity after reopening", must(s.Identity(t.Context(), store.Identity{Owner: alice, Seed: []byte("new")}))(t), a)
}

func exchangeRoundTrip(t *testing.T, fresh func() Place) {
	s := fresh()()
	k := key(alice, "c", bob)
	x := exchange(k, "agreed")
	x.State.Capability, x.State.Opening, x.State.Cancel, x.State.Trigger = "urn:cap:acme.book/v1", "m1", "m2", "m3"
	x.State.Asked = []string{"m4", "m5"}
	x.State.ReplyBy, x.State.AgreeBy, x.State.CancelBy = at(10), at(20), at(30)
	x.State.Sent, x.State.Received, x.State.PeerGeneration, x.State.Messages = 3, 4, 5, 6
	x.State.Closed, x.State.Misread = true, true
	x.State.Error = &envelope.Error{Code: envelope.CodeDeadline, Reason: "lapsed", Detail: &envelope.Detail{Pointer: "/seat", Want: "a seat"}}
	x.Correlation, x.Parent, x.OpenedAt = "trip", key(alice, "up", carol), at(1)
	x.Task, x.Mailbox, x.MovedAt = "task", true, at(1)
	commit(t, s, store.WriteSet{Exchanges: []store.Exchange{x}})
	x.Version = 1
	equal(t, "live exchange", must(s.Exchange(t.Context(), k))(t), x)

	x.State.State, x.Final, x.EndedAt = "done:ok", "m9", at(2)
	x.Task, x.Mailbox, x.MovedAt = "other", false, at(3)
	commit(t, s, store.WriteSet{Exchanges: []store.Exchange{x}})
	x.Version = 2
	equal(t, "ended exchange", must(s.Exchange(t.Context(), k))(t), x)
}

func versionConflict(t *testing.T, fresh func() Place) {
	s := fresh()()
	x := exchange(key(alice, "c", bob), "received")
	x.Version = 1
	refused(t, s, store.WriteSet{Exchanges: []store.Exchange{x}}, store.ErrConflict)
	x.Version = 0
	commit(t, s, store.WriteSet{Exchanges: []store.Exchange{x}})
	refused(t, s, store.WriteSet{Exchanges: []store.Exchange{x}}, store.ErrConflict)
	x.Version = 1
	commit(t, s, store.WriteSet{Exchanges: []store.Exchange{x}})
	refused(t, s, store.WriteSet{Exchanges: []store.Exchange{x}}, store.ErrConflict)
	x.Version = 3
	refused(t, s, store.WriteSet{Exchanges: []store.Exchange{x}}, store.ErrConflict)
	equal(t, "version", must(s.Exchange(t.Context(), x.Key))(t).Version, int64(2))
}

func exchangeLists(t *testing.T, fresh func() Place) {
	s := fresh()()
	parent := key(alice, "up", bob)
	for _, c := range []struct {
		k      store.Key
		state  protocol.State
		parent store.Key
	}{
		{key(alice, "two", carol), "received", parent},
		{key(alice, "two", bob), "done:ok", store.Key{}},
		{key(alice, "one", bob), "agreed", parent},
		{key(alice, "one", carol), "agreed", key(alice, "up", carol)},
		{key(bob, "one", alice), "agreed", store.Key{}},
	} {
		x := exchange(c.k, c.state)
		x.Parent = c.parent
		commit(t, s, store.WriteSet{Exchanges: []store.Exchange{x}})
	}
	later := must(s.Exchange(t.Context(), key(alice, "two", carol)))(t)
	commit(t, s, store.WriteSet{Exchanges: []store.Exchange{later}}) // a later step does not move it

	equal(t, "one conversation by peer", mapped(must(s.Exchanges(t.Context(), alice, "two"))(t), peerOf), []string{bob, carol})
	equal(t, "live exchanges", len(must(s.Exchanges(t.Context(), alice, ""))(t)), 3)
	equal(t, "children", mapped(must(s.Children(t.Context(), parent))(t), talk), []string{"two", "one"})
	equal(t, "children of nobody", len(must(s.Children(t.Context(), key(alice, "up", alice)))(t)), 0)
	equal(t, "correlated conversations", mapped(must(s.Correlated(t.Context(), alice, "corr"))(t), talk), []string{"two", "two", "one", "one"})
	equal(t, "correlated peers", mapped(must(s.Correlated(t.Context(), alice, "corr"))(t), peerOf), []string{carol, bob, bob, carol})
	equal(t, "another correlation", len(must(s.Correlated(t.Context(), alice, "other"))(t)), 0)
}

func foreignParent(t *testing.T, fresh func() Place) {
	s := fresh()()
	x := exchange(key(alice, "c", bob), "received")
	x.Parent = key(carol, "up", bob)
	if err := s.Commit(t.Context(), store.WriteSet{Exchanges: []store.Exchange{x}}); err == nil || !strings.Contains(err.Error(), "parent belongs to "+carol) {
		t.Fatalf("got %v, want an error that names the parent's owner", err)
	}
	equal(t, "exchanges", len(must(s.Exchanges(t.Context(), alice, "c"))(t)), 0)
}

func timersFollow(t *testing.T, fresh func() Place) {
	s := fresh()()
	x := exchange(key(alice, "c", bob), "received")
	for _, c := range []struct {
		state           protocol.State
		agree, reply    time.Time
		want            protocol.Timer // "" for none
		due, then, next int            // milliseconds
	}{
		{"received", at(10).Add(1), at(50), protocol.TimerAgree, 11, 10, 11},
		{"received", at(60), at(50), protocol.TimerReplyBy, 50, 49, 50},
		{"received", at(50), at(50), protocol.TimerAgree, 50, 100, 0},
		{"agreed", at(10), at(50), protocol.TimerReplyBy, 50, 20, 50},
		{"cancelling", at(10), at(50), protocol.TimerCancelBy, 70, 60, 70},
		{"done:cancelled", at(10), at(50), "", 0, 5, 0},
	} {
		x.State.State, x.State.AgreeBy, x.State.ReplyBy, x.State.CancelBy = c.state, c.agree, c.reply, at(70)
		commit(t, s, store.WriteSet{Exchanges: []store.Exchange{x}})
		x.Version++
		var want []store.Timer
		if c.want != "" {
			want = append(want, store.Timer{Key: x.Key, Name: c.want, At: at(c.due)})
		}
		what := fmt.Sprintf("in state %s, to agree by %v and reply by %v: ", c.state, c.agree, c.reply)
		equal(t, what+"what is due", must(s.Due(t.Context(), []string{alice}, at(100), 10))(t).Timers, want)
		var next time.Time
		if c.next != 0 {
			next = at(c.next)
		}
		equal(t, what+"next", must(s.Due(t.Context(), []string{alice}, at(c.then), 10))(t).Next, next)
	}
}
