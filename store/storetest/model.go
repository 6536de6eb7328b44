package storetest

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/parley-agents/parley/store"
)

// model is a store as its documentation describes it, as plain slices in the
// order in which rows were first written.
type model struct {
	exchanges []store.Exchange
	entries   []store.Entry
	inbox     []store.Inbox
	outbox    []store.Outbox
	effects   map[store.EffectKey]store.Effect
	turns     []store.Turn
	letters   []store.DeadLetter
	commands  []store.Command
	callbacks map[store.CallbackKey]store.Callback
	pins      map[string]store.Pin
}

func (m *model) clone() *model {
	return &model{slices.Clone(m.exchanges), slices.Clone(m.entries), slices.Clone(m.inbox), slices.Clone(m.outbox),
		maps.Clone(m.effects), slices.Clone(m.turns), slices.Clone(m.letters), slices.Clone(m.commands), maps.Clone(m.callbacks), maps.Clone(m.pins)}
}

func pick[T any](list []T, want func(T) bool) []T {
	var out []T
	for _, v := range list {
		if want(v) {
			out = append(out, v)
		}
	}
	return out
}

func (m *model) exchange(k store.Key) (i int, version int64) {
	i = slices.IndexFunc(m.exchanges, func(x store.Exchange) bool { return x.Key == k })
	if i < 0 {
		return i, 0
	}
	return i, m.exchanges[i].Version
}

// commit writes the set and returns nothing, or writes nothing and returns
// every reason why it does not fit.
func (m *model) commit(w store.WriteSet) (next *model, faults []error) {
	n := m.clone()
	fault := func(err error) { faults = append(faults, err) }
	for _, x := range w.Exchanges {
		i, version := n.exchange(x.Key)
		if version != x.Version {
			fault(store.ErrConflict)
		}
		x.Version++
		if i < 0 {
			n.exchanges = append(n.exchanges, x)
		} else {
			n.exchanges[i] = x
		}
	}
	for _, e := range w.Entries {
		e.Index = int64(len(n.log(e.Owner, e.Conversation, 0)) + 1)
		n.entries = append(n.entries, e)
	}
	for _, row := range w.Accept {
		if slices.ContainsFunc(n.inbox, func(i store.Inbox) bool { return i.InboxKey == row.InboxKey }) {
			fault(store.ErrDuplicate)
		}
		n.inbox = append(n.inbox, row)
	}
	for _, l := range w.Leases {
		if err := n.renew(l.InboxKey, l.Fence, l.Until); err != nil {
			fault(err)
		}
	}
	for _, s := range w.Settle {
		i := slices.IndexFunc(n.inbox, func(i store.Inbox) bool { return i.InboxKey == s.InboxKey })
		switch {
		case i < 0:
			fault(store.ErrNotFound)
		case n.inbox[i].Status != store.InProgress || n.inbox[i].Attempt != s.Fence:
			fault(store.ErrFenced)
		default:
			n.inbox[i].Status = store.Settled
		}
	}
	n.send(w, fault)
	for _, e := range w.Claim {
		if _, taken := n.effects[e.EffectKey]; taken {
			fault(store.ErrDuplicate)
		}
		n.effects[e.EffectKey] = e
	}
	for _, e := range w.Effects {
		n.effects[e.EffectKey] = e
	}
	for _, k := range w.Release {
		delete(n.effects, k)
	}
	for _, turn := range w.Turns {
		if slices.ContainsFunc(n.turns, func(t store.Turn) bool { return t.Key == turn.Key && t.Ordinal == turn.Ordinal }) {
			fault(store.ErrDuplicate)
		}
		n.turns = append(n.turns, turn)
	}
	n.operate(w, fault)
	if len(faults) > 0 {
		return m, faults
	}
	return n, nil
}

func (m *model) send(w store.WriteSet, fault func(error)) {
	for i, o := range m.outbox {
		if slices.Contains(w.DropUnsent, o.Key()) && o.Status == store.Pending && o.Attempt == 0 && !o.Overtakes {
			m.outbox[i].Status = store.Dropped
		}
	}
	row := func(owner, id string) int {
		return slices.IndexFunc(m.outbox, func(o store.Outbox) bool { return o.Owner == owner && o.MessageID == id })
	}
	for _, o := range w.Outbox {
		if row(o.Owner, o.MessageID) >= 0 {
			fault(store.ErrDuplicate)
		}
		o.Status = store.Pending
		m.outbox = append(m.outbox, o)
	}
	for _, d := range w.Deliveries {
		i := row(d.Owner, d.MessageID)
		if i < 0 {
			fault(store.ErrNotFound)
		} else if o := &m.outbox[i]; o.Status == store.Pending {
			o.Status, o.Attempt, o.NextAt, o.LastError = d.Status, d.Attempt, d.NextAt, d.LastError
		}
	}
	for _, r := range w.Redrive {
		switch i := row(r.Owner, r.MessageID); {
		case i < 0:
			fault(store.ErrNotFound)
		case m.outbox[i].Status != store.Pending:
			fault(store.ErrNotPending)
		default:
			m.outbox[i].NextAt = r.NextAt
		}
	}
}

// operate buries, unburies and answers.
func (m *model) operate(w store.WriteSet, fault func(error)) {
	unbury := func(k store.DeadKey) {
		m.letters = slices.DeleteFunc(m.letters, func(d store.DeadLetter) bool { return d.DeadKey == k })
	}
	for _, d := range w.Bury {
		unbury(d.DeadKey)
		m.letters = append(m.letters, d)
	}
	for _, k := range w.Unbury {
		unbury(k)
	}
	for _, a := range w.Answers {
		i := slices.IndexFunc(m.commands, func(c store.Command) bool { return c.ID == a.ID })
		switch {
		case i < 0:
			fault(store.ErrNotFound)
		case !m.commands[i].DoneAt.IsZero():
			fault(store.ErrDuplicate)
		default:
			m.commands[i].DoneAt, m.commands[i].Answer = a.At, a.Answer
		}
	}
}

