package sqlite

import (
	"fmt"

	"github.com/parley-agents/parley/store"
)

// prepared is a write set with all worked out that needs no look at the store.
// Its caller does that, so that the writer, which all wait for, need not.
type prepared struct {
	store.WriteSet
	exchanges []*exchangeRow
	entries   []*entryRow
	letters   []letterRow
	size      int // about how many bytes it writes
}

// usualState is how many bytes of JSON most states are at most.
const usualState = 768

// exchangeRow is what an exchange writes.
type exchangeRow struct {
	store.Key
	kept    *store.Exchange // as it is read afterwards
	version int64
	timer   store.Timer
	// values begin with those that every step writes or is found by, and go on with
	// those of its end and its timer.
	values []any
}

// How many values those statements take that leave alone what seldom changes.
const (
	moveValues = 10
	turnValues = 14
)

// entryRow is what a log entry writes, but for its place in the log.
type entryRow struct {
	store.Entry
	parts
}

// letterRow is what a dead letter writes.
type letterRow struct {
	store.DeadLetter
	parts
}

func prepare(set store.WriteSet) (*prepared, error) {
	p := &prepared{WriteSet: set}
	if err := set.Check(); err != nil {
		return p, err
	}
	for i := range set.Exchanges {
		row, err := prepareExchange(&set.Exchanges[i])
		if err != nil {
			return p, err
		}
		p.exchanges = append(p.exchanges, row)
	}
	p.entries = make([]*entryRow, 0, len(set.Entries))
	for _, e := range set.Entries {
		p.entries = append(p.entries, &entryRow{e, take(e.Envelope)})
		p.size += len(e.Envelope) + len(e.Note)
	}
	for _, d := range set.Bury {
		p.letters = append(p.letters, letterRow{d, take(d.Envelope)})
		p.size += len(d.Envelope)
	}
	for _, t := range set.Turns {
		p.size += len(t.Data)
	}
	return p, nil
}

func prepareExchange(x *store.Exchange) (*exchangeRow, error) {
	row := &exchangeRow{Key: x.Key, version: x.Version, kept: readBack(x), timer: x.NextTimer()}
	body, err := x.State.AppendJSON(make([]byte, 0, usualState))
	if err != nil {
		return row, fmt.Errorf("%s: %w", row, err)
	}
	row.values = []any{
		x.State.Protocol, string(x.State.Role), string(x.State.State), string(body), x.Final, x.MovedAt.UnixMilli(),
		x.Owner, x.Conversation, x.Peer, x.Version,
		string(x.State.Outcome()), millis(x.EndedAt), string(row.timer.Name), millis(row.timer.At),
		x.Correlation, x.Parent.Conversation, x.Parent.Peer, millis(x.OpenedAt), x.Task, x.Mailbox,
	}
	return row, nil
}

// String says what writing the row does.
func (x *exchangeRow) String() string {
	return fmt.Sprintf("write the exchange of %s with %s in conversation %s", x.Owner, x.Peer, x.Conversation)
}
