-- +goose Up

-- What a step writes stands near what other steps of that time write, so that many
-- steps share the pages that a commit makes durable. Ids of conversations rise with
-- time, those of received messages need not: only the inbox finds them by themselves.
-- What the first entries of a log are about is soon read.
DROP INDEX log_message;
CREATE INDEX log_message ON log (owner, conversation, message_id) WHERE message_id <> '' AND idx > 16;

-- What has moved last stands last.
DROP INDEX exchange_mailbox;
DROP INDEX exchange_mailbox_of;
CREATE INDEX exchange_mailbox    ON exchange (owner, peer, moved_ms, task DESC) WHERE mailbox = 1 AND parent_conversation = '';
CREATE INDEX exchange_mailbox_of ON exchange (owner, peer, correlation, moved_ms, task DESC) WHERE mailbox = 1 AND parent_conversation = '';

-- The rows stand in the order in which messages were accepted.
ALTER TABLE inbox RENAME TO inbox_before;
DROP INDEX inbox_open;
DROP INDEX inbox_recent;
DROP INDEX inbox_expiry;
CREATE TABLE inbox (
  id           INTEGER PRIMARY KEY,
  recipient    TEXT NOT NULL,
  sender       TEXT NOT NULL,
  message_id   TEXT NOT NULL,
  digest       BLOB NOT NULL,
  conversation TEXT NOT NULL,
  seq          INTEGER NOT NULL,
  status       TEXT NOT NULL,
  attempt      INTEGER NOT NULL,
  lease_ms     INTEGER,
  first_ms     INTEGER,
  runs         INTEGER NOT NULL,
  accepted_ms  INTEGER,
  expires_ms   INTEGER,
  UNIQUE (recipient, sender, message_id)
) STRICT;
INSERT INTO inbox (recipient, sender, message_id, digest, conversation, seq, status, attempt, lease_ms, first_ms, runs, accepted_ms, expires_ms)
  SELECT recipient, sender, message_id, digest, conversation, seq, status, attempt, lease_ms, first_ms, runs, accepted_ms, expires_ms
  FROM inbox_before ORDER BY accepted_ms;
DROP TABLE inbox_before;
CREATE INDEX inbox_open   ON inbox (recipient, accepted_ms, conversation, sender, seq) WHERE status = 'in-progress';
CREATE INDEX inbox_recent ON inbox (recipient, accepted_ms);
CREATE INDEX inbox_expiry ON inbox (expires_ms) WHERE status = 'settled' AND expires_ms IS NOT NULL;

-- Likewise the effects, in the order in which their keys were claimed.
ALTER TABLE effect RENAME TO effect_before;
DROP INDEX effect_expiry;
DROP INDEX effect_conversation;
CREATE TABLE effect (
  id           INTEGER PRIMARY KEY,
  recipient    TEXT NOT NULL,
  sender       TEXT NOT NULL,
  capability   TEXT NOT NULL,
  key          TEXT NOT NULL,
  fingerprint  BLOB,
  conversation TEXT NOT NULL,
  status       TEXT NOT NULL,
  at_ms        INTEGER,
  expires_ms   INTEGER,
  UNIQUE (recipient, sender, key, capability)
) STRICT;
INSERT INTO effect (recipient, sender, capability, key, fingerprint, conversation, status, at_ms, expires_ms)
  SELECT recipient, sender, capability, key, fingerprint, conversation, status, at_ms, expires_ms FROM effect_before ORDER BY at_ms;
DROP TABLE effect_before;
CREATE INDEX effect_expiry       ON effect (expires_ms) WHERE status = 'ended';
CREATE INDEX effect_conversation ON effect (recipient, conversation);

-- A message that opened what its sender reads is remembered as long as that, also if
-- the inbox had forgotten it.
INSERT INTO inbox (recipient, sender, message_id, digest, conversation, seq, status, attempt, runs, accepted_ms)
  SELECT l.owner, l.peer, l.message_id, l.digest, l.conversation, 1, 'settled', 1, 0, l.at_ms
  FROM log l JOIN exchange x ON x.owner = l.owner AND x.conversation = l.conversation AND x.peer = l.peer
  WHERE l.idx = 1 AND l.kind = 'received' AND l.message_id <> '' AND x.mailbox = 1 ORDER BY l.id
  ON CONFLICT DO NOTHING;
UPDATE inbox SET expires_ms = NULL WHERE EXISTS (SELECT 1 FROM exchange WHERE owner = inbox.recipient
  AND conversation = inbox.conversation AND peer = inbox.sender AND mailbox = 1);
