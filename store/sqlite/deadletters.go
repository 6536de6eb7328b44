package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/parley-agents/parley/store"
)

func letterValues(k store.DeadKey) []any {
	return []any{k.Owner, string(k.Source), k.Peer, k.MessageID, k.Digest[:]}
}

func (w *writer) bury(ctx context.Context, d letterRow) error {
	// Written over, it counts as new: its place among letters of one time is
	// the last.
	err := w.unbury(ctx, d.DeadKey)
	if err == nil {
		err = w.insertLetter(ctx, d)
	}
	if err != nil {
		return fmt.Errorf("bury message %s of %s: %w", d.MessageID, d.Owner, err)
	}
	return nil
}

func (w *writer) insertLetter(ctx context.Context, d letterRow) error {
	if err := w.putBody(ctx, d.parts); err != nil {
		return err
	}
	_, err := w.stmt.bury.ExecContext(ctx, append(letterValues(d.DeadKey), d.Conversation, d.Reason, d.LastError, d.Attempts,
		millis(d.At), d.rest, d.cut, d.blob)...)
	return err
}

func (w *writer) unbury(ctx context.Context, k store.DeadKey) error {
	var blob []byte
	err := w.stmt.buriedBlob.QueryRowContext(ctx, letterValues(k)...).Scan(&blob)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		_, err = w.stmt.unbury.ExecContext(ctx, letterValues(k)...)
	}
	if err == nil && blob != nil {
		_, err = w.stmt.dropBlob.ExecContext(ctx, blob)
	}
	if err != nil {
		return fmt.Errorf("remove the dead letter %s of %s: %w", k.MessageID, k.Owner, err)
	}
	return nil
}

// DeadLetters implements store.Store.
func (s *Store) DeadLetters(ctx context.Context, owner string, limit int) ([]store.DeadLetter, error) {
	if owner == "" {
		return many(ctx, s, "the dead letters", s.query.letters, scanLetter, max(limit, 0))
	}
	return many(ctx, s, "the dead letters of "+owner, s.query.lettersOf, scanLetter, owner, max(limit, 0))
}

// DeadLetter implements store.Store.
func (s *Store) DeadLetter(ctx context.Context, k store.DeadKey) (store.DeadLetter, error) {
	what := fmt.Sprintf("the dead letter %s of %s from the %s", k.MessageID, k.Owner, k.Source)
	return one(ctx, s, what, s.query.letter, scanLetter, letterValues(k)...)
}
