package sqlite

import (
	"context"
	"fmt"

	"github.com/parley-agents/parley/store"
)

// Post implements store.Store.
func (s *Store) Post(ctx context.Context, c store.Command) error {
	err := c.Check()
	if err == nil {
		err = s.hand(ctx, newJob(0, func(ctx context.Context, w *writer) error { return w.keepCommand(ctx, c) }))
	}
	if err != nil {
		return fmt.Errorf("post command %s: %w", c.ID, err)
	}
	return nil
}

func (w *writer) keepCommand(ctx context.Context, c store.Command) error {
	w.clean = true // it writes last if at all
	written, err := exec(ctx, w.stmt.keepCommand, commandValues(c)...)
	if err == nil && !written {
		err = store.ErrDuplicate
	}
	return err
}

const keepCommand = `INSERT INTO command (id, verb, owner, conversation, peer, message_id, source, asked_by, at_ms, answer, error)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '', '') ON CONFLICT DO NOTHING`

func commandValues(c store.Command) []any {
	return []any{c.ID, c.Verb, c.Owner, c.Conversation, c.Peer, c.MessageID, string(c.Source), c.By, millis(c.At)}
}

func (w *writer) answer(ctx context.Context, a store.CommandAnswer) error {
	changed, err := exec(ctx, w.stmt.answer, millis(a.At), a.Answer, a.Error, a.ID)
	if err == nil && !changed {
		var found bool
		if found, err = exists(ctx, w.stmt.asked, a.ID); err == nil {
			err = store.ErrNotFound
			if found {
				err = store.ErrDuplicate
			}
		}
	}
	if err != nil {
		return fmt.Errorf("answer command %s: %w", a.ID, err)
	}
	return nil
}

// Commands implements store.Store. It passes over commands that wait for
// others, which are as many as operators have asked for.
func (s *Store) Commands(ctx context.Context, owners []string, limit int) (found []store.Command, err error) {
	if limit <= 0 {
		return nil, nil
	}
	asked := s.owners.Of(owners)
	err = s.read(ctx, func() error {
		return visit(ctx, s.query.commands, scanCommand, func(c store.Command) bool {
			if asked[c.Owner] {
				found = append(found, c)
			}
			return len(found) < limit
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list the commands: %w", err)
	}
	return found, nil
}

// Command implements store.Store.
func (s *Store) Command(ctx context.Context, id string) (store.Command, error) {
	return one(ctx, s, "command "+id, s.query.command, scanCommand, id)
}
