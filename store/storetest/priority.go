package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/parley-agents/parley/store"
)

// urgent is a row in a line of its own.
func urgent(owner, priority string, next int) store.Outbox {
	id := fmt.Sprint(priority, next)
	o := outgoing(owner, id, bob, id, at(next))
	o.Priority = priority
	return o
}

func priorities(t *testing.T, fresh func() Place) {
	s := fresh()()
	commit(t, s, store.WriteSet{Outbox: []store.Outbox{
		urgent(alice, "low", 1), urgent(alice, "", 2), urgent(alice, "high", 3), urgent(alice, "low", 0), urgent(alice, "normal", 1), urgent(alice, "high", 9),
	}})
	due := func(now time.Time, limit int) []string {
		return mapped(must(s.Due(t.Context(), []string{alice}, now, limit))(t).Outbox, idOf)
	}
	all := []string{"high3", "high9", "normal1", "2", "low0", "low1"}
	equal(t, "by priority", due(at(9), 9), all)
	equal(t, "by priority, cut", due(at(9), 3), all[:3])
	equal(t, "before the time of one", due(at(8), 9), []string{"high3", "normal1", "2", "low0", "low1"})
	equal(t, "next", must(s.Due(t.Context(), []string{alice}, at(8), 9))(t).Next, at(9))
	equal(t, "when nothing has waited for long", due(at(0).Add(store.Aging), 9), all)
	// Whatever has waited for long counts as high, earliest first.
	equal(t, "when one has", due(at(1).Add(store.Aging), 9), []string{"low0", "high3", "high9", "normal1", "2", "low1"})
	equal(t, "when more have", due(at(3).Add(store.Aging), 9), []string{"low0", "normal1", "low1", "2", "high3", "high9"})
	equal(t, "when more have, cut", due(at(3).Add(store.Aging), 2), []string{"low0", "normal1"})

	// Priority does not move a row past another one of its line.
	first, second := outgoing(alice, "line", bob, "first", at(0)), outgoing(alice, "line", bob, "second", at(0))
	first.Priority, second.Priority = "low", "high"
	commit(t, s, store.WriteSet{Outbox: []store.Outbox{first, second}})
	equal(t, "an urgent row behind another", due(at(9), 9), append(all[:5:5], "first", "low1"))
	commit(t, s, store.WriteSet{Deliveries: []store.Delivery{{Owner: alice, MessageID: "first", Status: store.Delivered}}})
	equal(t, "an urgent row whose turn has come", due(at(9), 1), []string{"second"})

	bad := urgent(alice, "urgent", 1)
	if err := s.Commit(t.Context(), store.WriteSet{Outbox: []store.Outbox{bad}}); err == nil {
		t.Fatal("a priority that is none was accepted")
	}
}

// priorityBehindOthers has more rows of others in each rank than an engine
// would look through.
func priorityBehindOthers(t *testing.T, fresh func() Place) {
	s := fresh()()
	var set store.WriteSet
	for n := range 200 {
		for _, priority := range []string{"high", "normal", "low"} {
			set.Outbox = append(set.Outbox, urgent(carol, priority, -n))
		}
	}
	for n := range 4 {
		set.Outbox = append(set.Outbox, urgent(alice, "low", 10*n), urgent(bob, "high", 10*n+1), urgent(alice, "normal", 10*n+2))
	}
	commit(t, s, set)
	due := must(s.Due(t.Context(), []string{alice, bob}, at(25), 7))(t)
	equal(t, "rows", mapped(due.Outbox, idOf), []string{"high1", "high11", "high21", "normal2", "normal12", "normal22", "low0"})
	equal(t, "next", due.Next, at(30))
	equal(t, "of everybody", len(must(s.Due(t.Context(), []string{alice, bob, carol}, at(25), 1000))(t).Outbox), 609)
}

func terms(t *testing.T, fresh func() Place) {
	open := fresh()
	s := open()
	row := urgent(alice, "high", 1)
	row.MaxAttempts, row.Backoff, row.Jitter = 7, 1500*time.Millisecond, "full"
	commit(t, s, store.WriteSet{Outbox: []store.Outbox{row}})
	check := func() {
		t.Helper()
		equal(t, "the row", must(s.OutboxRow(t.Context(), alice, row.MessageID))(t), row)
		equal(t, "the row when it is due", must(s.Due(t.Context(), []string{alice}, at(5), 1))(t).Outbox, []store.Outbox{row})
	}
	check()
	commit(t, s, store.WriteSet{Deliveries: []store.Delivery{{Owner: alice, MessageID: row.MessageID, Status: store.Pending, Attempt: 1, NextAt: at(2)}}})
	row.Attempt, row.NextAt = 1, at(2)
	check()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	check()
}

func redrive(t *testing.T, fresh func() Place) {
	s := fresh()()
	first, second, dead := outgoing(alice, "c", bob, "first", at(900)), outgoing(alice, "c", bob, "second", at(0)), outgoing(alice, "d", bob, "dead", at(0))
	commit(t, s, store.WriteSet{Outbox: []store.Outbox{first, second, dead}})
	commit(t, s, store.WriteSet{Deliveries: []store.Delivery{{Owner: alice, MessageID: "dead", Status: store.Dead, NextAt: at(0)}}})
	again := func(id string, next, expires time.Time) store.WriteSet {
		return store.WriteSet{Redrive: []store.Redrive{{Owner: alice, MessageID: id, NextAt: next, ExpiresAt: expires}}}
	}
	due := func() []string { return mapped(must(s.Due(t.Context(), []string{alice}, at(5), 9))(t).Outbox, idOf) }
	refused(t, s, again("dead", at(1), at(2000)), store.ErrNotPending)
	refused(t, s, again("none", at(1), at(2000)), store.ErrNotFound)
	foreign := again("first", at(1), time.Time{})
	foreign.Redrive[0].Owner = bob
	refused(t, s, foreign, store.ErrNotFound)
	equal(t, "due before", len(due()), 0)

	commit(t, s, again("first", at(4), at(2000)))
	first.NextAt, first.ExpiresAt = at(4), at(2000)
	equal(t, "the row", must(s.OutboxRow(t.Context(), alice, "first"))(t), first)
	equal(t, "due", due(), []string{"first"})
	commit(t, s, again("first", at(3), time.Time{}))
	first.NextAt = at(3)
	equal(t, "the row without another end", must(s.OutboxRow(t.Context(), alice, "first"))(t), first)
	commit(t, s, again("second", at(1), time.Time{}))
	equal(t, "behind another row of its line", due(), []string{"first"})

	over := again("first", at(1), time.Time{})
	over.Deliveries = []store.Delivery{{Owner: alice, MessageID: "first", Status: store.Delivered}}
	refused(t, s, over, store.ErrNotPending)
	equal(t, "due after a refusal", due(), []string{"first"})
}
