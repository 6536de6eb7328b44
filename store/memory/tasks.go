package memory

import (
	"cmp"
	"context"
	"iter"
	"math"
	"time"

	"github.com/parley-agents/parley/store"
)

// task names the exchanges of an owner that are read in one place.
type task struct{ owner, name string }

// box is an exchange in the order in which its peer lists what it reads.
type box struct {
	owner, peer string
	moved       time.Time
	task        string
	key         store.Key
}

// boxOf is the box of an exchange, and whether it is listed.
func boxOf(x store.Exchange) (box, bool) {
	return box{x.Owner, x.Peer, clock(x.MovedAt), x.Task, x.Key}, x.Mailbox && x.Parent == store.Key{}
}

// byMove orders the boxes of a peer, the one that moved last first.
func byMove(a, b box) int {
	return cmp.Or(cmp.Compare(a.owner, b.owner), cmp.Compare(a.peer, b.peer), b.moved.Compare(a.moved),
		cmp.Compare(a.task, b.task), byKey(a.key, b.key))
}

// rebox moves an exchange from where the old one is listed to its own place.
func (t *tables) rebox(old, x store.Exchange) {
	if b, listed := boxOf(old); listed {
		remove(t, t.boxes, b)
	}
	if b, listed := boxOf(x); listed {
		add(t, t.boxes, b)
	}
	if old.Task != "" {
		join(t, t.tasks, task{old.Owner, old.Task}, old.Key, false)
	}
	if x.Task != "" {
		join(t, t.tasks, task{x.Owner, x.Task}, x.Key, true)
	}
}

// Tasks implements store.Store.
func (s *Store) Tasks(ctx context.Context, owner, name string) ([]store.Exchange, error) {
	return s.listed(ctx, func(t *tables) map[store.Key]bool { return t.tasks[task{owner, name}] })
}

// Mailboxes implements store.Store.
func (s *Store) Mailboxes(ctx context.Context, q store.MailboxQuery) (found []store.Exchange, err error) {
	err = s.locked(ctx, func(t *tables) error {
		for k := range t.mailboxes(q) {
			if q.Limit > 0 && len(found) == q.Limit {
				break
			}
			x, err := t.exchanges[k].read()
			if err != nil {
				return err
			}
			found = append(found, x)
		}
		return nil
	})
	return found, err
}

// mailboxes are what a query is about, in order.
func (t *tables) mailboxes(q store.MailboxQuery) iter.Seq[store.Key] {
	after := store.MailboxPlace{MovedAt: clock(q.After.MovedAt), Task: q.After.Task}
	return func(yield func(store.Key) bool) {
		first := box{owner: q.Owner, peer: q.Peer, moved: time.UnixMilli(math.MaxInt64)}
		if q.After != (store.MailboxPlace{}) {
			first.moved, first.task = after.MovedAt, after.Task
		}
		for b := range t.boxes.from(first) {
			if b.owner != q.Owner || b.peer != q.Peer || b.moved.Before(q.Since) {
				return
			}
			seen := q.After != (store.MailboxPlace{}) && b.moved.Equal(after.MovedAt) && b.task == after.Task
			if !seen && (q.Correlation == "" || t.exchanges[b.key].Correlation == q.Correlation) && !yield(b.key) {
				return
			}
		}
	}
}

// CountMailboxes implements store.Store.
func (s *Store) CountMailboxes(ctx context.Context, q store.MailboxQuery) (n int, err error) {
	q.After = store.MailboxPlace{}
	err = s.locked(ctx, func(t *tables) error {
		for range t.mailboxes(q) {
			n++
		}
		return nil
	})
	return n, err
}
