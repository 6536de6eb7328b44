package memory

import (
	"encoding/json"
	"time"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// tables are the records by key. Every value in them is replaced and never
// changed, so that undoing a write is putting the old value back.
type tables struct {
	meta       *store.Meta
	identities map[string][]byte
	exchanges  map[store.Key]exchange
	timers     map[store.Key]map[protocol.Timer]time.Time // where one runs
	logs       map[talk][]store.Entry
	inbox      map[store.InboxKey]store.Inbox
	outbox     map[letter]outgoing
	pending    map[letter]bool        // the letters in the outbox that are pending
	lines      map[store.Key][]letter // every letter of an exchange, in order
	effects    map[store.EffectKey]store.Effect
	turns      map[store.Key]map[int]store.Turn

	// last is the place given to the last exchange or letter, and undo is how
	// to take back what the commit in hand has written so far.
	last int64
	undo []func()
}

// talk names a log.
type talk struct{ owner, conversation string }

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

// outgoing is an outbox row and its place in the order of commits.
type outgoing struct {
	store.Outbox
	place int64
}

func newTables() tables {
	return tables{
		identities: map[string][]byte{},
		exchanges:  map[store.Key]exchange{},
		timers:     map[store.Key]map[protocol.Timer]time.Time{},
		logs:       map[talk][]store.Entry{},
		inbox:      map[store.InboxKey]store.Inbox{},
		outbox:     map[letter]outgoing{},
		pending:    map[letter]bool{},
		lines:      map[store.Key][]letter{},
		effects:    map[store.EffectKey]store.Effect{},
		turns:      map[store.Key]map[int]store.Turn{},
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
