package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/parley-agents/parley/store"
)

// keptHeads is how many heads of logs are remembered at least, and half of how
// many at most: of conversations at work, not of all.
const keptHeads = 4096

// chain names a log.
type chain struct{ owner, conversation string }

// head is the end of a log.
type head struct {
	index int64
	hash  sum
}

// heads remembers the ends of the logs that were written last, so that a
// conversation's next step need not look its log up. It holds what the open
// transaction wrote too: whoever rolls back, or changes logs by other means,
// must let it forget.
type heads struct{ young, old map[chain]head }

func (h *heads) get(c chain) (head, bool) {
	found, ok := h.young[c]
	if !ok {
		found, ok = h.old[c]
	}
	return found, ok
}

func (h *heads) put(c chain, end head) {
	if h.young == nil || len(h.young) >= keptHeads {
		h.young, h.old = make(map[chain]head), h.young
	}
	h.young[c] = end
}

func (h *heads) forget() { *h = heads{} }

// look reads where a log ends.
func (w *writer) look(ctx context.Context, c chain) (end head, err error) {
	err = w.stmt.head.QueryRowContext(ctx, c.owner, c.conversation).Scan(&end.index, &end.hash)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return end, err
}

// link gives an entry its place behind the end of its log.
func link(e *store.Entry, end head) {
	e.Index = end.index + 1
	e.Hash = store.Link(end.hash, *e)
}
