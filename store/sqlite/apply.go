package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/parley-agents/parley/store"
)

// apply writes one set in the transaction that is open. It ends at the first
// part that does not fit; the caller then rolls back.
func (w *writer) apply(ctx context.Context, set store.WriteSet) error {
	if err := set.Check(); err != nil {
		return err
	}
	if err := each(ctx, set.Exchanges, w.putExchange); err != nil {
		return err
	}
	if err := each(ctx, set.Entries, w.appendEntry); err != nil {
		return err
	}
	if err := each(ctx, set.Accept, w.acceptInbox); err != nil {
		return err
	}
	if err := each(ctx, set.Settle, w.settleInbox); err != nil {
		return err
	}
	if err := each(ctx, set.DropUnsent, w.dropUnsent); err != nil {
		return err
	}
	if err := each(ctx, set.Outbox, w.post); err != nil {
		return err
	}
	if err := each(ctx, set.Deliveries, w.deliver); err != nil {
		return err
	}
	if err := each(ctx, set.Redrive, w.redrive); err != nil {
		return err
	}
	if err := each(ctx, set.Claim, w.claimEffect); err != nil {
		return err
	}
	if err := each(ctx, set.Effects, w.putEffect); err != nil {
		return err
	}
	if err := each(ctx, set.Release, w.releaseEffect); err != nil {
		return err
	}
	if err := each(ctx, set.Turns, w.insertTurn); err != nil {
		return err
	}
	if err := each(ctx, set.Bury, w.bury); err != nil {
		return err
	}
	if err := each(ctx, set.Unbury, w.unbury); err != nil {
		return err
	}
	return each(ctx, set.Answers, w.answer)
}

func each[T any](ctx context.Context, list []T, write func(context.Context, T) error) error {
	for _, one := range list {
		if err := write(ctx, one); err != nil {
			return err
		}
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

func (w *writer) putExchange(ctx context.Context, x store.Exchange) error {
	what := fmt.Sprintf("write the exchange of %s with %s in conversation %s", x.Owner, x.Peer, x.Conversation)
	body, err := json.Marshal(x.State)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	stmt, args := w.stmt.insertExchange, []any{
		x.State.Protocol, string(x.State.Role), string(x.State.State), string(x.State.Outcome()), string(body),
		x.Correlation, x.Parent.Conversation, x.Parent.Peer, x.Final, millis(x.OpenedAt), millis(x.EndedAt),
		x.Owner, x.Conversation, x.Peer,
	}
	if x.Version != 0 {
		stmt, args = w.stmt.updateExchange, append(args, x.Version)
	}
	written, err := exec(ctx, stmt, args...)
	if err == nil && !written {
		err = store.ErrConflict
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return w.putTimers(ctx, x)
}

func (w *writer) putTimers(ctx context.Context, x store.Exchange) error {
	_, err := w.stmt.clearTimers.ExecContext(ctx, x.Owner, x.Conversation, x.Peer)
	for name, at := range x.State.Timers() {
		if err == nil {
			// Rounded up: a timer that fires before its time is ignored.
			_, err = w.stmt.insertTimer.ExecContext(ctx, x.Owner, x.Conversation, x.Peer, string(name),
				at.Add(time.Millisecond-1).UnixMilli())
		}
	}
	if err != nil {
		return fmt.Errorf("write the timers of %s with %s in conversation %s: %w", x.Owner, x.Peer, x.Conversation, err)
	}
	return nil
}

func (w *writer) appendEntry(ctx context.Context, e store.Entry) error {
	var (
		last int64
		prev sum
	)
	err := w.stmt.head.QueryRowContext(ctx, e.Owner, e.Conversation).Scan(&last, &prev)
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		e.Index = last + 1
		e.Hash = store.Link(prev, e)
		err = w.insertEntry(ctx, e)
	}
	if err != nil {
		return fmt.Errorf("append to the log of %s in conversation %s: %w", e.Owner, e.Conversation, err)
	}
	return nil
}

// insertEntry writes an entry beside its envelope, or beside what the blob
// that holds the body of a large one leaves of it.
func (w *writer) insertEntry(ctx context.Context, e store.Entry) error {
	rest, cut, blob, err := w.keep(ctx, e.Envelope)
	if err != nil {
		return err
	}
	_, err = w.stmt.append.ExecContext(ctx, e.Owner, e.Conversation, e.Index, e.Hash[:], e.Peer, string(e.Kind),
		millis(e.At), string(e.Event), string(e.From), string(e.To), e.MessageID, e.Digest[:], e.Reason, rest, blob, e.Note, cut)
	return err
}

func (w *writer) acceptInbox(ctx context.Context, i store.Inbox) error {
	written, err := exec(ctx, w.stmt.accept, i.Recipient, i.Sender, i.MessageID, i.Digest[:], i.Conversation, i.Seq,
		string(i.Status), i.Attempt, millis(i.LeaseUntil), millis(i.AcceptedAt), millis(i.ExpiresAt))
	if err == nil && !written {
		err = store.ErrDuplicate
	}
	if err != nil {
		return fmt.Errorf("accept message %s of %s: %w", i.MessageID, i.Sender, err)
	}
	return nil
}

func (w *writer) settleInbox(ctx context.Context, s store.Settlement) error {
	err := w.leased(ctx, w.stmt.settle, s.InboxKey, s.Recipient, s.Sender, s.MessageID, s.Fence)
	if err != nil {
		return fmt.Errorf("settle message %s of %s under fence %d: %w", s.MessageID, s.Sender, s.Fence, err)
	}
	return nil
}

// leased runs a statement that changes an inbox row if it is in progress
// under the caller's fence, and tells why it did not.
func (w *writer) leased(ctx context.Context, stmt *sql.Stmt, k store.InboxKey, args ...any) error {
	changed, err := exec(ctx, stmt, args...)
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
