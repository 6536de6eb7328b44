package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/parley-agents/parley/store"
)

func acceptOnce(t *testing.T, fresh func() Place) {
	s := fresh()()
	row := accepted(alice, bob, "m1")
	commit(t, s, store.WriteSet{Accept: []store.Inbox{row}})
	equal(t, "inbox row", must(s.Inbox(t.Context(), row.InboxKey))(t), row)
	other := row
	other.Digest[0]++
	refused(t, s, store.WriteSet{Accept: []store.Inbox{other}}, store.ErrDuplicate)
	equal(t, "inbox row after a duplicate", must(s.Inbox(t.Context(), row.InboxKey))(t), row)
	commit(t, s, store.WriteSet{Accept: []store.Inbox{accepted(alice, carol, "m1"), accepted(bob, carol, "m1")}})
	refused(t, s, store.WriteSet{Accept: []store.Inbox{accepted(bob, carol, "m2"), accepted(bob, carol, "m2")}}, store.ErrDuplicate)
}

func settleFenced(t *testing.T, fresh func() Place) {
	s := fresh()()
	row := accepted(alice, bob, "m1")
	row.Attempt = 3
	settle := func(fence int64) store.WriteSet {
		return store.WriteSet{Settle: []store.Settlement{{InboxKey: row.InboxKey, Fence: fence}}}
	}
	refused(t, s, settle(3), store.ErrNotFound)
	commit(t, s, store.WriteSet{Accept: []store.Inbox{row}})
	refused(t, s, settle(2), store.ErrFenced)
	refused(t, s, settle(4), store.ErrFenced)
	equal(t, "status before", must(s.Inbox(t.Context(), row.InboxKey))(t).Status, store.InProgress)
	commit(t, s, settle(3))
	equal(t, "status after", must(s.Inbox(t.Context(), row.InboxKey))(t).Status, store.Settled)
	refused(t, s, settle(3), store.ErrFenced)

	both := accepted(alice, bob, "m2")
	commit(t, s, store.WriteSet{Accept: []store.Inbox{both}, Settle: []store.Settlement{{InboxKey: both.InboxKey, Fence: 1}}})
	equal(t, "status of a row settled at once", must(s.Inbox(t.Context(), both.InboxKey))(t).Status, store.Settled)
}

func takeOver(t *testing.T, fresh func() Place) {
	s := fresh()()
	young, old, settled, foreign := accepted(alice, bob, "a"), accepted(alice, carol, "b"), accepted(alice, bob, "c"), accepted(bob, alice, "d")
	young.AcceptedAt, old.AcceptedAt, old.Attempt = at(9), at(3), 4
	settled.Status = store.Settled
	commit(t, s, store.WriteSet{Accept: []store.Inbox{young, old, settled, foreign}})

	taken := must(s.TakeOver(t.Context(), alice))(t)
	for row, attempt := range map[*store.Inbox]int64{&old: 5, &young: 2} {
		row.Attempt, row.Runs, row.LeaseUntil, row.FirstUntil = attempt, 1, time.Time{}, time.Time{}
	}
	equal(t, "what was taken over", taken, []store.Inbox{old, young})
	for _, row := range []store.Inbox{old, young, settled, foreign} {
		equal(t, "stored row "+row.MessageID, must(s.Inbox(t.Context(), row.InboxKey))(t), row)
	}
	refused(t, s, store.WriteSet{Settle: []store.Settlement{{InboxKey: old.InboxKey, Fence: 4}}}, store.ErrFenced)
	commit(t, s, store.WriteSet{Settle: []store.Settlement{{InboxKey: old.InboxKey, Fence: 5}}})
	equal(t, "the second take-over", mapped(must(s.TakeOver(t.Context(), alice))(t), inboxMessage), []string{"a"})
	equal(t, "nothing to take over", len(must(s.TakeOver(t.Context(), carol))(t)), 0)
}

