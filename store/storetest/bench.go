package storetest

import (
	"fmt"
	"testing"

	"github.com/parley-agents/parley/store"
)

// Benchmark measures that what one message costs stays the same, however many
// agents a store has, and however long a conversation has become. Each group
// reports beside its time how many times that of its first member it is.
func Benchmark(b *testing.B, fresh func(b *testing.B) store.Store) {
	for _, c := range []struct {
		name  string
		sizes []int
		begin func(b *testing.B, s store.Store, size int) (one func(n int))
	}{
		{"looking for what is due, owners", []int{10, 1000, 10_000}, lookForDue},
		{"looking for what is due behind rows of an owner who left, owners", []int{10, 1000, 10_000}, lookBehindOthers},
		{"looking for an urgent message behind due ones", []int{10, 1000, 10_000}, lookPastOthers},
		{"an item of a stream, after", []int{10, 1000, 10_000}, streamItem},
		{"an item of a stream, behind waiting", []int{10, 1000, 10_000}, waitingItem},
		{"an exchange of a conversation, after", []int{10, 1000, 10_000}, oneMore},
		{"a page of what a peer reads, of", []int{10, 1000, 10_000}, turnPage},
	} {
		base := 0.0
		for _, size := range c.sizes {
			b.Run(fmt.Sprint(c.name, "=", size), func(b *testing.B) {
				one := c.begin(b, fresh(b), size)
				n := 0
				for b.Loop() {
					one(n)
					n++
				}
				took := float64(b.Elapsed()) / float64(n)
				if size == c.sizes[0] {
					base = took
				}
				b.ReportMetric(took/base, "x-first")
			})
		}
	}
}

func write(b *testing.B, s store.Store, set store.WriteSet) {
	b.Helper()
	if err := s.Commit(b.Context(), set); err != nil {
		b.Fatal(err)
	}
}

// populate gives each of some owners an exchange with a timer and a message.
// Those of the first ten are due at once.
func populate(b *testing.B, s store.Store, size int) (owners []string) {
	var set store.WriteSet
	for n := range size {
		x := exchange(key(fmt.Sprintf("agent://local/agent-%05d", n), "c", bob), "agreed")
		when := at(0)
		if n >= 10 {
			when = at(1000 + n)
		}
		x.State.ReplyBy = when
		set.Exchanges = append(set.Exchanges, x)
		set.Outbox = append(set.Outbox, outgoing(x.Owner, "c", bob, "m", when))
		owners = append(owners, x.Owner)
	}
	write(b, s, set)
	return owners
}

func lookForDue(b *testing.B, s store.Store, size int) func(int) {
	owners := populate(b, s, size)
	return func(int) {
		due, err := s.Due(b.Context(), owners, at(500), 64)
		if err != nil || len(due.Timers) != 10 || len(due.Outbox) != len(due.Timers) {
			b.Fatal(len(due.Timers), len(due.Outbox), err)
		}
	}
}

func lookBehindOthers(b *testing.B, s store.Store, size int) func(int) {
	const left = 100_000
	var set store.WriteSet
	for n := range left {
		set.Outbox = append(set.Outbox, outgoing(carol, fmt.Sprint(n), bob, fmt.Sprint(n), at(-n)))
	}
	write(b, s, set)
	return lookForDue(b, s, size)
}

func lookPastOthers(b *testing.B, s store.Store, size int) func(int) {
	set := store.WriteSet{Outbox: []store.Outbox{urgent(alice, "high", 400)}}
	for n := range size {
		set.Outbox = append(set.Outbox, urgent(alice, "low", -n), urgent(alice, "normal", -n))
	}
	write(b, s, set)
	return func(int) {
		due, err := s.Due(b.Context(), []string{alice}, at(500), 5)
		if err != nil || len(due.Outbox) != 5 || due.Outbox[0].Priority != "high" {
			b.Fatal(len(due.Outbox), err)
		}
	}
}

func item(n int) string { return fmt.Sprintf("item-%08d", n) }

// send is what a host does with one message: it logs and posts it, finds it
// due, reads it back, and records that it was sent and what came of it.
func send(b *testing.B, s store.Store, x *store.Exchange, id string, now int) {
	e := entry(x.Owner, x.Conversation, id)
	e.Peer = x.Peer
	write(b, s, store.WriteSet{Exchanges: []store.Exchange{*x}, Entries: []store.Entry{e},
		Outbox: []store.Outbox{outgoing(x.Owner, x.Conversation, x.Peer, id, at(now))}})
	x.Version++
	due, err := s.Due(b.Context(), []string{alice}, at(now), 64)
	if err != nil || len(due.Outbox) != 1 {
		b.Fatal(len(due.Outbox), err)
	}
	row, err := s.OutboxRow(b.Context(), x.Owner, due.Outbox[0].MessageID)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.Message(b.Context(), row.Key(), store.Sent, row.MessageID); err != nil {
		b.Fatal(err)
	}
	for _, status := range []store.OutboxStatus{store.Pending, store.Delivered} {
		write(b, s, store.WriteSet{Deliveries: []store.Delivery{{Owner: row.Owner, MessageID: row.MessageID, Status: status, Attempt: 1, NextAt: at(now)}}})
	}
}

func stream(b *testing.B, s store.Store, size int, status store.OutboxStatus) *store.Exchange {
	x := exchange(key(alice, "c", bob), "agreed")
	set := store.WriteSet{Exchanges: []store.Exchange{x}}
	for n := range size {
		id := fmt.Sprint("before-", n)
		set.Entries = append(set.Entries, entry(alice, "c", id))
		set.Outbox = append(set.Outbox, outgoing(alice, "c", bob, id, at(0)))
		if status != store.Pending {
			set.Deliveries = append(set.Deliveries, store.Delivery{Owner: alice, MessageID: id, Status: status})
		}
	}
	write(b, s, set)
	x.Version = 1
	return &x
}

func streamItem(b *testing.B, s store.Store, size int) func(int) {
	x := stream(b, s, size, store.Delivered)
	return func(n int) { send(b, s, x, item(n), 0) }
}

func waitingItem(b *testing.B, s store.Store, size int) func(int) {
	x := stream(b, s, size, store.Pending)
	return func(n int) { send(b, s, x, item(n), 0) }
}

func oneMore(b *testing.B, s store.Store, size int) func(int) {
	var set store.WriteSet
	for n := range size {
		set.Exchanges = append(set.Exchanges, exchange(key(alice, "c", fmt.Sprint("before-", n)), "agreed"))
	}
	write(b, s, set)
	return func(n int) {
		x := exchange(key(alice, "c", item(n)), "agreed")
		send(b, s, &x, item(n), 0)
		if _, err := s.Exchange(b.Context(), x.Key); err != nil {
			b.Fatal(err)
		}
	}
}

func turnPage(b *testing.B, s store.Store, size int) func(int) {
	var set store.WriteSet
	for n := range size {
		set.Exchanges = append(set.Exchanges, mailbox(bob, fmt.Sprintf("t%05d", n), n/2))
	}
	write(b, s, set)
	q := store.MailboxQuery{Owner: alice, Peer: bob, Correlation: "corr", Limit: 4, After: store.MailboxPlace{MovedAt: at(size / 4), Task: "t"}}
	return func(int) {
		if page, err := s.Mailboxes(b.Context(), q); err != nil || len(page) != 4 {
			b.Fatal(len(page), err)
		}
	}
}
