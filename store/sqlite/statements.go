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

// line starts a search among the rows e that leave one after another: the
// pending ones of one owner, conversation and receiver that do not overtake.
const line = "outbox e WHERE e.status = 'pending' AND e.overtakes = 0 AND (e.owner, e.conversation, e.receiver)"

// statements are what the writer runs.
type statements struct {
	begin, commit                                         direct
	insertExchange, turnExchange, moveExchange            direct
	append, accept, settle, lease, claimEffect, endEffect direct
	underTask                                             direct

	rollback                                *sql.Stmt
	savepoint, rollbackTo, releaseSavepoint *sql.Stmt
	fold                                    *sql.Stmt

	keepMeta, meta, keepIdentity, identity *sql.Stmt
	takeOver, inProgress                   *sql.Stmt

	updateExchange, opened, accepted             *sql.Stmt
	head, putBlob                                *sql.Stmt
	dropUnsent, insertOutbox, deliver, posted    *sql.Stmt
	moveUp, moveUpBehind, redrive                *sql.Stmt
	putEffect, release, insertTurn               *sql.Stmt
	bury, unbury, buriedBlob, dropBlob           *sql.Stmt
	keepCommand, answer, asked                   *sql.Stmt
	keepPin, pin, unpin                          *sql.Stmt
	putCallback, deleteCallback, advanceCallback *sql.Stmt
	sweep                                        sweepStatements
}