func renew(t *testing.T, fresh func() Place) {
	s := fresh()()
	row, other := accepted(alice, bob, "m1"), accepted(alice, carol, "m1")
	row.Attempt = 3
	renewed := func(fence int64, until int) error { return s.Renew(t.Context(), row.InboxKey, fence, at(until)) }
	is(t, "an unknown row", renewed(3, 90), store.ErrNotFound)
	commit(t, s, store.WriteSet{Accept: []store.Inbox{row, other}})
	is(t, "an old fence", renewed(2, 90), store.ErrFenced)
	is(t, "a fence to come", renewed(4, 90), store.ErrFenced)
	equal(t, "a row after refusals", must(s.Inbox(t.Context(), row.InboxKey))(t), row)
	is(t, "the fence", renewed(3, 90), nil)
	row.LeaseUntil = at(90)
	equal(t, "a renewed row", must(s.Inbox(t.Context(), row.InboxKey))(t), row)
	equal(t, "another row", must(s.Inbox(t.Context(), other.InboxKey))(t), other)

	must(s.TakeOver(t.Context(), alice))(t)
	is(t, "the fence after a take-over", renewed(3, 200), store.ErrFenced)
	is(t, "the new fence", renewed(4, 200), nil)
	commit(t, s, store.WriteSet{Settle: []store.Settlement{{InboxKey: row.InboxKey, Fence: 4}}})
	is(t, "the fence of a settled row", renewed(4, 300), store.ErrFenced)
	equal(t, "lease of a settled row", must(s.Inbox(t.Context(), row.InboxKey))(t).LeaseUntil, at(200))
}

func leases(t *testing.T, fresh func() Place) {
	s := fresh()()
	row := accepted(alice, bob, "m1")
	row.LeaseUntil, row.FirstUntil = time.Time{}, time.Time{}
	lease := func(fence int64, until time.Time) store.WriteSet {
		return store.WriteSet{Leases: []store.Lease{{InboxKey: row.InboxKey, Fence: fence, Until: until}}}
	}
	stored := func(what string, until, first time.Time) {
		t.Helper()
		row.LeaseUntil, row.FirstUntil = until, first
		equal(t, what, must(s.Inbox(t.Context(), row.InboxKey))(t), row)
	}
	refused(t, s, lease(1, at(40)), store.ErrNotFound)
	commit(t, s, store.WriteSet{Accept: []store.Inbox{row}})
	stored("a row that nobody holds", time.Time{}, time.Time{})
	refused(t, s, lease(2, at(40)), store.ErrFenced)
	stored("a row after a refusal", time.Time{}, time.Time{})
	commit(t, s, lease(1, at(40)))
	stored("a lease that is taken", at(40), at(40))
	commit(t, s, lease(1, at(90)))
	stored("a lease that is renewed", at(90), at(40))
	commit(t, s, lease(1, time.Time{}))
	stored("a lease that is given back", time.Time{}, time.Time{})
	is(t, "a lease taken by itself", s.Renew(t.Context(), row.InboxKey, 1, at(70)), nil)
	stored("a lease that is taken again", at(70), at(70))
	is(t, "a lease given back by itself", s.Renew(t.Context(), row.InboxKey, 1, time.Time{}), nil)
	stored("a lease that is given back again", time.Time{}, time.Time{})
	settled := lease(1, at(80))
	settled.Settle = []store.Settlement{{InboxKey: row.InboxKey, Fence: 1}}
	commit(t, s, settled)
	refused(t, s, lease(1, time.Time{}), store.ErrFenced)
}

func countRuns(t *testing.T, fresh func() Place) {
	s := fresh()()
	row := accepted(alice, bob, "m1")
	row.LeaseUntil = time.Time{}
	commit(t, s, store.WriteSet{Accept: []store.Inbox{row, accepted(alice, carol, "m1")}})
	long := int(store.Steady.Milliseconds())
	for fence, life := range []struct {
		leases []int // what it took and renewed; -1 gave it back
		runs   int64
	}{
		{nil, 0}, {[]int{10}, 1}, {[]int{10, 20}, 2}, {nil, 2}, {[]int{10, -1}, 2}, {[]int{10, -1, 20}, 3},
		{[]int{10, 10 + long}, 4}, {[]int{10, 20, 11 + long}, 1}, {[]int{long * 9}, 2}, {[]int{10, -1, 11 + long}, 3},
	} {
		for _, ms := range life.leases {
			until := at(ms)
			if ms < 0 {
				until = time.Time{}
			}
			is(t, "a lease", s.Renew(t.Context(), row.InboxKey, int64(fence)+1, until), nil)
		}
		taken := must(s.TakeOver(t.Context(), alice))(t)
		equal(t, "rows", len(taken), 2)
		got := must(s.Inbox(t.Context(), row.InboxKey))(t)
		equal(t, fmt.Sprint("runs after ", life.leases), got.Runs, life.runs)
		equal(t, "the fence", got.Attempt, int64(fence)+2)
		equal(t, "the lease", got.LeaseUntil, time.Time{})
	}
	equal(t, "runs of the other row", must(s.Inbox(t.Context(), accepted(alice, carol, "m1").InboxKey))(t).Runs, int64(1))
}

