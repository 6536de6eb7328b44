package sqlite

import (
	"context"
	"fmt"

	"github.com/parley-agents/parley/store"
)

func (w *writer) dropUnsent(ctx context.Context, k store.Key) error {
	changed, err := exec(ctx, w.stmt.dropUnsent, k.Owner, k.Conversation, k.Peer)
	if err == nil && changed {
		_, err = w.stmt.moveUp.ExecContext(ctx, k.Owner, k.Conversation, k.Peer)
	}
	if err != nil {
		return fmt.Errorf("drop the unsent messages of %s to %s in conversation %s: %w", k.Owner, k.Peer, k.Conversation, err)
	}
	return nil
}

func (w *writer) post(ctx context.Context, o store.Outbox) error {
	written, err := exec(ctx, w.stmt.insertOutbox, o.Owner, o.MessageID, o.Conversation, o.Receiver, o.Attempt,
		o.NextAt.UnixMilli(), millis(o.ExpiresAt), o.Overtakes, o.LastError,
		int(o.Rank()), o.Priority, o.MaxAttempts, o.Backoff.Milliseconds(), o.Jitter)
	if err == nil && !written {
		err = store.ErrDuplicate
	}
	if err != nil {
		return fmt.Errorf("post message %s of %s: %w", o.MessageID, o.Owner, err)
	}
	return nil
}

func (w *writer) deliver(ctx context.Context, d store.Delivery) error {
	changed, err := exec(ctx, w.stmt.deliver, string(d.Status), d.Attempt, d.NextAt.UnixMilli(), d.LastError, d.Owner, d.MessageID)
	switch {
	case err != nil:
	case !changed:
		var found bool
		if found, err = exists(ctx, w.stmt.posted, d.Owner, d.MessageID); err == nil && !found {
			err = store.ErrNotFound
		}
	case d.Status != store.Pending:
		_, err = w.stmt.moveUpBehind.ExecContext(ctx, d.Owner, d.MessageID)
	}
	if err != nil {
		return fmt.Errorf("record the delivery of message %s of %s: %w", d.MessageID, d.Owner, err)
	}
	return nil
}

func (w *writer) redrive(ctx context.Context, r store.Redrive) error {
	changed, err := exec(ctx, w.stmt.redrive, r.NextAt.UnixMilli(), millis(r.ExpiresAt), r.Owner, r.MessageID)
	if err == nil && !changed {
		var found bool
		if found, err = exists(ctx, w.stmt.posted, r.Owner, r.MessageID); err == nil {
			err = store.ErrNotFound
			if found {
				err = store.ErrNotPending
			}
		}
	}
	if err != nil {
		return fmt.Errorf("send message %s of %s at another time: %w", r.MessageID, r.Owner, err)
	}
	return nil
}

func (w *writer) claimEffect(ctx context.Context, e store.Effect) error {
	changed, err := w.stmt.claimEffect.exec(ctx, effectValues(e)...)
	if err == nil && !changed {
		err = store.ErrDuplicate
	}
	if err != nil {
		return fmt.Errorf("claim effect %s of %s: %w", e.Key, e.Sender, err)
	}
	w.changes.effect(e)
	return nil
}

func (w *writer) putEffect(ctx context.Context, e store.Effect) error {
	// Written over where it was claimed, it leaves the index of conversations alone.
	written, err := w.stmt.endEffect.exec(ctx, e.Fingerprint, string(e.Status), millis(e.At), millis(e.ExpiresAt),
		e.Recipient, e.Sender, e.Capability, e.Key, e.Conversation)
	if err == nil && !written {
		_, err = w.stmt.putEffect.ExecContext(ctx, effectValues(e)...)
	}
	if err != nil {
		return fmt.Errorf("write effect %s of %s: %w", e.Key, e.Sender, err)
	}
	w.changes.effect(e)
	return nil
}

func effectValues(e store.Effect) []any {
	return []any{e.Recipient, e.Sender, e.Capability, e.Key, e.Fingerprint, e.Conversation, string(e.Status), millis(e.At), millis(e.ExpiresAt)}
}

func (w *writer) releaseEffect(ctx context.Context, k store.EffectKey) error {
	if _, err := w.stmt.release.ExecContext(ctx, k.Recipient, k.Sender, k.Capability, k.Key); err != nil {
		return fmt.Errorf("release effect %s of %s: %w", k.Key, k.Sender, err)
	}
	w.changes.set(k, absent{}, keyBytes)
	return nil
}

func (w *writer) insertTurn(ctx context.Context, t store.Turn) error {
	written, err := exec(ctx, w.stmt.insertTurn, t.Owner, t.Conversation, t.Peer, t.Ordinal, string(t.Kind), t.Name, t.Data, millis(t.At))
	if err == nil && !written {
		err = store.ErrDuplicate
	}
	if err != nil {
		return fmt.Errorf("record turn %d of %s in conversation %s: %w", t.Ordinal, t.Owner, t.Conversation, err)
	}
	return nil
}
