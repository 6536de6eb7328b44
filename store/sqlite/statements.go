package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// text is SQL and where its prepared form goes.
type text struct {
	to  **sql.Stmt
	sql string
}

// prepareAll prepares every text on a connection or a pool.
func prepareAll(ctx context.Context, on interface {
	PrepareContext(context.Context, string) (*sql.Stmt, error)
}, texts []text) error {
	for _, t := range texts {
		stmt, err := on.PrepareContext(ctx, t.sql)
		if err != nil {
			return fmt.Errorf("prepare %q: %w", t.sql, err)
		}
		*t.to = stmt
	}
	return nil
}

// closeAll closes the statements that were prepared.
func closeAll(texts []text) error {
	var errs []error
	for _, t := range texts {
		if *t.to != nil {
			errs = append(errs, (*t.to).Close())
		}
	}
	return errors.Join(errs...)
}

// statements are what the writer runs.
type statements struct {
	begin, commit, rollback *sql.Stmt

	keepMeta, meta, keepIdentity, identity *sql.Stmt
	takeOver, inProgress                   *sql.Stmt

	insertExchange, updateExchange, clearTimers, insertTimer *sql.Stmt
	head, putBlob, append                                    *sql.Stmt
	accept, settle, renew, accepted                          *sql.Stmt
	dropUnsent, insertOutbox, deliver, posted                *sql.Stmt
	claimEffect, putEffect, release, insertTurn              *sql.Stmt
}

