package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/parley-agents/parley/store"
)

// Inboxes implements store.Store. Each owner costs a look-up.
func (s *Store) Inboxes(ctx context.Context, owner string, open bool, limit int) (found []store.Inbox, err error) {
	query := s.query.inboxes
	if open {
		query = s.query.openInboxes
	}
	err = s.snapshot(ctx, func(in inTx) error {
		return s.eachOwner(ctx, in(s.query.receivers), owner, func(owner string) error {
			more, err := list(ctx, in(query), scanInbox, owner, max(limit, 0))
			found = append(found, more...)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list the inboxes: %w", err)
	}
	slices.SortStableFunc(found, func(a, b store.Inbox) int { return b.AcceptedAt.Compare(a.AcceptedAt) })
	return cut(found, limit), nil
}

// posting is an outbox row and its place in the order of commits.
type posting struct {
	store.Outbox
	id int64
}

// Outboxes implements store.Store. Each owner costs a look-up for each of the
// statuses.
func (s *Store) Outboxes(ctx context.Context, owner string, limit int, statuses ...store.OutboxStatus) ([]store.Outbox, error) {
	if len(statuses) == 0 {
		statuses = []store.OutboxStatus{store.Pending, store.Delivered, store.Returned, store.Dropped, store.Dead}
	}
	statuses = slices.Compact(slices.Sorted(slices.Values(statuses)))
	var found []posting
	err := s.snapshot(ctx, func(in inTx) error {
		return s.eachOwner(ctx, in(s.query.senders), owner, func(owner string) error {
			for _, status := range statuses {
				more, err := list(ctx, in(s.query.outboxes), scanPosting, owner, string(status), max(limit, 0))
				if err != nil {
					return err
				}
				found = append(found, more...)
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list the outboxes: %w", err)
	}
	slices.SortFunc(found, func(a, b posting) int { return cmp.Compare(b.id, a.id) })
	var rows []store.Outbox
	for _, p := range cut(found, limit) {
		rows = append(rows, p.Outbox)
	}
	return rows, nil
}

// eachOwner runs do for the owner, or for each that a query lists if owner is "".
func (s *Store) eachOwner(ctx context.Context, all *sql.Stmt, owner string, do func(owner string) error) error {
	owners := []string{owner}
	if owner == "" {
		var err error
		if owners, err = list(ctx, all, scanText); err != nil {
			return err
		}
	}
	for _, owner := range owners {
		if err := do(owner); err != nil {
			return fmt.Errorf("of %s: %w", owner, err)
		}
	}
	return nil
}

func cut[T any](list []T, limit int) []T { return list[:min(len(list), max(limit, 0))] }

// after is a row whose first column is read apart from the rest.
type after struct {
	row
	first any
}

func (a after) Scan(into ...any) error { return a.row.Scan(append([]any{a.first}, into...)...) }

func scanPosting(r row) (p posting, err error) {
	p.Outbox, err = scanOutbox(after{r, &p.id})
	return p, err
}
