package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/parley-agents/parley/store"
)

// Sweep implements store.Store. It looks at all records, however small limit
// is.
func (s *Store) Sweep(ctx context.Context, now, before time.Time, limit int) (swept store.Swept, err error) {
	err = s.locked(ctx, func(t *tables) error {
		swept = t.sweep(now, before, max(limit, 0))
		t.undo = nil
		return nil
	})
	return swept, err
}

func (t *tables) sweep(now, before time.Time, limit int) (swept store.Swept) {
	now, before = clock(now), clock(before)
	come := func(at time.Time) bool { return !at.IsZero() && !at.After(now) }
	old := func(at time.Time) bool { return !at.IsZero() && at.Before(before) }

	swept.Inbox = forget(t, t.inbox, limit, &swept.More, func(i store.Inbox) (time.Time, bool) {
		return i.ExpiresAt, i.Status == store.Settled && come(i.ExpiresAt)
	})
	swept.Effects = forget(t, t.effects, limit, &swept.More, func(e store.Effect) (time.Time, bool) {
		return e.ExpiresAt, e.Status == store.Ended && come(e.ExpiresAt)
	})
	swept.Commands = forget(t, t.commands, limit, &swept.More, func(c store.Command) (time.Time, bool) { return c.DoneAt, old(c.DoneAt) })
	swept.DeadLetters = forget(t, t.letters, limit, &swept.More, func(d buried) (time.Time, bool) { return d.At, old(d.At) })

	gone := map[talk]bool{}
	ended := t.endedBefore(before)
	leaned := t.leanedOn()
	for _, k := range ended {
		if len(gone) == limit {
			swept.More = true
			break
		}
		if !leaned[k] && !t.needed(k) {
			gone[k] = true
		}
	}
	t.forgetTalks(gone)
	swept.Conversations = len(gone)
	return swept
}

// forget drops the oldest of the records that may go, at most limit.
func forget[K comparable, V any](t *tables, table map[K]V, limit int, more *bool, may func(V) (time.Time, bool)) int {
	since := map[K]time.Time{}
	for k, v := range table {
		if at, ok := may(v); ok {
			since[k] = at
		}
	}
	oldest := slices.SortedFunc(maps.Keys(since), func(a, b K) int { return since[a].Compare(since[b]) })
	n := min(len(oldest), limit)
	for _, k := range oldest[:n] {
		drop(t, table, k)
	}
	*more = *more || n == limit
	return n
}

// endedBefore lists the conversations all of whose exchanges ended before a
// time, the one that ended first first.
func (t *tables) endedBefore(before time.Time) []talk {
	ended := map[talk]time.Time{}
	for k, members := range t.talks {
		var last time.Time
		all := true
		for m := range members {
			x := t.exchanges[m]
			all = all && x.State.Done() && !x.EndedAt.IsZero() && x.EndedAt.Before(before)
			if x.EndedAt.After(last) {
				last = x.EndedAt
			}
		}
		if all {
			ended[k] = last
		}
	}
	return slices.SortedFunc(maps.Keys(ended), func(a, b talk) int {
		return cmp.Or(ended[a].Compare(ended[b]), cmp.Compare(a.owner, b.owner), cmp.Compare(a.conversation, b.conversation))
	})
}

// leanedOn are the conversations on which records of others lean.
func (t *tables) leanedOn() map[talk]bool {
	leaned := map[talk]bool{}
	for k, e := range t.effects {
		leaned[talk{k.Recipient, e.Conversation}] = true
	}
	for _, d := range t.letters {
		leaned[talk{d.Owner, d.Conversation}] = true
	}
	for k, members := range t.children {
		for m := range members {
			if !t.exchanges[m].State.Done() {
				leaned[talk{k.Owner, k.Conversation}] = true
			}
		}
	}
	return leaned
}

// needed reports whether the work of a live exchange started the conversation,
// the inbox knows a message of it, or something of it is still to be sent.
func (t *tables) needed(k talk) bool {
	for m := range t.talks[k] {
		if p, found := t.exchanges[t.exchanges[m].Parent]; found && !p.State.Done() {
			return true
		}
	}
	for _, e := range t.logs[k] {
		if i, known := t.inbox[received(e)]; known && e.MessageID != "" && !i.ExpiresAt.IsZero() {
			return true
		}
	}
	for w := range t.waiting.from(waiter{line: line{Key: store.Key{Owner: k.owner, Conversation: k.conversation}}}) {
		return w.Owner == k.owner && w.Conversation == k.conversation
	}
	return false
}

// received is the inbox row of the message of an entry, if it was received.
func received(e store.Entry) store.InboxKey {
	return store.InboxKey{Recipient: e.Owner, Sender: e.Peer, MessageID: e.MessageID}
}

// forgetTalks drops everything that belongs to some conversations.
func (t *tables) forgetTalks(gone map[talk]bool) {
	of := func(k store.Key) bool { return gone[talk{k.Owner, k.Conversation}] }
	ended := map[task]bool{}
	for k, x := range t.exchanges {
		if of(k) {
			join(t, t.children, x.Parent, k, false)
			join(t, t.business, business{k.Owner, x.Correlation}, k, false)
			join(t, t.talks, talk{k.Owner, k.Conversation}, k, false)
			t.rebox(x.Exchange, store.Exchange{})
			ended[task{k.Owner, x.Task}] = x.Task != ""
			t.putTimer(k, store.Timer{})
			drop(t, t.exchanges, k)
		}
	}
	for k, letters := range t.lines {
		if of(k) {
			for _, l := range letters {
				drop(t, t.outbox, l)
			}
			drop(t, t.lines, k)
		}
	}
	for k := range t.turns {
		if of(k) {
			drop(t, t.turns, k)
		}
	}
	for k := range t.messages {
		if of(k.Key) {
			drop(t, t.messages, k)
		}
	}
	for k := range gone {
		for _, e := range t.logs[k] {
			if i, known := t.inbox[received(e)]; known && e.MessageID != "" && i.Conversation == e.Conversation && i.ExpiresAt.IsZero() {
				drop(t, t.inbox, i.InboxKey)
				join(t, t.open, i.Recipient, i.InboxKey, false)
			}
		}
		drop(t, t.logs, k)
	}
	for k := range t.callbacks {
		if name := (task{k.Owner, k.Task}); ended[name] && len(t.tasks[name]) == 0 {
			drop(t, t.callbacks, k)
		}
	}
}
