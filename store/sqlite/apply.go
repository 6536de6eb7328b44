package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/parley-agents/parley/store"
)

// apply writes one set in the transaction that is open. It ends at the first
// part that does not fit; the caller then rolls back.
func (w *writer) apply(ctx context.Context, set *prepared) error {
	w.clean = true
	opens := len(set.exchanges) > 0 && set.exchanges[0].version == 0
	if opens {
		if err := w.acceptOpening(ctx, set); err != nil {
			return err
		}
	}
	if err := each(ctx, w, set.exchanges, w.putExchange); err != nil {
		return err
	}
	if err := each(ctx, w, set.entries, w.appendEntry); err != nil {
		return err
	}
	if !opens {
		if err := each(ctx, w, set.Accept, w.acceptInbox); err != nil {
			return err
		}
	}
	if err := each(ctx, w, set.Leases, w.lease); err != nil {
		return err
	}
	if err := each(ctx, w, set.Settle, w.settleInbox); err != nil {
		return err
	}
	if err := each(ctx, w, set.DropUnsent, w.dropUnsent); err != nil {
		return err
	}
	if err := each(ctx, w, set.Outbox, w.post); err != nil {
		return err
	}
	if err := each(ctx, w, set.Deliveries, w.deliver); err != nil {
		return err
	}
	if err := each(ctx, w, set.Redrive, w.redrive); err != nil {
		return err
	}
	if err := each(ctx, w, set.Claim, w.claimEffect); err != nil {
		return err
	}
	if err := each(ctx, w, set.Effects, w.putEffect); err != nil {
		return err
	}
	if err := each(ctx, w, set.Release, w.releaseEffect); err != nil {
		return err
	}
	if err := each(ctx, w, set.Turns, w.insertTurn); err != nil {
		return err
	}
	if err := each(ctx, w, set.letters, w.bury); err != nil {
		return err
	}
	if err := each(ctx, w, set.Unbury, w.unbury); err != nil {
		return err
	}
	return each(ctx, w, set.Answers, w.answer)
}

// each writes parts of a set. One that does not fit writes nothing of itself.
func each[T any](ctx context.Context, w *writer, list []T, write func(context.Context, T) error) error {
	for _, one := range list {
		if err := write(ctx, one); err != nil {
			return err
		}
		w.clean = false
	}
	return nil
}

