-- +goose Up

-- What the carrier calls an exchange, whether the peer reads the owner's acts
-- there, and when the last step was taken. moved_ms is never NULL, so that an
-- exchange without a time, which has that of the year 1, sorts last.
ALTER TABLE exchange ADD COLUMN task     TEXT    NOT NULL DEFAULT '';
ALTER TABLE exchange ADD COLUMN mailbox  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE exchange ADD COLUMN moved_ms INTEGER NOT NULL DEFAULT -62135596800000;
UPDATE exchange SET moved_ms = coalesce(ended_ms, opened_ms, moved_ms);

CREATE INDEX exchange_task       ON exchange (owner, task, id) WHERE task <> '';
CREATE INDEX exchange_mailbox    ON exchange (owner, peer, moved_ms DESC, task) WHERE mailbox = 1 AND parent_conversation = '';
CREATE INDEX exchange_mailbox_of ON exchange (owner, peer, correlation, moved_ms DESC, task) WHERE mailbox = 1 AND parent_conversation = '';

-- The keys that agents were first met with.
CREATE TABLE pin (
  uri     TEXT PRIMARY KEY,
  key     BLOB NOT NULL,
  origin  TEXT NOT NULL,
  at_ms   INTEGER
) STRICT, WITHOUT ROWID;

-- Where carriers post what happens under a task. place stands for how far that
-- has come, in the carrier's own words.
CREATE TABLE callback (
  owner      TEXT NOT NULL,
  task       TEXT NOT NULL,
  id         TEXT NOT NULL,
  peer       TEXT NOT NULL,
  config     BLOB NOT NULL,
  place      TEXT NOT NULL,
  done       INTEGER NOT NULL,
  attempt    INTEGER NOT NULL,
  next_ms    INTEGER,
  created_ms INTEGER,
  PRIMARY KEY (owner, task, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX callback_open ON callback (owner, task, id) WHERE done = 0;
