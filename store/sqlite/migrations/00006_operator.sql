-- +goose Up

-- How urgent a message is, 0 for high to 2 for low, in the words of priority,
-- and the terms on which it is sent again.
ALTER TABLE outbox ADD COLUMN rank         INTEGER NOT NULL DEFAULT 1;
ALTER TABLE outbox ADD COLUMN priority     TEXT    NOT NULL DEFAULT '';
ALTER TABLE outbox ADD COLUMN max_attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN backoff_ms   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN jitter       TEXT    NOT NULL DEFAULT '';

-- What may leave, of everybody and of one owner, by rank and time.
DROP INDEX outbox_due;
DROP INDEX outbox_owner;
CREATE INDEX outbox_due   ON outbox (rank, next_ms, id) WHERE status = 'pending' AND waits = 0;
CREATE INDEX outbox_owner ON outbox (owner, rank, next_ms, id) WHERE status = 'pending' AND waits = 0;

-- An owner's outbox and inbox, for lists that begin with the newest row.
CREATE INDEX outbox_status ON outbox (owner, status, id);
CREATE INDEX inbox_recent  ON inbox (recipient, accepted_ms);

-- Messages that were given up. A large envelope is kept as in log.
CREATE TABLE dead_letter (
  id           INTEGER PRIMARY KEY,
  owner        TEXT NOT NULL,
  source       TEXT NOT NULL,
  peer         TEXT NOT NULL,
  message_id   TEXT NOT NULL,
  digest       BLOB NOT NULL,
  conversation TEXT NOT NULL,
  reason       TEXT NOT NULL,
  last_error   TEXT NOT NULL,
  attempts     INTEGER NOT NULL,
  at_ms        INTEGER,
  envelope     BLOB,
  cut          INTEGER NOT NULL,
  blob         BLOB REFERENCES blob (sum),
  UNIQUE (owner, source, peer, message_id, digest)
) STRICT;
CREATE INDEX dead_letter_recent ON dead_letter (at_ms, id);
CREATE INDEX dead_letter_owner  ON dead_letter (owner, at_ms, id);

-- Who refers to a blob.
CREATE INDEX log_blob         ON log (blob)         WHERE blob IS NOT NULL;
CREATE INDEX dead_letter_blob ON dead_letter (blob) WHERE blob IS NOT NULL;

-- What operators ask of the host. done_ms is NULL while a command waits.
CREATE TABLE command (
  id           TEXT PRIMARY KEY,
  verb         TEXT NOT NULL,
  owner        TEXT NOT NULL,
  conversation TEXT NOT NULL,
  peer         TEXT NOT NULL,
  message_id   TEXT NOT NULL,
  source       TEXT NOT NULL,
  asked_by     TEXT NOT NULL,
  at_ms        INTEGER,
  done_ms      INTEGER,
  answer       TEXT NOT NULL,
  error        TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX command_waiting ON command (at_ms, id) WHERE done_ms IS NULL;