func firstInFirstOut(t *testing.T, fresh func() Place) {
	s := fresh()()
	cancel := outgoing(alice, "c", bob, "cancel", at(0))
	cancel.Overtakes = true
	commit(t, s, store.WriteSet{Outbox: []store.Outbox{
		outgoing(alice, "c", bob, "first", at(5)), outgoing(alice, "c", bob, "second", at(1)),
		outgoing(alice, "c", carol, "to carol", at(2)), outgoing(alice, "d", bob, "other talk", at(3)), cancel,
	}})
	due := func(now int) []string {
		return mapped(must(s.Due(t.Context(), []string{alice}, at(now), 10))(t).Outbox, idOf)
	}
	deliver := func(id string, status store.OutboxStatus, next int) {
		commit(t, s, store.WriteSet{Deliveries: []store.Delivery{{Owner: alice, MessageID: id, Status: status, Attempt: 1, NextAt: at(next)}}})
	}
	equal(t, "behind a row whose time has not come", due(4), []string{"cancel", "to carol", "other talk"})
	equal(t, "the head of each line", due(5), []string{"cancel", "to carol", "other talk", "first"})
	deliver("first", store.Pending, 9)
	equal(t, "behind a row to be sent again", due(8), []string{"cancel", "to carol", "other talk"})
	deliver("first", store.Delivered, 0)
	equal(t, "after the head was delivered", due(8), []string{"cancel", "second", "to carol", "other talk"})
	deliver("second", store.Returned, 0)
	deliver("to carol", store.Dead, 0)
	deliver("other talk", store.Dropped, 0)
	equal(t, "an overtaking row that nothing stands before", due(8), []string{"cancel"})

	commit(t, s, store.WriteSet{Outbox: []store.Outbox{outgoing(alice, "c", bob, "third", at(6))}})
	equal(t, "behind a row that overtakes", due(8), []string{"cancel", "third"})
}

func nextTime(t *testing.T, fresh func() Place) {
	s := fresh()()
	x := exchange(key(alice, "c", bob), "agreed")
	x.State.ReplyBy = at(40)
	cancel := outgoing(alice, "c", bob, "cancel", at(30))
	cancel.Overtakes = true
	commit(t, s, store.WriteSet{Exchanges: []store.Exchange{x}, Outbox: []store.Outbox{
		outgoing(alice, "c", bob, "first", at(20)), outgoing(alice, "c", bob, "second", at(10)), cancel}})
	for _, c := range []struct{ now, next int }{{0, 20}, {10, 20}, {20, 30}, {29, 30}, {30, 40}, {39, 40}} {
		due := must(s.Due(t.Context(), []string{alice, bob}, at(c.now), 10))(t)
		equal(t, "next", due.Next, at(c.next))
	}
	if next := must(s.Due(t.Context(), []string{alice, bob}, at(40), 10))(t).Next; !next.IsZero() {
		t.Fatalf("next when nothing is to come: got %v, want zero", next)
	}
	commit(t, s, store.WriteSet{Deliveries: []store.Delivery{{Owner: alice, MessageID: "first", Status: store.Delivered}}})
	equal(t, "next after the head left", must(s.Due(t.Context(), []string{alice}, at(5), 10))(t).Next, at(10))
}

func dueBounds(t *testing.T, fresh func() Place) {
	s := fresh()()
	for n, owner := range []string{alice, bob, carol} {
		for i, conversation := range []string{"p", "q", "r"} {
			x := exchange(key(owner, conversation, "agent://local/peer"), "agreed")
			x.State.ReplyBy = at(10*i + n)
			commit(t, s, store.WriteSet{Exchanges: []store.Exchange{x},
				Outbox: []store.Outbox{outgoing(owner, conversation, "agent://local/peer", conversation, at(10*i+n))}})
		}
	}
	due := must(s.Due(t.Context(), []string{bob, alice}, at(100), 3))(t)
	owners := []string{alice, bob, alice}
	talks := []string{"p", "p", "q"}
	equal(t, "owners of timers", mapped(due.Timers, func(x store.Timer) string { return x.Owner }), owners)
	equal(t, "conversations of timers", mapped(due.Timers, func(x store.Timer) string { return x.Conversation }), talks)
	equal(t, "owners of rows", mapped(due.Outbox, func(o store.Outbox) string { return o.Owner }), owners)
	equal(t, "conversations of rows", mapped(due.Outbox, func(o store.Outbox) string { return o.Conversation }), talks)
	equal(t, "due for nobody", must(s.Due(t.Context(), nil, at(100), 3))(t), store.Due{})
}

