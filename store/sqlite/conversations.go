package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/parley-agents/parley/store"
)

// Owners implements store.Store.
func (s *Store) Owners(ctx context.Context) ([]string, error) {
	var owners []string
	err := s.snapshot(ctx, func(in inTx) (err error) {
		owners, err = s.ownersIn(ctx, in)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the owners: %w", err)
	}
	return owners, nil
}

func (s *Store) ownersIn(ctx context.Context, in inTx) ([]string, error) {
	started, err := list(ctx, in(s.query.identities), scanText)
	if err != nil {
		return nil, err
	}
	spoke, err := list(ctx, in(s.query.owners), scanText)
	if err != nil {
		return nil, err
	}
	return slices.Compact(slices.Sorted(slices.Values(append(started, spoke...)))), nil
}

// Conversations implements store.Store. Each owner costs a look-up, and each
// conversation of the answer two.
func (s *Store) Conversations(ctx context.Context, owner string, limit int) ([]store.Conversation, error) {
	var found []store.Conversation
	err := s.snapshot(ctx, func(in inTx) error {
		newest, err := s.newestIn(ctx, in, owner, max(limit, 0))
		if err != nil {
			return err
		}
		for _, n := range newest {
			exchanges, err := list(ctx, in(s.query.inConversation), scanExchange, n.owner, n.conversation)
			if err != nil {
				return err
			}
			messages, err := list(ctx, in(s.query.messages), scanCount, n.owner, n.conversation)
			if err != nil {
				return err
			}
			found = append(found, store.Summary(exchanges, messages[0]))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the conversations: %w", err)
	}
	return found, nil
}

// opening is the first exchange of a conversation.
type opening struct {
	id                  int64
	owner, conversation string
}

// newestIn finds the conversations that were opened last, the last one first.
func (s *Store) newestIn(ctx context.Context, in inTx, owner string, limit int) ([]opening, error) {
	owners := []string{owner}
	if owner == "" {
		var err error
		if owners, err = s.ownersIn(ctx, in); err != nil {
			return nil, err
		}
	}
	var newest []opening
	for _, owner := range owners {
		more, err := list(ctx, in(s.query.newest), scanOpening, owner, limit)
		if err != nil {
			return nil, err
		}
		newest = append(newest, more...)
	}
	slices.SortFunc(newest, func(a, b opening) int { return cmp.Compare(b.id, a.id) })
	return newest[:min(len(newest), limit)], nil
}

func scanOpening(r row) (o opening, err error) {
	err = r.Scan(&o.id, &o.owner, &o.conversation)
	return o, err
}

func scanText(r row) (text string, err error) {
	err = r.Scan(&text)
	return text, err
}

func scanCount(r row) (n int, err error) {
	err = r.Scan(&n)
	return n, err
}
