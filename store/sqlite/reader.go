package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/parley-agents/parley/store"
)

// read waits for one of the reading slots and runs do with it. SQL inside do
// runs under a context without an end, because the driver ends a query by
// interrupting its connection; reads are short, and visit looks at ctx between
// rows.
func (s *Store) read(ctx context.Context, do func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
		if s.writer != nil {
			s.writer.reads.Add(1)
		}
		return do()
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closing:
		return store.ErrClosed
	}
}

// inTx binds a prepared query to the transaction of a snapshot.
type inTx func(*sql.Stmt) *sql.Stmt

// snapshot runs several queries that see one state of the store.
func (s *Store) snapshot(ctx context.Context, do func(inTx) error) error {
	return s.read(ctx, func() error {
		tx, err := s.pool.BeginTx(context.WithoutCancel(ctx), nil)
		if err != nil {
			return err
		}
		err = do(func(stmt *sql.Stmt) *sql.Stmt { return tx.StmtContext(context.WithoutCancel(ctx), stmt) })
		return errors.Join(err, tx.Rollback())
	})
}

// readTime bounds one query, because the write-ahead log cannot be cut back
// while a query needs what is in it.
const readTime = 30 * time.Second

// visit runs a query and yields its rows one after another, until yield says
// that it wants no more, ctx ends or readTime is over.
func visit[T any](ctx context.Context, stmt *sql.Stmt, scan func(row) (T, error), yield func(T) (more bool), args ...any) (err error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	rows, err := stmt.QueryContext(context.WithoutCancel(ctx), args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		one, err := scan(rows)
		if err != nil {
			return err
		}
		if !yield(one) {
			return nil
		}
	}
	return rows.Err()
}

// list runs a query and reads all its rows.
func list[T any](ctx context.Context, stmt *sql.Stmt, scan func(row) (T, error), args ...any) (found []T, err error) {
	err = visit(ctx, stmt, scan, func(one T) bool { found = append(found, one); return true }, args...)
	if err != nil {
		return nil, err
	}
	return found, nil
}

