package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"

	"github.com/parley-agents/parley/store"
)

// mailboxes finds a peer's mailboxes from a time on. It says what the indexes
// of them say, and moved_ms is never NULL.
const mailboxes = "FROM exchange WHERE owner = ?1 AND peer = ?2 AND mailbox = 1 AND parent_conversation = '' AND moved_ms >= ?3"

// mailboxQueries are how mailboxes are read, of any correlation and of one.
type mailboxQueries struct {
	list, listOf   *sql.Stmt
	count, countOf *sql.Stmt
}

func (q *mailboxQueries) texts() []text {
	const (
		of    = " AND correlation = ?4"
		lists = "SELECT " + exchangeColumns + " " + mailboxes
		after = " AND moved_ms <= ?5 AND (moved_ms < ?5 OR task > ?6) ORDER BY moved_ms DESC, task LIMIT ?7"
	)
	return []text{
		{&q.list, lists + " AND ?4 = ''" + after},
		{&q.listOf, lists + of + after},
		{&q.count, "SELECT count(*) " + mailboxes + " AND ?4 = ''"},
		{&q.countOf, "SELECT count(*) " + mailboxes + of},
	}
}

// Tasks implements store.Store.
func (s *Store) Tasks(ctx context.Context, owner, name string) ([]store.Exchange, error) {
	what := func() string { return fmt.Sprintf("the exchanges of %s under task %s", owner, name) }
	return listed(ctx, s, task{owner, name}, what, func(what string) ([]store.Exchange, error) {
		return many(ctx, s, what, s.query.underTask, scanExchange, owner, name)
	})
}

// Mailboxes implements store.Store. What it costs grows with what it lists,
// wherever in the order that stands.
func (s *Store) Mailboxes(ctx context.Context, q store.MailboxQuery) ([]store.Exchange, error) {
	stmt := s.query.mailboxes.list
	if q.Correlation != "" {
		stmt = s.query.mailboxes.listOf
	}
	after, limit := int64(math.MaxInt64), -1 // no limit
	if q.After != (store.MailboxPlace{}) {
		after = q.After.MovedAt.UnixMilli()
	}
	if q.Limit > 0 {
		limit = q.Limit
	}
	what := fmt.Sprintf("the exchanges of %s that %s reads", q.Owner, q.Peer)
	return many(ctx, s, what, stmt, scanExchange, append(mailboxValues(q), after, q.After.Task, limit)...)
}

// CountMailboxes implements store.Store. It passes over an entry of an index
// for each.
func (s *Store) CountMailboxes(ctx context.Context, q store.MailboxQuery) (int, error) {
	stmt := s.query.mailboxes.count
	if q.Correlation != "" {
		stmt = s.query.mailboxes.countOf
	}
	return one(ctx, s, fmt.Sprintf("how many exchanges of %s %s reads", q.Owner, q.Peer), stmt, scanCount, mailboxValues(q)...)
}

func mailboxValues(q store.MailboxQuery) []any {
	// Rounded up: what is kept in whole milliseconds is not before it.
	return []any{q.Owner, q.Peer, q.Since.Add(time.Millisecond - 1).UnixMilli(), q.Correlation}
}