func (s *statements) texts() []text {
	return []text{
		{&s.begin, "BEGIN IMMEDIATE"},
		{&s.commit, "COMMIT"},
		{&s.rollback, "ROLLBACK"},

		{&s.keepMeta, "INSERT INTO meta (only, generation, secret) VALUES (1, ?, ?) ON CONFLICT DO NOTHING"},
		{&s.meta, "SELECT generation, secret FROM meta WHERE only = 1"},
		{&s.keepIdentity, "INSERT INTO identity (owner, seed) VALUES (?, ?) ON CONFLICT DO NOTHING"},
		{&s.identity, "SELECT seed FROM identity WHERE owner = ?"},

		{&s.takeOver, "UPDATE inbox SET attempt = attempt + 1, lease_ms = ? WHERE recipient = ? AND status = 'in-progress'"},
		{&s.inProgress, "SELECT " + inboxColumns + ` FROM inbox WHERE recipient = ? AND status = 'in-progress'
			ORDER BY accepted_ms, conversation, sender, seq`},

		{&s.insertExchange, `INSERT INTO exchange (version, protocol, role, state, outcome, body, correlation,
			parent_conversation, parent_peer, final, opened_ms, ended_ms, owner, conversation, peer)
			VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`},
		{&s.updateExchange, `UPDATE exchange SET version = version + 1, protocol = ?, role = ?, state = ?, outcome = ?, body = ?,
			correlation = ?, parent_conversation = ?, parent_peer = ?, final = ?, opened_ms = ?, ended_ms = ?
			WHERE owner = ? AND conversation = ? AND peer = ? AND version = ?`},
		{&s.clearTimers, "DELETE FROM timer WHERE owner = ? AND conversation = ? AND peer = ?"},
		{&s.insertTimer, "INSERT INTO timer (owner, conversation, peer, name, at_ms) VALUES (?, ?, ?, ?, ?)"},

		{&s.head, "SELECT idx, hash FROM log WHERE owner = ? AND conversation = ? ORDER BY idx DESC LIMIT 1"},
		{&s.putBlob, "INSERT INTO blob (sum, body) VALUES (?, ?) ON CONFLICT DO NOTHING"},
		{&s.append, `INSERT INTO log (owner, conversation, idx, hash, peer, kind, at_ms, event, from_state, to_state,
			message_id, digest, reason, envelope, blob) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},

		{&s.accept, `INSERT INTO inbox (recipient, sender, message_id, digest, conversation, seq, status, attempt,
			lease_ms, accepted_ms, expires_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`},
		{&s.settle, `UPDATE inbox SET status = 'settled'
			WHERE recipient = ? AND sender = ? AND message_id = ? AND status = 'in-progress' AND attempt = ?`},
		{&s.renew, `UPDATE inbox SET lease_ms = ?
			WHERE recipient = ? AND sender = ? AND message_id = ? AND status = 'in-progress' AND attempt = ?`},
		{&s.accepted, "SELECT 1 FROM inbox WHERE recipient = ? AND sender = ? AND message_id = ?"},

		{&s.dropUnsent, `UPDATE outbox SET status = 'dropped' WHERE owner = ? AND conversation = ? AND receiver = ?
			AND status = 'pending' AND overtakes = 0 AND attempt = 0`},
		{&s.insertOutbox, `INSERT INTO outbox (owner, message_id, conversation, receiver, status, attempt, next_ms,
			expires_ms, overtakes, last_error) VALUES (?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`},
		{&s.deliver, `UPDATE outbox SET status = ?, attempt = ?, next_ms = ?, last_error = ?
			WHERE owner = ? AND message_id = ? AND status = 'pending'`},
		{&s.posted, "SELECT 1 FROM outbox WHERE owner = ? AND message_id = ?"},

		{&s.claimEffect, `INSERT INTO effect (recipient, sender, capability, key, fingerprint, conversation,
			status, at_ms, expires_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`},
		{&s.putEffect, `INSERT OR REPLACE INTO effect (recipient, sender, capability, key, fingerprint, conversation,
			status, at_ms, expires_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&s.release, "DELETE FROM effect WHERE recipient = ? AND sender = ? AND capability = ? AND key = ?"},
		{&s.insertTurn, `INSERT INTO turn (owner, conversation, peer, ordinal, kind, name, data, at_ms)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`},
	}
}

// queries are what the readers run.
type queries struct {
	exchange, inConversation, live, children, correlated *sql.Stmt
	inbox, log, message, outbox, effect, turns           *sql.Stmt
	dueTimers, nextTimer, dueOutbox, nextOutbox          *sql.Stmt
	identities, owners, newest, messages                 *sql.Stmt
}

// standsFirst is the rule by which an outbox row o may leave: it overtakes,
// or no row in its line stands before it.
const standsFirst = `(o.overtakes = 1 OR NOT EXISTS (SELECT 1 FROM outbox e WHERE e.owner = o.owner
	AND e.conversation = o.conversation AND e.receiver = o.receiver
	AND e.status = 'pending' AND e.overtakes = 0 AND e.id < o.id))`

func (q *queries) texts() []text {
	const exchange = "SELECT " + exchangeColumns + " FROM exchange WHERE owner = ? AND "
	const log = "SELECT " + entryColumns + " FROM log WHERE owner = ? AND "
	const outbox = "SELECT " + outboxColumns + " FROM outbox o WHERE o.owner = ? AND "
	return []text{
		{&q.exchange, exchange + "conversation = ? AND peer = ?"},
		{&q.inConversation, exchange + "conversation = ? ORDER BY peer"},
		{&q.live, exchange + "outcome = '' ORDER BY id"},
		{&q.children, exchange + "parent_conversation = ? AND parent_peer = ? AND parent_conversation <> '' ORDER BY id"},
		{&q.correlated, exchange + "correlation = ? ORDER BY id"},

		{&q.inbox, "SELECT " + inboxColumns + " FROM inbox WHERE recipient = ? AND sender = ? AND message_id = ?"},
		{&q.log, log + "conversation = ? AND idx > ? ORDER BY idx"},
		{&q.message, log + "kind = ? AND message_id = ? AND message_id <> '' AND conversation = ? AND peer = ? ORDER BY id LIMIT 1"},
		{&q.outbox, outbox + "o.conversation = ? AND o.receiver = ? ORDER BY o.id"},
		{&q.effect, "SELECT " + effectColumns + " FROM effect WHERE recipient = ? AND sender = ? AND capability = ? AND key = ?"},
		{&q.turns, "SELECT " + turnColumns + " FROM turn WHERE owner = ? AND conversation = ? AND peer = ? ORDER BY ordinal"},

		{&q.dueTimers, `SELECT owner, conversation, peer, name, at_ms FROM timer WHERE owner = ? AND at_ms <= ?
			ORDER BY at_ms, conversation, peer, name LIMIT ?`},
		{&q.nextTimer, "SELECT min(at_ms) FROM timer WHERE owner = ? AND at_ms > ?"},
		{&q.dueOutbox, outbox + "o.status = 'pending' AND o.next_ms <= ? AND " + standsFirst + " ORDER BY o.next_ms, o.id LIMIT ?"},
		{&q.nextOutbox, "SELECT o.next_ms FROM outbox o WHERE o.owner = ? AND o.status = 'pending' AND o.next_ms > ? AND " +
			standsFirst + " ORDER BY o.next_ms LIMIT 1"},

		{&q.identities, "SELECT owner FROM identity ORDER BY owner"},
		// One look-up an owner, however many exchanges each has.
		{&q.owners, `WITH RECURSIVE found (owner) AS (SELECT min(owner) FROM exchange UNION ALL
			SELECT (SELECT min(x.owner) FROM exchange x WHERE x.owner > found.owner) FROM found WHERE found.owner IS NOT NULL)
			SELECT owner FROM found WHERE owner IS NOT NULL`},
		{&q.newest, `SELECT x.id, x.owner, x.conversation FROM exchange x WHERE x.owner = ? AND NOT EXISTS (SELECT 1 FROM exchange e
			WHERE e.owner = x.owner AND e.conversation = x.conversation AND e.id < x.id) ORDER BY x.id DESC LIMIT ?`},
		{&q.messages, "SELECT count(*) FROM log WHERE owner = ? AND conversation = ? AND message_id <> ''"},
	}
}