// dueBehindOthers has others' rows, more than an engine would look through,
// before, among and after those of the owners.
func dueBehindOthers(t *testing.T, fresh func() Place) {
	s := fresh()()
	put := func(owner, conversation string, times ...int) {
		var set store.WriteSet
		for _, ms := range times {
			x := exchange(key(owner, fmt.Sprint(conversation, ms), bob), "agreed")
			x.State.ReplyBy = at(ms)
			set.Exchanges = append(set.Exchanges, x)
			set.Outbox = append(set.Outbox, outgoing(owner, x.Conversation, bob, x.Conversation, at(ms)))
		}
		commit(t, s, set)
	}
	for n := range 500 {
		put(carol, fmt.Sprint("gone", n, "-"), n%7, 7500, 9500)
	}
	put(alice, "a", 5000, 5002, 8000, 9990)
	put(bob, "b", 5001, 5003, 9000)
	asked := []string{bob, "agent://local/idle", alice, bob}
	for _, c := range []struct {
		now, limit int
		talks      []string
		next       int
	}{
		{4000, 9, nil, 5000},
		{5000, 9, []string{"a5000"}, 5001},
		{7000, 3, []string{"a5000", "b5001", "a5002"}, 8000},
		{7000, 9, []string{"a5000", "b5001", "a5002", "b5003"}, 8000},
		{8000, 0, nil, 9000},
		{8999, 9, []string{"a5000", "b5001", "a5002", "b5003", "a8000"}, 9000},
		{9000, 1, []string{"a5000"}, 9990},
		{9000, 9, []string{"a5000", "b5001", "a5002", "b5003", "a8000", "b9000"}, 9990},
	} {
		due := must(s.Due(t.Context(), asked, at(c.now), c.limit))(t)
		what := fmt.Sprintf(" at %d, at most %d", c.now, c.limit)
		equal(t, "timers"+what, mapped(due.Timers, func(x store.Timer) string { return x.Conversation }), c.talks)
		equal(t, "rows"+what, mapped(due.Outbox, idOf), c.talks)
		equal(t, "next"+what, due.Next, at(c.next))
	}
	equal(t, "what is due of everybody", len(must(s.Due(t.Context(), []string{alice, bob, carol}, at(6000), 1000))(t).Outbox), 504)
	last := must(s.Due(t.Context(), asked, at(9990), 9))(t)
	equal(t, "next when only others have something to come", last.Next.IsZero(), true)
}

func longLine(t *testing.T, fresh func() Place) {
	s := fresh()()
	const items = 1000
	var rows []store.Outbox
	for n := range items {
		rows = append(rows, outgoing(alice, "c", bob, fmt.Sprintf("%04d", n), at(0)))
	}
	commit(t, s, store.WriteSet{Outbox: rows})
	deliver := func(id string, status store.OutboxStatus) {
		commit(t, s, store.WriteSet{Deliveries: []store.Delivery{{Owner: alice, MessageID: id, Status: status, Attempt: 1, NextAt: at(0)}}})
	}
	due := func() []string { return mapped(must(s.Due(t.Context(), []string{alice}, at(1), 10))(t).Outbox, idOf) }
	for n := 0; n < items; n += 2 { // each second one leaves out of its turn
		deliver(fmt.Sprintf("%04d", n+1), store.Returned)
	}
	for n := 0; n < items; n += 2 {
		equal(t, "the head of the line", due(), []string{rows[n].MessageID})
		deliver(rows[n].MessageID, store.Pending)
		equal(t, "the head to be sent again", due(), []string{rows[n].MessageID})
		deliver(rows[n].MessageID, store.Delivered)
	}
	equal(t, "when all have left", len(due()), 0)
}

func dropUnsent(t *testing.T, fresh func() Place) {
	s := fresh()()
	x := exchange(key(alice, "c", bob), "agreed")
	overtaking := outgoing(alice, "c", bob, "overtaking", at(0))
	overtaking.Overtakes = true
	tried := store.Delivery{Owner: alice, MessageID: "tried", Status: store.Pending, Attempt: 1, NextAt: at(0)}
	commit(t, s, store.WriteSet{Exchanges: []store.Exchange{x}, Outbox: []store.Outbox{outgoing(alice, "c", bob, "tried", at(0)),
		outgoing(alice, "c", bob, "unsent", at(0)), overtaking,
		outgoing(alice, "c", carol, "carol", at(0)), outgoing(bob, "c", bob, "bob", at(0))}})
	commit(t, s, store.WriteSet{Deliveries: []store.Delivery{tried}})
	x.Version = 1
	commit(t, s, store.WriteSet{Exchanges: []store.Exchange{x}, DropUnsent: []store.Key{x.Key}, Outbox: []store.Outbox{outgoing(alice, "c", bob, "new", at(0))}})

	status := map[string]store.OutboxStatus{}
	for _, k := range []store.Key{x.Key, key(alice, "c", carol), key(bob, "c", bob)} {
		for _, row := range must(s.Outbox(t.Context(), k))(t) {
			status[row.MessageID] = row.Status
		}
	}
	equal(t, "statuses", status, map[string]store.OutboxStatus{"tried": store.Pending, "unsent": store.Dropped,
		"overtaking": store.Pending, "carol": store.Pending, "bob": store.Pending, "new": store.Pending})
}