// many reads all records that a query finds.
func many[T any](ctx context.Context, s *Store, what string, stmt *sql.Stmt, scan func(row) (T, error), args ...any) ([]T, error) {
	var found []T
	err := s.read(ctx, func() (err error) {
		found, err = list(ctx, stmt, scan, args...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", what, err)
	}
	return found, nil
}

// one reads the record that a query finds, or store.ErrNotFound.
func one[T any](ctx context.Context, s *Store, what string, stmt *sql.Stmt, scan func(row) (T, error), args ...any) (T, error) {
	var found, none T
	err := s.read(ctx, func() (err error) {
		found, err = scan(stmt.QueryRowContext(context.WithoutCancel(ctx), args...))
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		err = store.ErrNotFound
	}
	if err != nil {
		return none, fmt.Errorf("read %s: %w", what, err)
	}
	return found, nil
}

// Exchange implements store.Store.
func (s *Store) Exchange(ctx context.Context, k store.Key) (store.Exchange, error) {
	what := func() string {
		return fmt.Sprintf("the exchange of %s with %s in conversation %s", k.Owner, k.Peer, k.Conversation)
	}
	return recall(ctx, s, what, k, own, func(what string) (store.Exchange, error) {
		return one(ctx, s, what, s.query.exchange, scanExchange, k.Owner, k.Conversation, k.Peer)
	})
}

// Exchanges implements store.Store. Live exchanges come in the order in which
// they were opened.
func (s *Store) Exchanges(ctx context.Context, owner, conversation string) ([]store.Exchange, error) {
	if conversation == "" {
		return many(ctx, s, "the live exchanges of "+owner, s.query.live, scanExchange, owner)
	}
	what := func() string { return "the exchanges of conversation " + conversation }
	return listed(ctx, s, talk{owner, conversation}, what, func(what string) ([]store.Exchange, error) {
		return many(ctx, s, what, s.query.inConversation, scanExchange, owner, conversation)
	})
}

// Children implements store.Store. They come in the order in which they were
// opened.
func (s *Store) Children(ctx context.Context, k store.Key) ([]store.Exchange, error) {
	what := fmt.Sprintf("the children of the exchange of %s with %s in conversation %s", k.Owner, k.Peer, k.Conversation)
	return many(ctx, s, what, s.query.children, scanExchange, k.Owner, k.Conversation, k.Peer)
}

// Correlated implements store.Store.
func (s *Store) Correlated(ctx context.Context, owner, correlation string) ([]store.Exchange, error) {
	return many(ctx, s, "the exchanges of correlation "+correlation, s.query.correlated, scanExchange, owner, correlation)
}

// Inbox implements store.Store.
func (s *Store) Inbox(ctx context.Context, k store.InboxKey) (store.Inbox, error) {
	what := func() string {
		return fmt.Sprintf("message %s of %s in the inbox of %s", k.MessageID, k.Sender, k.Recipient)
	}
	return recall(ctx, s, what, k, same[store.Inbox], func(what string) (store.Inbox, error) {
		return one(ctx, s, what, s.query.inbox, scanInbox, k.Recipient, k.Sender, k.MessageID)
	})
}

// Log implements store.Store.
func (s *Store) Log(ctx context.Context, owner, conversation string, after int64) ([]store.Entry, error) {
	if found, ok, err := s.tail(ctx, owner, conversation, after, math.MaxInt32); ok || err != nil {
		return found, err
	}
	what := fmt.Sprintf("the log of %s in conversation %s", owner, conversation)
	return many(ctx, s, what, s.query.log, scanEntry, owner, conversation, after)
}

// tail is what is remembered of a log; ok is false if that is not enough.
func (s *Store) tail(ctx context.Context, owner, conversation string, after int64, limit int) (found []store.Entry, ok bool, err error) {
	log, _, err := recalled(ctx, s, chain{owner, conversation}, same[tail])
	if err != nil {
		return nil, false, fmt.Errorf("list the log of %s in conversation %s: %w", owner, conversation, err)
	}
	found, ok = log.after(max(after, 0), limit)
	return found, ok, nil
}

// LogPage implements store.Store.
func (s *Store) LogPage(ctx context.Context, owner, conversation string, after int64, limit int) ([]store.Entry, error) {
	if found, ok, err := s.tail(ctx, owner, conversation, after, max(limit, 0)); ok || err != nil {
		return found, err
	}
	what := fmt.Sprintf("a page of the log of %s in conversation %s", owner, conversation)
	return many(ctx, s, what, s.query.logPage, scanEntry, owner, conversation, after, max(limit, 0))
}

// Message implements store.Store. If several senders used the message id, the
// entry that was logged first is returned.
func (s *Store) Message(ctx context.Context, k store.Key, kind store.EntryKind, messageID string) (store.Entry, error) {
	what := fmt.Sprintf("the log entry of %s about %s message %s of conversation %s with %s", k.Owner, kind, messageID, k.Conversation, k.Peer)
	log, known, err := recalled(ctx, s, chain{k.Owner, k.Conversation}, same[tail])
	var found store.Entry
	if known && log.whole() {
		found, err = log.message(k, kind, messageID)
	}
	if err != nil {
		return store.Entry{}, fmt.Errorf("read %s: %w", what, err)
	}
	if known && log.whole() {
		return found, nil
	}
	return one(ctx, s, what, s.query.message, scanEntry, k.Owner, k.Conversation, k.Peer, string(kind), messageID)
}

// Outbox implements store.Store.
func (s *Store) Outbox(ctx context.Context, k store.Key) ([]store.Outbox, error) {
	what := fmt.Sprintf("the outbox of %s to %s in conversation %s", k.Owner, k.Peer, k.Conversation)
	return many(ctx, s, what, s.query.outbox, scanOutbox, k.Owner, k.Conversation, k.Peer)
}

// OutboxRow implements store.Store.
func (s *Store) OutboxRow(ctx context.Context, owner, messageID string) (store.Outbox, error) {
	what := fmt.Sprintf("message %s in the outbox of %s", messageID, owner)
	return one(ctx, s, what, s.query.outboxRow, scanOutbox, owner, messageID)
}

// Effect implements store.Store.
func (s *Store) Effect(ctx context.Context, k store.EffectKey) (store.Effect, error) {
	what := func() string {
		return fmt.Sprintf("effect %s of %s in the ledger of %s", k.Key, k.Sender, k.Recipient)
	}
	return recall(ctx, s, what, k, ownEffect, func(what string) (store.Effect, error) {
		return one(ctx, s, what, s.query.effect, scanEffect, k.Recipient, k.Sender, k.Capability, k.Key)
	})
}

// Turns implements store.Store.
func (s *Store) Turns(ctx context.Context, k store.Key) ([]store.Turn, error) {
	what := fmt.Sprintf("the turns of %s for %s in conversation %s", k.Owner, k.Peer, k.Conversation)
	return many(ctx, s, what, s.query.turns, scanTurn, k.Owner, k.Conversation, k.Peer)
}