func (s *statements) texts() []text {
	return append([]text{
		{&s.rollback, "ROLLBACK"},
		{&s.savepoint, "SAVEPOINT job"},
		{&s.rollbackTo, "ROLLBACK TO job"},
		{&s.releaseSavepoint, "RELEASE job"},
		{&s.fold, "PRAGMA wal_checkpoint(TRUNCATE)"},

		{&s.keepMeta, "INSERT INTO meta (only, generation, secret) VALUES (1, ?, ?) ON CONFLICT DO NOTHING"},
		{&s.meta, "SELECT generation, secret FROM meta WHERE only = 1"},
		{&s.keepIdentity, "INSERT INTO identity (owner, seed) VALUES (?, ?) ON CONFLICT DO NOTHING"},
		{&s.identity, "SELECT seed FROM identity WHERE owner = ?"},

		{&s.takeOver, `UPDATE inbox SET attempt = attempt + 1, lease_ms = NULL, first_ms = NULL,
			runs = CASE WHEN lease_ms IS NULL THEN runs WHEN lease_ms - first_ms > ? THEN 1 ELSE runs + 1 END
			WHERE recipient = ? AND status = 'in-progress'`},
		{&s.inProgress, "SELECT " + inboxColumns + ` FROM inbox WHERE recipient = ? AND status = 'in-progress'
			ORDER BY accepted_ms, conversation, sender, seq`},

		{&s.updateExchange, `UPDATE exchange SET version = version + 1, protocol = ?1, role = ?2, state = ?3, body = ?4, final = ?5, moved_ms = ?6,
			outcome = ?11, ended_ms = ?12, timer = ?13, due_ms = ?14,
			correlation = ?15, parent_conversation = ?16, parent_peer = ?17, opened_ms = ?18, task = ?19, mailbox = ?20
			WHERE owner = ?7 AND conversation = ?8 AND peer = ?9 AND version = ?10`},
		{&s.opened, "SELECT 1 FROM exchange WHERE owner = ? AND conversation = ? AND peer = ?"},

		{&s.head, "SELECT idx, hash FROM log WHERE owner = ? AND conversation = ? ORDER BY idx DESC LIMIT 1"},
		{&s.putBlob, "INSERT INTO blob (sum, body) VALUES (?, ?) ON CONFLICT DO NOTHING"},

		{&s.accepted, "SELECT 1 FROM inbox WHERE recipient = ? AND sender = ? AND message_id = ?"},

		{&s.dropUnsent, `UPDATE outbox SET status = 'dropped' WHERE owner = ? AND conversation = ? AND receiver = ?
			AND status = 'pending' AND overtakes = 0 AND attempt = 0`},
		{&s.insertOutbox, `INSERT INTO outbox (owner, message_id, conversation, receiver, status, attempt, next_ms,
			expires_ms, overtakes, last_error, rank, priority, max_attempts, backoff_ms, jitter, waits)
			VALUES (?1, ?2, ?3, ?4, 'pending', ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?8 = 0 AND EXISTS (SELECT 1 FROM ` + line + ` = (?1, ?3, ?4))) ON CONFLICT DO NOTHING`},
		{&s.deliver, `UPDATE outbox SET status = ?, attempt = ?, next_ms = ?, last_error = ?
			WHERE owner = ? AND message_id = ? AND status = 'pending'`},
		{&s.moveUp, "UPDATE outbox SET waits = 0 WHERE waits = 1 AND id = (SELECT min(e.id) FROM " + line + " = (?, ?, ?))"},
		{&s.moveUpBehind, "UPDATE outbox SET waits = 0 WHERE waits = 1 AND id = (SELECT min(e.id) FROM " + line +
			" = (SELECT owner, conversation, receiver FROM outbox WHERE owner = ? AND message_id = ?))"},
		{&s.posted, "SELECT 1 FROM outbox WHERE owner = ? AND message_id = ?"},
		{&s.redrive, `UPDATE outbox SET next_ms = ?, expires_ms = ifnull(?, expires_ms)
			WHERE owner = ? AND message_id = ? AND status = 'pending'`},

		{&s.putEffect, `INSERT OR REPLACE INTO effect (recipient, sender, capability, key, fingerprint, conversation,
			status, at_ms, expires_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&s.release, "DELETE FROM effect WHERE recipient = ? AND sender = ? AND capability = ? AND key = ?"},
		{&s.insertTurn, `INSERT INTO turn (owner, conversation, peer, ordinal, kind, name, data, at_ms)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`},

		{&s.bury, `INSERT INTO dead_letter (owner, source, peer, message_id, digest, conversation, reason, last_error, attempts,
			at_ms, envelope, cut, blob) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&s.buriedBlob, "SELECT blob FROM dead_letter WHERE " + letterKey},
		{&s.unbury, "DELETE FROM dead_letter WHERE " + letterKey},
		{&s.dropBlob, `DELETE FROM blob WHERE sum = ?1 AND NOT EXISTS (SELECT 1 FROM log WHERE blob = ?1)
			AND NOT EXISTS (SELECT 1 FROM dead_letter WHERE blob = ?1)`},
		{&s.keepCommand, keepCommand},
		{&s.answer, "UPDATE command SET done_ms = ?, answer = ?, error = ? WHERE id = ? AND done_ms IS NULL"},
		{&s.asked, "SELECT 1 FROM command WHERE id = ?"},

		{&s.keepPin, "INSERT INTO pin (uri, key, origin, at_ms) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"},
		{&s.pin, pin},
		{&s.unpin, unpin},
		{&s.putCallback, `INSERT OR REPLACE INTO callback (owner, task, id, peer, config, place, done, attempt, next_ms, created_ms)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&s.deleteCallback, "DELETE FROM callback WHERE " + callbackKey},
		{&s.advanceCallback, "UPDATE callback SET place = ?, done = ?, attempt = ?, next_ms = ? WHERE " + callbackKey + " AND config = ?"},
	}, s.sweep.texts()...)
}

// directTexts are what every step runs.
func (s *statements) directTexts() []directText {
	return []directText{
		{&s.begin, "BEGIN IMMEDIATE"},
		{&s.commit, "COMMIT"},
		{&s.insertExchange, `INSERT INTO exchange (protocol, role, state, body, final, moved_ms, owner, conversation, peer, version,
			outcome, ended_ms, timer, due_ms, correlation, parent_conversation, parent_peer, opened_ms, task, mailbox)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10 + 1, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20) ON CONFLICT DO NOTHING`},
		{&s.turnExchange, `UPDATE exchange SET version = version + 1, protocol = ?1, role = ?2, state = ?3, body = ?4, final = ?5, moved_ms = ?6,
			outcome = ?11, ended_ms = ?12, timer = ?13, due_ms = ?14
			WHERE owner = ?7 AND conversation = ?8 AND peer = ?9 AND version = ?10`},
		{&s.moveExchange, `UPDATE exchange SET version = version + 1, protocol = ?1, role = ?2, state = ?3, body = ?4, final = ?5, moved_ms = ?6
			WHERE owner = ?7 AND conversation = ?8 AND peer = ?9 AND version = ?10`},
		{&s.append, `INSERT INTO log (owner, conversation, idx, hash, peer, kind, at_ms, event, from_state, to_state,
			message_id, digest, reason, envelope, blob, note, cut) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT DO NOTHING`},
		{&s.accept, `INSERT INTO inbox (recipient, sender, message_id, digest, conversation, seq, status, attempt,
			lease_ms, first_ms, runs, accepted_ms, expires_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`},
		{&s.settle, `UPDATE inbox SET status = 'settled'
			WHERE recipient = ? AND sender = ? AND message_id = ? AND status = 'in-progress' AND attempt = ?`},
		{&s.lease, `UPDATE inbox SET lease_ms = ?1, first_ms = CASE WHEN ?1 IS NULL OR lease_ms IS NULL THEN ?1 ELSE first_ms END
			WHERE recipient = ? AND sender = ? AND message_id = ? AND status = 'in-progress' AND attempt = ?`},
		{&s.claimEffect, `INSERT INTO effect (recipient, sender, capability, key, fingerprint, conversation,
			status, at_ms, expires_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`},
		{&s.endEffect, `UPDATE effect SET fingerprint = ?, status = ?, at_ms = ?, expires_ms = ?
			WHERE recipient = ? AND sender = ? AND capability = ? AND key = ? AND conversation = ?`},
		{&s.underTask, "SELECT 1 FROM exchange WHERE owner = ? AND task = ? AND task <> '' LIMIT 1"},
	}
}

// firstEntries is how many entries of a log the index log_message leaves out.
const firstEntries = "16"

// letterKey says which dead letter is meant.
const letterKey = "owner = ? AND source = ? AND peer = ? AND message_id = ? AND digest = ?"

// pin reads the pin of an agent.
const (
	pins  = "SELECT uri, key, origin, at_ms FROM pin ORDER BY uri"
	pin   = "SELECT uri, key, origin, at_ms FROM pin WHERE uri = ?"
	unpin = "DELETE FROM pin WHERE uri = ?"
)

// queries are what the readers run.
type queries struct {
	exchange, inConversation, live, children, correlated *sql.Stmt
	inbox, log, logPage, message, outbox, effect, turns  *sql.Stmt
	outboxRow                                            *sql.Stmt
	timers, outgoing                                     agendaQueries
	ranks                                                *sql.Stmt
	identities, owners, newest, messages                 *sql.Stmt
	letter, letters, lettersOf                           *sql.Stmt
	receivers, inboxes, openInboxes                      *sql.Stmt
	senders, outboxes                                    *sql.Stmt
	command, commands                                    *sql.Stmt
	ended, forgettable                                   *sql.Stmt
	underTask                                            *sql.Stmt
	mailboxes                                            mailboxQueries
	pin, pins, callback, callbacks, openCallbacks        *sql.Stmt
}

func (q *queries) texts() []text {
	const exchange = "SELECT " + exchangeColumns + " FROM exchange WHERE owner = ? AND "
	const log = "SELECT " + entryColumns + " FROM log WHERE owner = ? AND "
	// The first entries of a log are read one by one, the others found by an index: each
	// in the order in which they stand there.
	const about = " WHERE owner = ?1 AND conversation = ?2 AND peer = ?3 AND kind = ?4 AND message_id = ?5 AND message_id <> '' AND "
	const outbox = "SELECT " + outboxColumns + " FROM outbox o WHERE o.owner = ? AND "
	const inbox = "SELECT " + inboxColumns + " FROM inbox WHERE recipient = ? "
	const newest = "ORDER BY accepted_ms DESC LIMIT ?"
	const callback = "SELECT " + callbackColumns + " FROM callback WHERE "
	return append(append(q.agendas(), q.mailboxes.texts()...), []text{
		{&q.exchange, exchange + "conversation = ? AND peer = ?"},
		{&q.inConversation, exchange + "conversation = ? ORDER BY peer"},
		{&q.live, "SELECT " + exchangeColumns + " FROM exchange INDEXED BY exchange_live WHERE owner = ? AND outcome = '' ORDER BY id"},
		{&q.children, exchange + "parent_conversation = ? AND parent_peer = ? AND parent_conversation <> '' ORDER BY id"},
		{&q.correlated, exchange + "correlation = ? ORDER BY id"},
		{&q.underTask, exchange + "task = ? AND task <> '' ORDER BY id"},

		{&q.inbox, "SELECT " + inboxColumns + " FROM inbox WHERE recipient = ? AND sender = ? AND message_id = ?"},
		{&q.log, log + "conversation = ? AND idx > ? ORDER BY idx"},
		{&q.logPage, log + "conversation = ? AND idx > ? ORDER BY idx LIMIT ?"},
		{&q.message, "SELECT " + entryColumns + " FROM log" + about + "idx <= " + firstEntries + " UNION ALL " +
			"SELECT " + entryColumns + " FROM log INDEXED BY log_message" + about + "idx > " + firstEntries + " LIMIT 1"},
		{&q.outbox, outbox + "o.conversation = ? AND o.receiver = ? ORDER BY o.id"},
		{&q.outboxRow, outbox + "o.message_id = ?"},
		{&q.effect, "SELECT " + effectColumns + " FROM effect WHERE recipient = ? AND sender = ? AND capability = ? AND key = ?"},
		{&q.turns, "SELECT " + turnColumns + " FROM turn WHERE owner = ? AND conversation = ? AND peer = ? ORDER BY ordinal"},

		{&q.identities, "SELECT owner FROM identity ORDER BY owner"},
		{&q.owners, distinct("owner", "exchange")},
		// The plus has SQLite look among the exchanges of the conversation only,
		// and not among all that the owner opened before.
		{&q.newest, `SELECT x.id, x.owner, x.conversation FROM exchange x WHERE x.owner = ? AND NOT EXISTS (SELECT 1 FROM exchange e
			WHERE e.owner = x.owner AND e.conversation = x.conversation AND +e.id < x.id) ORDER BY x.id DESC LIMIT ?`},
		{&q.messages, "SELECT count(*) FROM log WHERE owner = ? AND conversation = ? AND message_id <> ''"},

		{&q.letter, "SELECT " + letterColumns + " FROM dead_letter WHERE " + letterKey},
		{&q.letters, "SELECT " + letterColumns + " FROM dead_letter ORDER BY at_ms DESC, id DESC LIMIT ?"},
		{&q.lettersOf, "SELECT " + letterColumns + " FROM dead_letter WHERE owner = ? ORDER BY at_ms DESC, id DESC LIMIT ?"},
		{&q.receivers, distinct("recipient", "inbox")},
		{&q.inboxes, inbox + newest},
		{&q.openInboxes, inbox + "AND status = 'in-progress' " + newest},
		{&q.senders, distinct("owner", "outbox")},
		{&q.outboxes, "SELECT o.id, " + outboxColumns + " FROM outbox o WHERE o.owner = ? AND o.status = ? ORDER BY o.id DESC LIMIT ?"},
		{&q.command, "SELECT " + commandColumns + " FROM command WHERE id = ?"},
		{&q.commands, "SELECT " + commandColumns + " FROM command WHERE done_ms IS NULL ORDER BY at_ms, id"},

		{&q.ended, `SELECT ended_ms, id, owner, conversation FROM exchange
			WHERE outcome <> '' AND (ended_ms, id) > (?, ?) AND ended_ms < ? ORDER BY ended_ms, id LIMIT ?`},
		{&q.forgettable, forgettable},

		{&q.pin, pin},
		{&q.pins, pins},
		{&q.callback, callback + callbackKey},
		{&q.callbacks, callback + "owner = ? AND task = ? ORDER BY id"},
		{&q.openCallbacks, callback + "owner = ? AND done = 0 ORDER BY task, id"},
	}...)
}

// distinct lists the values of a column that leads an index, with one look-up
// a value, however many rows each has.
func distinct(column, table string) string {
	return fmt.Sprintf(`WITH RECURSIVE found (value) AS (SELECT min(%[1]s) FROM %[2]s UNION ALL
		SELECT (SELECT min(t.%[1]s) FROM %[2]s t WHERE t.%[1]s > found.value) FROM found WHERE found.value IS NOT NULL)
		SELECT value FROM found WHERE value IS NOT NULL`, column, table)
}

// agendas are the queries of Due.
func (q *queries) agendas() []text {
	const timer = "SELECT owner, conversation, peer, timer, due_ms FROM exchange WHERE "
	const live = "SELECT min(due_ms) FROM exchange WHERE owner = value AND outcome = '' AND due_ms "
	// The rows of a rank that may leave once their time has come.
	const free = "FROM outbox o WHERE o.status = 'pending' AND o.waits = 0 AND o.rank = "
	const outbox = "SELECT " + outboxColumns + " " + free
	next := func(rank string) string { return "SELECT o.owner, o.next_ms " + free + rank + " AND o.next_ms > ?1" }
	later := func(rank string) string {
		return "SELECT min(o.next_ms) AS at_ms " + free + rank + " AND o.owner = value AND o.next_ms > ?1"
	}
	is := func(rank string) string { return "EXISTS (SELECT 1 " + free + rank + " AND o.next_ms <= ?1)" }
	return []text{
		{&q.timers.due, timer + "due_ms <= ? ORDER BY due_ms, owner, id"},
		{&q.timers.next, "SELECT owner, due_ms FROM exchange WHERE due_ms > ? ORDER BY due_ms"},
		{&q.timers.heads, "SELECT value, (" + live + "<= ?1) FROM json_each(?2)"},
		{&q.timers.laters, "SELECT value, (" + live + "> ?1) FROM json_each(?2)"},
		{&q.timers.dueOf, timer + "due_ms <= ?1 AND owner = ?2 AND outcome = '' ORDER BY due_ms, id LIMIT ?3"},

		{&q.ranks, "SELECT " + is("0") + ", " + is("1") + ", " + is("2")},
		{&q.outgoing.due, outbox + "?2 AND o.next_ms <= ?1 ORDER BY o.next_ms, o.id"},
		{&q.outgoing.next, next("0") + " UNION ALL " + next("1") + " UNION ALL " + next("2") + " ORDER BY 2"},
		{&q.outgoing.heads, "SELECT value, (SELECT min(o.next_ms) " + free + "?2 AND o.owner = value AND o.next_ms <= ?1) FROM json_each(?3)"},
		{&q.outgoing.laters, "SELECT value, (SELECT min(at_ms) FROM (" + later("0") + " UNION ALL " + later("1") + " UNION ALL " + later("2") +
			")) FROM json_each(?2)"},
		{&q.outgoing.dueOf, outbox + "?2 AND o.next_ms <= ?1 AND o.owner = ?3 ORDER BY o.next_ms, o.id LIMIT ?4"},
	}
}
