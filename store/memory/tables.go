package memory

import (
	"encoding/json"
	"time"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// tables are the records by key, and the orders and groups in which they are
// looked for. No value of a table is changed but by put, drop, add and remove,
// so that a write can be undone.
type tables struct {
	meta       *store.Meta
	identities map[string][]byte
	exchanges  map[store.Key]exchange
	timers     map[store.Key]store.Timer // where one runs
	logs       map[talk][]store.Entry
	messages   map[message]int // the first entry about each, from 0
	inbox      map[store.InboxKey]store.Inbox
	outbox     map[letter]outgoing
	lines      map[store.Key][]letter // every letter of an exchange, in order
	effects    map[store.EffectKey]store.Effect
	turns      map[store.Key]map[int]store.Turn
	letters    map[store.DeadKey]buried
	commands   map[string]store.Command
	pins       map[string]store.Pin
	callbacks  map[store.CallbackKey]store.Callback

	live     groups[string, store.Key]
	talks    groups[talk, store.Key]
	children groups[store.Key, store.Key]
	business groups[business, store.Key]
	tasks    groups[task, store.Key]
	open     groups[string, store.InboxKey] // what is in progress, by recipient

	running *ordered[store.Timer]
	waiting *ordered[waiter]
	leaving *ordered[departure]
	asked   *ordered[request]
	boxes   *ordered[box]

	// last is the place given to the last exchange, outbox row or dead letter,
	// and undo is how
	// to take back what the commit in hand has written so far.
	last int64
	undo []func()
}

// talk names a log.
type talk struct{ owner, conversation string }

// message names the entries of a log about a message.
type message struct {
	store.Key
	kind store.EntryKind
	id   string
}

// business names the exchanges of an owner that are correlated.
type business struct{ owner, correlation string }

// letter names an outbox row.
type letter struct{ owner, messageID string }

// exchange is a stored exchange and its place in the order of opening. The
// whole state is kept as JSON, so that nobody shares memory with it; the
// exchange itself has only the state's name.
type exchange struct {
	store.Exchange
	state []byte
	place int64
}

func newTables() tables {
	return tables{
		identities: map[string][]byte{},
		exchanges:  map[store.Key]exchange{},
		timers:     map[store.Key]store.Timer{},
		logs:       map[talk][]store.Entry{},
		messages:   map[message]int{},
		inbox:      map[store.InboxKey]store.Inbox{},
		outbox:     map[letter]outgoing{},
		lines:      map[store.Key][]letter{},
		effects:    map[store.EffectKey]store.Effect{},
		turns:      map[store.Key]map[int]store.Turn{},
		letters:    map[store.DeadKey]buried{},
		commands:   map[string]store.Command{},
		pins:       map[string]store.Pin{},
		callbacks:  map[store.CallbackKey]store.Callback{},

		live:     groups[string, store.Key]{},
		talks:    groups[talk, store.Key]{},
		children: groups[store.Key, store.Key]{},
		business: groups[business, store.Key]{},
		tasks:    groups[task, store.Key]{},
		open:     groups[string, store.InboxKey]{},

		running: newOrdered(byTime),
		waiting: newOrdered(inLine),
		leaving: newOrdered(inTime),
		asked:   newOrdered(byAsking),
		boxes:   newOrdered(byMove),
	}
}

// put writes one value so that it can be undone.
func put[K comparable, V any](t *tables, table map[K]V, k K, v V) {
	keep(t, table, k)
	table[k] = v
}

// drop removes one value so that it can be undone.
func drop[K comparable, V any](t *tables, table map[K]V, k K) {
	keep(t, table, k)
	delete(table, k)
}

func keep[K comparable, V any](t *tables, table map[K]V, k K) {
	old, had := table[k]
	t.undo = append(t.undo, func() {
		if had {
			table[k] = old
		} else {
			delete(table, k)
		}
	})
}

// add puts a value into an ordered set so that it can be undone.
func add[T any](t *tables, set *ordered[T], v T) {
	if set.add(v) {
		t.undo = append(t.undo, func() { set.remove(v) })
	}
}

// remove takes a value out of an ordered set so that it can be undone.
func remove[T any](t *tables, set *ordered[T], v T) {
	if set.remove(v) {
		t.undo = append(t.undo, func() { set.add(v) })
	}
}

// groups are the members of each group. A group without members is absent.
type groups[G, M comparable] map[G]map[M]bool

// join makes m a member of a group, or none, so that it can be undone.
func join[G, M comparable](t *tables, all groups[G, M], g G, m M, member bool) {
	if all[g][m] == member {
		return
	}
	t.undo = append(t.undo, func() { all.set(g, m, !member) })
	all.set(g, m, member)
}

func (all groups[G, M]) set(g G, m M, member bool) {
	switch {
	case member && all[g] == nil:
		all[g] = map[M]bool{m: true}
	case member:
		all[g][m] = true
	default:
		delete(all[g], m)
		if len(all[g]) == 0 {
			delete(all, g)
		}
	}
}

// rollback undoes what the commit in hand has written, last first.
func (t *tables) rollback() {
	for i := len(t.undo) - 1; i >= 0; i-- {
		t.undo[i]()
	}
}

func (t *tables) next() int64 {
	t.last++
	return t.last
}

// read is a copy of the exchange that shares nothing with the table.
func (x exchange) read() (store.Exchange, error) {
	out := x.Exchange
	out.State = protocol.Exchange{}
	err := json.Unmarshal(x.state, &out.State)
	return out, err
}

// clock is a time as every engine keeps it: UTC, in whole milliseconds.
func clock(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.UnixMilli(t.UnixMilli()).UTC()
}
