package sqlite

import (
	"sync"
)

// keptBytes is about how many bytes of records are remembered at least, and half
// of how many at most: of conversations at work, not of all.
const keptBytes = 2 << 20

// recent remembers the records that the writer wrote last, and that some were not
// there when they were looked for, so that a conversation's next step need not ask
// SQLite for what it has just written. It is no second truth: nobody but this
// store's writer changes those records while it has the file open, and what a
// transaction changes is not told from before it is committed until after, so
// that whoever reads finds either what stood before or what stands now, from
// wherever it comes. What becomes of a record that cannot be told from here is not
// remembered.
//
// Keys are of the types store.Key, store.InboxKey, store.EffectKey, chain, task and
// talk. A value is what a read returns, a pointer to that for an exchange, or absent.
type recent struct {
	mu         sync.Mutex
	young, old map[any]memory
	bytes      int // of the young
	// barred are the changes of the transaction that is being committed, whose keys
	// say nothing meanwhile: none does if closed. looked are those that are looked up
	// in the file.
	barred map[any]memory
	closed bool
	looked map[any]*lookup
}

// usualChanges is how many records a batch of write sets changes when there are many
// callers.
const usualChanges = 64

// memory is a value and about how many bytes it takes.
type memory struct {
	value any
	bytes int
}

// absent: there is no such record.
type absent struct{}

// task and talk name what is under a task and in a conversation: the keys of
// exchanges, in the order in which they are listed.
type (
	task struct{ owner, name string }
	talk struct{ owner, conversation string }
)

// lookup is one or more reads of a record from the file at once.
type lookup struct {
	reads int
	// stale: the record may have changed since the first of them began.
	stale bool
}

// get returns what is remembered under a key.
func (r *recent) get(k any) (value any, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.find(k)
}

func (r *recent) find(k any) (value any, ok bool) {
	if _, changing := r.barred[k]; changing {
		return nil, false
	}
	m, ok := r.young[k]
	if !ok {
		if m, ok = r.old[k]; ok {
			r.put(k, m)
		}
	}
	return m.value, ok
}

func (r *recent) put(k any, m memory) {
	if r.young == nil || r.bytes >= keptBytes {
		r.young, r.old, r.bytes = make(map[any]memory), r.young, 0
	}
	r.bytes += m.bytes - r.young[k].bytes
	r.young[k] = m
}

func (r *recent) drop(k any) {
	r.bytes -= r.young[k].bytes
	delete(r.young, k)
	delete(r.old, k)
}

// look is called before a record is read from the file. The value that learned is
// told is remembered, unless it is nil or the record may have changed meanwhile.
func (r *recent) look(k any) (learned func(value any, bytes int)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.looked == nil {
		r.looked = make(map[any]*lookup)
	}
	l := r.looked[k]
	if l == nil {
		l = &lookup{}
		r.looked[k] = l
	}
	l.reads++
	_, changing := r.barred[k]
	l.stale = l.stale || r.closed || changing
	return func(value any, bytes int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if l.reads--; l.reads == 0 {
			delete(r.looked, k)
		}
		if value != nil && !l.stale {
			r.put(k, memory{value, bytes})
		}
	}
}

// bar keeps what a transaction changes from being told, before it is committed.
func (r *recent) bar(c *changes) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.all {
		r.young, r.old, r.bytes, r.closed = nil, nil, 0, true
		for _, l := range r.looked {
			l.stale = true
		}
		return
	}
	r.barred = c.made
	for k, l := range r.looked {
		if _, changing := c.made[k]; changing {
			l.stale = true
		}
	}
}

// admit puts in what a transaction has changed, after it was committed; nil if it
// was not, and the file has to say what stands.
func (r *recent) admit(c *changes) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c == nil {
		for k := range r.barred {
			r.drop(k)
		}
	}
	r.barred, r.closed = nil, false
	if c == nil || c.all {
		return
	}
	for k, m := range c.made {
		if m.value != nil {
			r.put(k, m)
		} else {
			r.drop(k)
		}
	}
}

// changes are what the open transaction has made of records, as far as it is known:
// a value of nil says that it is not.
type changes struct {
	of   *recent
	made map[any]memory
	// all: anything may have changed.
	all bool
}

func (c *changes) reset(of *recent) { *c = changes{of: of, made: make(map[any]memory, usualChanges)} }

func (c *changes) set(k, value any, bytes int) { c.made[k] = memory{value, bytes} }

func (c *changes) unknown(k any) { c.made[k] = memory{} }

// now is a record as the transaction has it, nil if that is not known.
func (c *changes) now(k any) any {
	if m, changed := c.made[k]; changed {
		return m.value
	}
	value, _ := c.of.get(k)
	return value
}

// forget says that what was noted of the transaction so far may have been undone.
func (c *changes) forget() {
	for k := range c.made {
		c.unknown(k)
	}
}