func dropSeveral(t *testing.T, fresh func() Place) {
	s := fresh()()
	var rows []store.Outbox
	for _, owner := range []string{alice, bob} {
		for _, receiver := range []string{alice, bob, carol} {
			rows = append(rows, outgoing(owner, "c", receiver, "to "+receiver, at(0)))
		}
	}
	commit(t, s, store.WriteSet{Outbox: rows})
	x := exchange(key(alice, "c", alice), "agreed")
	// None of the keys is that of an exchange in the set, and some have no
	// rows or no exchange at all.
	commit(t, s, store.WriteSet{Exchanges: []store.Exchange{x}, Outbox: []store.Outbox{outgoing(alice, "c", bob, "new", at(0))},
		DropUnsent: []store.Key{key(alice, "c", bob), key(alice, "c", carol), key(alice, "other", bob), key(carol, "c", bob), key(alice, "c", bob)}})
	for _, row := range rows {
		want := store.Pending
		if row.Owner == alice && row.Receiver != alice {
			want = store.Dropped
		}
		equal(t, "status of what "+row.Owner+" sends to "+row.Receiver, must(s.Outbox(t.Context(), row.Key()))(t)[0].Status, want)
	}
	equal(t, "status of what the set posts", must(s.Outbox(t.Context(), key(alice, "c", bob)))(t)[1].Status, store.Pending)
}

func deliveries(t *testing.T, fresh func() Place) {
	s := fresh()()
	row := outgoing(alice, "c", bob, "m", at(0))
	commit(t, s, store.WriteSet{Outbox: []store.Outbox{row}})
	k := row.Key()
	deliver := func(d store.Delivery) store.Outbox {
		d.Owner, d.MessageID = alice, "m"
		commit(t, s, store.WriteSet{Deliveries: []store.Delivery{d}})
		return must(s.Outbox(t.Context(), k))(t)[0]
	}
	row.Attempt, row.NextAt, row.LastError = 2, at(7), "connection refused"
	equal(t, "to be sent again", deliver(store.Delivery{Status: store.Pending, Attempt: 2, NextAt: at(7), LastError: "connection refused"}), row)
	row.Status, row.Attempt, row.LastError = store.Delivered, 3, ""
	equal(t, "delivered", deliver(store.Delivery{Status: store.Delivered, Attempt: 3, NextAt: at(7)}), row)
	equal(t, "a later answer", deliver(store.Delivery{Status: store.Dead, Attempt: 4, NextAt: at(8), LastError: "late"}), row)
	refused(t, s, store.WriteSet{Deliveries: []store.Delivery{{Owner: bob, MessageID: "m", Status: store.Delivered}}}, store.ErrNotFound)
}

func outboxRows(t *testing.T, fresh func() Place) {
	s := fresh()()
	row := outgoing(alice, "c", bob, "z", at(0))
	row.Status, row.Overtakes, row.NextAt = store.Delivered, true, at(0).AddDate(-60, 0, 0)
	commit(t, s, store.WriteSet{Outbox: []store.Outbox{row, {Owner: alice, MessageID: "a", Conversation: "c", Receiver: bob}}})
	row.Status = store.Pending
	equal(t, "rows in the order of commit", must(s.Outbox(t.Context(), row.Key()))(t), []store.Outbox{row,
		{Owner: alice, MessageID: "a", Conversation: "c", Receiver: bob, Status: store.Pending}})
	equal(t, "one row", must(s.OutboxRow(t.Context(), alice, "z"))(t), row)
	is(t, "another owner's row", second(s.OutboxRow(t.Context(), bob, "z")), store.ErrNotFound)
	equal(t, "a row without a time is due", mapped(must(s.Due(t.Context(), []string{alice}, at(0), 9))(t).Outbox, idOf), []string{"a", "z"})
	refused(t, s, store.WriteSet{Outbox: []store.Outbox{outgoing(alice, "d", carol, "z", at(0))}}, store.ErrDuplicate)
	commit(t, s, store.WriteSet{Outbox: []store.Outbox{outgoing(bob, "d", carol, "z", at(0))}})
}