// exec runs a statement and reports whether it changed a row.
func exec(ctx context.Context, stmt *sql.Stmt, args ...any) (changed bool, err error) {
	result, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// exists reports whether a query finds a row.
func exists(ctx context.Context, stmt *sql.Stmt, args ...any) (bool, error) {
	var one int
	err := stmt.QueryRowContext(ctx, args...).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

func (w *writer) putExchange(ctx context.Context, x *exchangeRow) error {
	put := w.openExchange
	if x.version != 0 {
		put = w.moveExchange
	}
	written, err := put(ctx, x)
	if err == nil && !written {
		err = store.ErrConflict
	}
	if err != nil {
		return fmt.Errorf("%s: %w", x, err)
	}
	w.changes.exchange(x)
	return nil
}

func (w *writer) openExchange(ctx context.Context, x *exchangeRow) (written bool, err error) {
	if err := w.firstUnder(ctx, task{x.Owner, x.kept.Task}); err != nil {
		return false, fmt.Errorf("what is under its task: %w", err)
	}
	return w.stmt.insertExchange.exec(ctx, x.values...)
}

// moveExchange writes a step. What it is found by, such as its correlation, hardly
// ever changes, and neither do its end and its timer until it ends: a statement that
// does not name them leaves their indexes alone.
func (w *writer) moveExchange(ctx context.Context, x *exchangeRow) (written bool, err error) {
	before, known := w.changes.now(x.Key).(*store.Exchange)
	switch now := x.kept; {
	case !known || before.Version != x.version || before.Correlation != now.Correlation || before.Parent != now.Parent ||
		before.Task != now.Task || before.Mailbox != now.Mailbox || !before.OpenedAt.Equal(now.OpenedAt):
		return exec(ctx, w.stmt.updateExchange, x.values...)
	case before.State.Done() || now.State.Done() || !before.EndedAt.Equal(now.EndedAt) || before.NextTimer() != x.timer:
		return w.stmt.turnExchange.exec(ctx, x.values[:turnValues]...)
	}
	return w.stmt.moveExchange.exec(ctx, x.values[:moveValues]...)
}

// firstUnder notes that nothing is under a task yet, if so: who asks what is there
// need then not look for it.
func (w *writer) firstUnder(ctx context.Context, t task) error {
	if t.name == "" || w.changes.now(t) != nil {
		return nil
	}
	found, err := w.stmt.underTask.exists(ctx, t.owner, t.name)
	if err == nil && !found {
		w.changes.set(t, []store.Key(nil), keyBytes)
	}
	return err
}

func (w *writer) appendEntry(ctx context.Context, e *entryRow) error {
	if err := w.place(ctx, e); err != nil {
		return fmt.Errorf("append to the log of %s in conversation %s: %w", e.Owner, e.Conversation, err)
	}
	w.heads.put(chain{e.Owner, e.Conversation}, head{e.Index, e.Hash})
	w.changes.entry(e.Entry)
	return nil
}

// place writes an entry at the end of its log. A log of which nothing is remembered
// has most likely not begun; where it ends is looked up only if it has.
func (w *writer) place(ctx context.Context, e *entryRow) error {
	if err := w.putBody(ctx, e.parts); err != nil {
		return err
	}
	c := chain{e.Owner, e.Conversation}
	end, known := w.heads.get(c)
	link(&e.Entry, end)
	written, err := w.insertEntry(ctx, e)
	if err == nil && !written && !known {
		if end, err = w.look(ctx, c); err != nil {
			return err
		}
		link(&e.Entry, end)
		written, err = w.insertEntry(ctx, e)
	}
	if err == nil && !written {
		err = fmt.Errorf("there is an entry %d already", e.Index)
	}
	return err
}

// insertEntry writes an entry beside its envelope, or beside what the blob
// that holds the body of a large one leaves of it.
func (w *writer) insertEntry(ctx context.Context, e *entryRow) (written bool, err error) {
	return w.stmt.append.exec(ctx, e.Owner, e.Conversation, e.Index, e.Hash[:], e.Peer, string(e.Kind),
		millis(e.At), string(e.Event), string(e.From), string(e.To), e.MessageID, e.Digest[:], e.Reason, e.rest, e.blob, e.Note, e.cut)
}

func (w *writer) acceptInbox(ctx context.Context, i store.Inbox) error {
	written, err := w.stmt.accept.exec(ctx, i.Recipient, i.Sender, i.MessageID, i.Digest[:], i.Conversation, i.Seq,
		string(i.Status), i.Attempt, millis(i.LeaseUntil), millis(i.LeaseUntil), i.Runs, millis(i.AcceptedAt), millis(i.ExpiresAt))
	if err == nil && !written {
		err = store.ErrDuplicate
	}
	if err != nil {
		return fmt.Errorf("accept message %s of %s: %w", i.MessageID, i.Sender, err)
	}
	w.changes.accepted(i)
	return nil
}

// acceptOpening accepts what opens an exchange before that is written: one that
// comes again, and would open another one, then leaves nothing to be undone.
func (w *writer) acceptOpening(ctx context.Context, set *prepared) error {
	err := each(ctx, w, set.Accept, w.acceptInbox)
	if !errors.Is(err, store.ErrDuplicate) {
		return err
	}
	x := set.exchanges[0]
	switch open, failed := exists(ctx, w.stmt.opened, x.Owner, x.Conversation, x.Peer); {
	case failed != nil:
		return failed
	case open:
		return fmt.Errorf("%s: %w", x, store.ErrConflict)
	}
	return err
}

func (w *writer) lease(ctx context.Context, l store.Lease) error {
	err := w.leased(ctx, &w.stmt.lease, l.InboxKey, millis(l.Until), l.Recipient, l.Sender, l.MessageID, l.Fence)
	if err != nil {
		return fmt.Errorf("lease message %s of %s under fence %d: %w", l.MessageID, l.Sender, l.Fence, err)
	}
	w.changes.inbox(l.InboxKey, func(i store.Inbox) store.Inbox { return i.Leased(instant(l.Until)) })
	return nil
}

func (w *writer) settleInbox(ctx context.Context, s store.Settlement) error {
	err := w.leased(ctx, &w.stmt.settle, s.InboxKey, s.Recipient, s.Sender, s.MessageID, s.Fence)
	if err != nil {
		return fmt.Errorf("settle message %s of %s under fence %d: %w", s.MessageID, s.Sender, s.Fence, err)
	}
	w.changes.inbox(s.InboxKey, func(i store.Inbox) store.Inbox {
		i.Status = store.Settled
		return i
	})
	return nil
}

// leased runs a statement that changes an inbox row if it is in progress
// under the caller's fence, and tells why it did not.
func (w *writer) leased(ctx context.Context, stmt *direct, k store.InboxKey, args ...any) error {
	changed, err := stmt.exec(ctx, args...)
	if err != nil || changed {
		return err
	}
	found, err := exists(ctx, w.stmt.accepted, k.Recipient, k.Sender, k.MessageID)
	switch {
	case err != nil:
		return err
	case found:
		return store.ErrFenced
	default:
		return store.ErrNotFound
	}
}
