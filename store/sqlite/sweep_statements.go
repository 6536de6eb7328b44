package sqlite

import "database/sql"

// sweepStatements are what the writer runs to forget.
type sweepStatements struct {
	inbox, effects, commands, letters, letter *sql.Stmt
	forgettable, blobs                        *sql.Stmt
	turns, outbox, log, exchanges             *sql.Stmt
	received                                  *sql.Stmt
	callbacks, tasks                          *sql.Stmt
}

// forgettable finds a row if the conversation ?2 of ?1 ended before ?3 and
// nothing leans on it.
const forgettable = `SELECT 1 WHERE
	NOT EXISTS (SELECT 1 FROM exchange WHERE owner = ?1 AND conversation = ?2 AND (outcome = '' OR ended_ms IS NULL OR ended_ms >= ?3))
	AND NOT EXISTS (SELECT 1 FROM exchange WHERE owner = ?1 AND parent_conversation = ?2 AND parent_conversation <> '' AND outcome = '')
	AND NOT EXISTS (SELECT 1 FROM exchange x JOIN exchange p
		ON p.owner = x.owner AND p.conversation = x.parent_conversation AND p.peer = x.parent_peer
		WHERE x.owner = ?1 AND x.conversation = ?2 AND p.outcome = '')
	AND NOT EXISTS (SELECT 1 FROM effect WHERE recipient = ?1 AND conversation = ?2)
	AND NOT EXISTS (SELECT 1 FROM dead_letter WHERE owner = ?1 AND conversation = ?2)
	AND NOT EXISTS (SELECT 1 FROM outbox WHERE owner = ?1 AND conversation = ?2 AND status = 'pending')
	AND NOT EXISTS (SELECT 1 FROM log JOIN inbox
		ON inbox.recipient = log.owner AND inbox.sender = log.peer AND inbox.message_id = log.message_id
		WHERE log.owner = ?1 AND log.conversation = ?2 AND log.message_id <> '' AND inbox.expires_ms IS NOT NULL)`

func (s *sweepStatements) texts() []text {
	const of = " WHERE owner = ? AND conversation = ?"
	return []text{
		{&s.inbox, `DELETE FROM inbox WHERE id IN (SELECT id FROM inbox
			WHERE status = 'settled' AND expires_ms <= ? ORDER BY expires_ms LIMIT ?)`},
		{&s.effects, `DELETE FROM effect WHERE id IN (SELECT id FROM effect
			WHERE status = 'ended' AND expires_ms <= ? ORDER BY expires_ms LIMIT ?)`},
		{&s.commands, `DELETE FROM command WHERE id IN (SELECT id FROM command
			WHERE done_ms IS NOT NULL AND done_ms < ? ORDER BY done_ms, id LIMIT ?)`},
		{&s.letters, "SELECT id, blob FROM dead_letter WHERE at_ms < ? ORDER BY at_ms, id LIMIT ?"},
		{&s.letter, "DELETE FROM dead_letter WHERE id = ?"},

		{&s.forgettable, forgettable},
		{&s.blobs, "SELECT blob FROM log" + of + " AND blob IS NOT NULL"},
		{&s.turns, "DELETE FROM turn" + of},
		{&s.outbox, "DELETE FROM outbox" + of},
		{&s.received, `DELETE FROM inbox WHERE id IN (SELECT inbox.id FROM log JOIN inbox
			ON inbox.recipient = log.owner AND inbox.sender = log.peer AND inbox.message_id = log.message_id AND inbox.conversation = log.conversation
			WHERE log.owner = ? AND log.conversation = ? AND log.message_id <> '' AND inbox.expires_ms IS NULL)`},
		{&s.log, "DELETE FROM log" + of},
		{&s.tasks, "SELECT DISTINCT task FROM exchange" + of + " AND task <> ''"},
		{&s.exchanges, "DELETE FROM exchange" + of},
		{&s.callbacks, `DELETE FROM callback WHERE owner = ?1 AND task = ?2
			AND NOT EXISTS (SELECT 1 FROM exchange WHERE owner = ?1 AND task = ?2 AND task <> '')`},
	}
}
