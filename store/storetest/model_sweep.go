package storetest

import (
	"maps"
	"slices"
	"time"

	"github.com/parley-agents/parley/store"
)

// sweep forgets all that may be forgotten.
func (m *model) sweep(now, before time.Time) {
	m.inbox = slices.DeleteFunc(m.inbox, func(i store.Inbox) bool {
		return i.Status == store.Settled && !i.ExpiresAt.IsZero() && !i.ExpiresAt.After(now)
	})
	maps.DeleteFunc(m.effects, func(_ store.EffectKey, e store.Effect) bool {
		return e.Status == store.Ended && !e.ExpiresAt.After(now)
	})
	m.commands = slices.DeleteFunc(m.commands, func(c store.Command) bool { return !c.DoneAt.IsZero() && c.DoneAt.Before(before) })
	m.letters = slices.DeleteFunc(m.letters, func(d store.DeadLetter) bool { return d.At.Before(before) })

	type name struct{ owner, conversation string }
	going := map[name]bool{}
	for _, x := range m.exchanges {
		if n := (name{x.Owner, x.Conversation}); !m.kept(n.owner, n.conversation, before) {
			going[n] = true
		}
	}
	of := func(k store.Key) bool { return going[name{k.Owner, k.Conversation}] }
	for _, e := range m.entries {
		if going[name{e.Owner, e.Conversation}] && e.MessageID != "" {
			k := store.InboxKey{Recipient: e.Owner, Sender: e.Peer, MessageID: e.MessageID}
			m.inbox = slices.DeleteFunc(m.inbox, func(i store.Inbox) bool {
				return i.InboxKey == k && i.Conversation == e.Conversation && i.ExpiresAt.IsZero()
			})
		}
	}
	ended := map[name]bool{}
	for _, x := range m.exchanges {
		if of(x.Key) && x.Task != "" {
			ended[name{x.Owner, x.Task}] = true
		}
	}
	m.exchanges = slices.DeleteFunc(m.exchanges, func(x store.Exchange) bool { return of(x.Key) })
	m.entries = slices.DeleteFunc(m.entries, func(e store.Entry) bool { return going[name{e.Owner, e.Conversation}] })
	m.outbox = slices.DeleteFunc(m.outbox, func(o store.Outbox) bool { return of(o.Key()) })
	m.turns = slices.DeleteFunc(m.turns, func(t store.Turn) bool { return of(t.Key) })
	for _, x := range m.exchanges {
		delete(ended, name{x.Owner, x.Task})
	}
	maps.DeleteFunc(m.callbacks, func(k store.CallbackKey, _ store.Callback) bool { return ended[name{k.Owner, k.Task}] })
}

// kept reports whether a conversation has not ended before a time or something
// leans on it.
func (m *model) kept(owner, conversation string, before time.Time) bool {
	in := func(k store.Key) bool { return k.Owner == owner && k.Conversation == conversation }
	live := func(k store.Key) bool {
		i, _ := m.exchange(k)
		return i >= 0 && !m.exchanges[i].State.Done()
	}
	for _, x := range m.exchanges {
		if in(x.Key) && (!x.State.Done() || !x.EndedAt.Before(before) || live(x.Parent)) || in(x.Parent) && !x.State.Done() {
			return true
		}
	}
	for _, e := range m.log(owner, conversation, 0) {
		k := store.InboxKey{Recipient: owner, Sender: e.Peer, MessageID: e.MessageID}
		if slices.ContainsFunc(m.inbox, func(i store.Inbox) bool { return i.InboxKey == k && !i.ExpiresAt.IsZero() }) {
			return true
		}
	}
	for k, e := range m.effects {
		if k.Recipient == owner && e.Conversation == conversation {
			return true
		}
	}
	return slices.ContainsFunc(m.outbox, func(o store.Outbox) bool { return in(o.Key()) && o.Status == store.Pending }) ||
		slices.ContainsFunc(m.letters, func(d store.DeadLetter) bool { return d.Owner == owner && d.Conversation == conversation })
}
