package sqlite

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/parley-agents/parley/protocol"
	"github.com/parley-agents/parley/store"
)

// About how many bytes records take in memory, beside what they hold of
// envelopes and notes.
const (
	exchangeBytes = 1 << 10
	rowBytes      = 512
	entryBytes    = 512
	keyBytes      = 256
)

// A tail is at most so many entries, and so many bytes; what is asked for and
// answered at once comes to so many.
const (
	usualEntries = 4
	tailEntries  = 64
	tailBytes    = 128 << 10
)

// tail are the last entries of a log, without a gap, up to its end.
type tail struct {
	entries []store.Entry
	bytes   int
}

func (t tail) whole() bool { return len(t.entries) > 0 && t.entries[0].Index == 1 }

// with is the tail with one more entry. What others have of it stays.
func (t tail) with(e store.Entry) tail {
	size := func(e store.Entry) int { return entryBytes + len(e.Envelope) + len(e.Note) }
	for len(t.entries) > 0 && (len(t.entries) >= tailEntries || t.bytes+size(e) > tailBytes) {
		t.bytes -= size(t.entries[0])
		t.entries = t.entries[1:]
	}
	if t.entries == nil {
		t.entries = make([]store.Entry, 0, usualEntries)
	}
	return tail{append(t.entries, e), t.bytes + size(e)}
}

// exchange notes an exchange that was written.
func (c *changes) exchange(x *exchangeRow) {
	before, known := c.now(x.Key).(*store.Exchange)
	c.set(x.Key, x.kept, exchangeBytes)
	if in := (talk{x.Owner, x.Conversation}); x.version == 0 {
		if keys, known := c.now(in).([]store.Key); known {
			keys = append(slices.Clip(keys), x.Key)
			slices.SortFunc(keys, func(a, b store.Key) int { return strings.Compare(a.Peer, b.Peer) })
			c.set(in, keys, keyBytes*len(keys))
		} else {
			c.unknown(in)
		}
	}
	if name := x.kept.Task; name != "" && !(known && before.Task == name) {
		c.under(task{x.Owner, name}, x)
	}
}

// under notes that an exchange came under a task.
func (c *changes) under(t task, x *exchangeRow) {
	keys, known := c.now(t).([]store.Key)
	if !known || x.version != 0 { // its place among them is not known
		c.unknown(t)
		return
	}
	c.set(t, append(slices.Clip(keys), x.Key), keyBytes*(len(keys)+1))
}

// entry notes an entry that was appended.
func (c *changes) entry(e store.Entry) {
	k := chain{e.Owner, e.Conversation}
	t, known := c.now(k).(tail)
	switch {
	case known && t.entries[len(t.entries)-1].Index+1 == e.Index:
	case e.Index == 1:
		t = tail{}
	default:
		c.unknown(k)
		return
	}
	e.At = instant(e.At)
	t = t.with(e)
	c.set(k, t, t.bytes)
}

// accepted notes a new inbox row.
func (c *changes) accepted(i store.Inbox) {
	i.LeaseUntil, i.AcceptedAt, i.ExpiresAt = instant(i.LeaseUntil), instant(i.AcceptedAt), instant(i.ExpiresAt)
	i.FirstUntil = i.LeaseUntil
	c.set(i.InboxKey, i, rowBytes)
}

// inbox notes that an inbox row was changed.
func (c *changes) inbox(k store.InboxKey, change func(store.Inbox) store.Inbox) {
	if i, known := c.now(k).(store.Inbox); known {
		c.set(k, change(i), rowBytes)
		return
	}
	c.unknown(k)
}

// effect notes an effect that was written.
func (c *changes) effect(e store.Effect) {
	e.At, e.ExpiresAt = instant(e.At), instant(e.ExpiresAt)
	e.Fingerprint = bytes.Clone(e.Fingerprint)
	c.set(e.EffectKey, e, rowBytes)
}

// instant is a time as it is read back.
func instant(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.UnixMilli(t.UnixMilli()).UTC()
}

// readBack is an exchange as it is read after it was written.
func readBack(written *store.Exchange) *store.Exchange {
	x := *written
	x.Version++
	x.OpenedAt, x.EndedAt, x.MovedAt = instant(x.OpenedAt), instant(x.EndedAt), instant(x.MovedAt)
	if x.Parent.Owner = ""; x.Parent != (store.Key{}) {
		x.Parent.Owner = x.Owner
	}
	x.State = ownState(x.State)
	for _, t := range []*time.Time{&x.State.ReplyBy, &x.State.AgreeBy, &x.State.CancelBy, &x.State.LeaseBy, &x.State.AckBy} {
		if *t = t.UTC(); t.IsZero() {
			*t = time.Time{}
		}
	}
	return &x
}

// own is an exchange that shares nothing with x.
func own(x *store.Exchange) store.Exchange {
	copied := *x
	copied.State = ownState(x.State)
	return copied
}

func ownState(s protocol.Exchange) protocol.Exchange {
	if s.Asked = slices.Clone(s.Asked); len(s.Asked) == 0 {
		s.Asked = nil
	}
	if s.Error != nil {
		s.Error = new(*s.Error)
		if s.Error.Detail != nil {
			s.Error.Detail = new(*s.Error.Detail)
		}
	}
	return s
}

func ownEffect(e store.Effect) store.Effect {
	e.Fingerprint = bytes.Clone(e.Fingerprint)
	return e
}