func (m *model) post(c store.Command) error {
	if slices.ContainsFunc(m.commands, func(o store.Command) bool { return o.ID == c.ID }) {
		return store.ErrDuplicate
	}
	m.commands = append(m.commands, c)
	return nil
}

func (m *model) takeOver(owner string) []store.Inbox {
	var taken []store.Inbox
	for i, row := range m.inbox {
		if row.Recipient == owner && row.Status == store.InProgress {
			if held := row.LeaseUntil.Sub(row.FirstUntil); held > time.Hour {
				row.Runs = 1
			} else if !row.LeaseUntil.IsZero() {
				row.Runs++
			}
			row.Attempt, row.LeaseUntil, row.FirstUntil = row.Attempt+1, time.Time{}, time.Time{}
			m.inbox[i] = row
			taken = append(taken, row)
		}
	}
	slices.SortFunc(taken, func(a, b store.Inbox) int { return a.AcceptedAt.Compare(b.AcceptedAt) })
	return taken
}

func (m *model) renew(k store.InboxKey, fence int64, until time.Time) error {
	i := slices.IndexFunc(m.inbox, func(i store.Inbox) bool { return i.InboxKey == k })
	switch {
	case i < 0:
		return store.ErrNotFound
	case m.inbox[i].Status != store.InProgress || m.inbox[i].Attempt != fence:
		return store.ErrFenced
	}
	if m.inbox[i].LeaseUntil.IsZero() || until.IsZero() {
		m.inbox[i].FirstUntil = until
	}
	m.inbox[i].LeaseUntil = until
	return nil
}

// conversations are those of the owner, newest first.
func (m *model) conversations(owner string) []store.Conversation {
	var all []store.Conversation
	for _, x := range m.exchanges {
		if x.Owner != owner || slices.ContainsFunc(all, func(c store.Conversation) bool { return c.ID == x.Conversation }) {
			continue
		}
		c := store.Conversation{Owner: owner, ID: x.Conversation, Protocol: x.State.Protocol, State: store.Over, OpenedAt: x.OpenedAt}
		for _, e := range m.log(owner, x.Conversation, 0) {
			if e.MessageID != "" {
				c.Messages++
			}
		}
		for _, y := range pick(m.exchanges, func(y store.Exchange) bool { return y.Owner == owner && y.Conversation == x.Conversation }) {
			c.Peers = append(c.Peers, y.Peer)
			if !y.State.Done() {
				c.State = store.Live
			}
			if y.EndedAt.After(c.EndedAt) {
				c.EndedAt = y.EndedAt
			}
		}
		if c.State == store.Live {
			c.EndedAt = time.Time{}
		}
		slices.Sort(c.Peers)
		all = append(all, c)
	}
	slices.Reverse(all)
	return all
}

func (m *model) log(owner, conversation string, after int64) []store.Entry {
	return pick(m.entries, func(e store.Entry) bool { return e.Owner == owner && e.Conversation == conversation && e.Index > after })
}

// leaves is the rule of the outbox: the row at i may leave when its time has
// come.
func (m *model) leaves(i int) bool {
	o := m.outbox[i]
	return o.Status == store.Pending && (o.Overtakes || !slices.ContainsFunc(m.outbox[:i], func(e store.Outbox) bool {
		return e.Key() == o.Key() && e.Status == store.Pending && !e.Overtakes
	}))
}

// due is Due for one owner, with timers in no particular order among equals.
func (m *model) due(owner string, now time.Time) store.Due {
	var due store.Due
	sooner := func(t time.Time) {
		if due.Next.IsZero() || t.Before(due.Next) {
			due.Next = t
		}
	}
	for _, x := range m.exchanges {
		next := store.Timer{Key: x.Key}
		for name, t := range x.State.Timers() {
			if next.Name == "" || t.Before(next.At) || t.Equal(next.At) && name < next.Name {
				next.Name, next.At = name, t
			}
		}
		switch {
		case x.Owner != owner || next.Name == "":
		case next.At.After(now):
			sooner(next.At)
		default:
			due.Timers = append(due.Timers, next)
		}
	}
	for i, o := range m.outbox {
		switch {
		case o.Owner != owner || !m.leaves(i):
		case o.NextAt.After(now):
			sooner(o.NextAt)
		default:
			due.Outbox = append(due.Outbox, o)
		}
	}
	sortTimers(due.Timers)
	slices.SortStableFunc(due.Outbox, func(a, b store.Outbox) int { return leavesFirst(a, b, now) })
	return due
}

// leavesFirst orders what is due at now: by priority, unless its time came more
// than half a minute ago, and then by time.
func leavesFirst(a, b store.Outbox, now time.Time) int {
	place := func(o store.Outbox) int { return slices.Index([]string{"high", "", "low"}, o.Priority) }
	rank := func(o store.Outbox) int {
		if now.Sub(o.NextAt) > 30*time.Second {
			return 0
		}
		return place(o)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), a.NextAt.Compare(b.NextAt), cmp.Compare(place(a), place(b)))
}

// sortTimers orders timers by time, and equals by name, so that two engines'
// lists can be compared.
func sortTimers(list []store.Timer) {
	slices.SortFunc(list, func(a, b store.Timer) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Conversation, b.Conversation), cmp.Compare(a.Peer, b.Peer), cmp.Compare(a.Name, b.Name))
	})
}
