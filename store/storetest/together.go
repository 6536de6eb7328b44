package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parley-agents/parley/store"
)

// members are exchanges of alice in one conversation, in order of peer.
func members(n int) []store.Exchange {
	var list []store.Exchange
	for i := range n {
		x := exchange(key(alice, "c", fmt.Sprintf("agent://local/member-%04d", i)), "agreed")
		x.State.ReplyBy = at(10)
		list = append(list, x)
	}
	return list
}

func versionOf(x store.Exchange) int64 { return x.Version }

func movedTogether(t *testing.T, fresh func() Place) {
	s := fresh()()
	all := members(4)
	commit(t, s, store.WriteSet{Exchanges: all[1:3]})
	all[1].Version, all[2].Version = 1, 1
	before := must(s.Exchanges(t.Context(), alice, "c"))(t)
	for n := range all {
		spoilt := slices.Clone(all)
		spoilt[n].Version += 3
		refused(t, s, store.WriteSet{Exchanges: spoilt}, store.ErrConflict)
		equal(t, fmt.Sprint("exchanges after a conflict in number ", n), must(s.Exchanges(t.Context(), alice, "c"))(t), before)
		equal(t, fmt.Sprint("timers after a conflict in number ", n), len(must(s.Due(t.Context(), []string{alice}, at(20), 9))(t).Timers), 2)
	}

	// New ones and old ones move in one set, in whatever order.
	slices.Reverse(all)
	all[0].State.State = "done:ok"
	commit(t, s, store.WriteSet{Exchanges: all})
	slices.Reverse(all)
	for n := range all {
		all[n].Version++
	}
	equal(t, "exchanges", must(s.Exchanges(t.Context(), alice, "c"))(t), all)
	equal(t, "timers", len(must(s.Due(t.Context(), []string{alice}, at(20), 9))(t).Timers), 3)
}

func movedTwice(t *testing.T, fresh func() Place) {
	s := fresh()()
	x := exchange(key(alice, "c", bob), "agreed")
	again := x
	again.Version = 1
	for what, second := range map[string]store.Exchange{"the same version": x, "the next version": again} {
		err := s.Commit(t.Context(), store.WriteSet{Exchanges: []store.Exchange{x, second}})
		if err == nil || !strings.Contains(err.Error(), "twice") || !strings.Contains(err.Error(), bob) {
			t.Fatalf("%s: got %v, want an error that names the exchange", what, err)
		}
	}
	equal(t, "exchanges", len(must(s.Exchanges(t.Context(), alice, "c"))(t)), 0)
}

func movedThousand(t *testing.T, fresh func() Place) {
	s := fresh()()
	all := members(1000)
	var rows []store.Outbox
	for _, x := range all {
		rows = append(rows, outgoing(alice, "c", x.Peer, x.Peer, at(0)))
	}
	commit(t, s, store.WriteSet{Exchanges: all, Outbox: rows})
	for n := range all {
		all[n].Version, all[n].State.State = 1, "done:ok"
	}
	last := all[999]
	last.Version = 7
	refused(t, s, store.WriteSet{Exchanges: append(slices.Clone(all[:999]), last)}, store.ErrConflict)
	equal(t, "live exchanges after a conflict in the last", len(must(s.Exchanges(t.Context(), alice, ""))(t)), 1000)
	due := must(s.Due(t.Context(), []string{alice}, at(20), 2000))(t)
	equal(t, "timers", len(due.Timers), 1000)
	equal(t, "rows", len(due.Outbox), 1000)

	commit(t, s, store.WriteSet{Exchanges: all})
	equal(t, "live exchanges", len(must(s.Exchanges(t.Context(), alice, ""))(t)), 0)
	got := must(s.Exchanges(t.Context(), alice, "c"))(t)
	equal(t, "peers", mapped(got, peerOf), mapped(all, peerOf))
	equal(t, "versions", slices.Compact(mapped(got, versionOf)), []int64{2})
	sum := must(s.Conversations(t.Context(), alice, 9))(t)
	equal(t, "conversations", len(sum), 1)
	equal(t, "peers of the conversation", len(sum[0].Peers), 1000)
}
