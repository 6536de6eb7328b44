-- +goose Up
-- The tables of one Parley store.
--
-- Every key starts with the owning agent's URI (an inbox row's and an effect's
-- owner is its recipient). Times are milliseconds since 1970 UTC; NULL stands
-- for no time. Tables with large rows keep their rowid, the others need none.

CREATE TABLE meta (
  only       INTEGER PRIMARY KEY CHECK (only = 1),
  generation INTEGER NOT NULL,
  secret     BLOB
) STRICT;

CREATE TABLE identity (
  owner TEXT PRIMARY KEY,
  seed  BLOB
) STRICT, WITHOUT ROWID;

-- The id gives the order in which exchanges were opened. body is the state as
-- JSON; protocol, role, state and outcome are lifted from it for queries.
CREATE TABLE exchange (
  id                  INTEGER PRIMARY KEY,
  owner               TEXT NOT NULL,
  conversation        TEXT NOT NULL,
  peer                TEXT NOT NULL,
  version             INTEGER NOT NULL,
  protocol            TEXT NOT NULL,
  role                TEXT NOT NULL,
  state               TEXT NOT NULL,
  outcome             TEXT NOT NULL,
  body                TEXT NOT NULL,
  correlation         TEXT NOT NULL,
  parent_conversation TEXT NOT NULL,
  parent_peer         TEXT NOT NULL,
  final               TEXT NOT NULL,
  opened_ms           INTEGER,
  ended_ms            INTEGER,
  UNIQUE (owner, conversation, peer)
) STRICT;
CREATE INDEX exchange_live        ON exchange (owner, id) WHERE outcome = '';
CREATE INDEX exchange_parent      ON exchange (owner, parent_conversation, parent_peer, id) WHERE parent_conversation <> '';
CREATE INDEX exchange_correlation ON exchange (owner, correlation, id);

-- The timers of an exchange, replaced whenever it is written.
CREATE TABLE timer (
  owner        TEXT NOT NULL,
  conversation TEXT NOT NULL,
  peer         TEXT NOT NULL,
  name         TEXT NOT NULL,
  at_ms        INTEGER NOT NULL,
  PRIMARY KEY (owner, conversation, peer, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX timer_due ON timer (owner, at_ms);

-- hash stands before envelope so that reading the head of a log does not read
-- the body of its last message.
CREATE TABLE log (
  id           INTEGER PRIMARY KEY,
  owner        TEXT NOT NULL,
  conversation TEXT NOT NULL,
  idx          INTEGER NOT NULL,
  hash         BLOB NOT NULL,
  peer         TEXT NOT NULL,
  kind         TEXT NOT NULL,
  at_ms        INTEGER,
  event        TEXT NOT NULL,
  from_state   TEXT NOT NULL,
  to_state     TEXT NOT NULL,
  message_id   TEXT NOT NULL,
  digest       BLOB NOT NULL,
  reason       TEXT NOT NULL,
  envelope     BLOB,
  UNIQUE (owner, conversation, idx)
) STRICT;
CREATE INDEX log_message ON log (owner, message_id, kind, id) WHERE message_id <> '';

CREATE TABLE inbox (
  recipient    TEXT NOT NULL,
  sender       TEXT NOT NULL,
  message_id   TEXT NOT NULL,
  digest       BLOB NOT NULL,
  conversation TEXT NOT NULL,
  seq          INTEGER NOT NULL,
  status       TEXT NOT NULL,
  attempt      INTEGER NOT NULL,
  lease_ms     INTEGER,
  accepted_ms  INTEGER,
  expires_ms   INTEGER,
  PRIMARY KEY (recipient, sender, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX inbox_open ON inbox (recipient, accepted_ms, conversation, sender, seq) WHERE status = 'in-progress';

-- The id gives the order in which messages leave. next_ms is never NULL, so
-- that a row without a time sorts first and may leave at once.
CREATE TABLE outbox (
  id           INTEGER PRIMARY KEY,
  owner        TEXT NOT NULL,
  message_id   TEXT NOT NULL,
  conversation TEXT NOT NULL,
  receiver     TEXT NOT NULL,
  status       TEXT NOT NULL,
  attempt      INTEGER NOT NULL,
  next_ms      INTEGER NOT NULL,
  expires_ms   INTEGER,
  overtakes    INTEGER NOT NULL,
  last_error   TEXT NOT NULL,
  UNIQUE (owner, message_id)
) STRICT;
CREATE INDEX outbox_exchange ON outbox (owner, conversation, receiver, id);
CREATE INDEX outbox_due      ON outbox (owner, next_ms, id) WHERE status = 'pending';
CREATE INDEX outbox_line     ON outbox (owner, conversation, receiver, id) WHERE status = 'pending' AND overtakes = 0;

CREATE TABLE effect (
  recipient    TEXT NOT NULL,
  sender       TEXT NOT NULL,
  capability   TEXT NOT NULL,
  key          TEXT NOT NULL,
  fingerprint  BLOB,
  conversation TEXT NOT NULL,
  status       TEXT NOT NULL,
  at_ms        INTEGER,
  expires_ms   INTEGER,
  PRIMARY KEY (recipient, sender, capability, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE turn (
  id           INTEGER PRIMARY KEY,
  owner        TEXT NOT NULL,
  conversation TEXT NOT NULL,
  peer         TEXT NOT NULL,
  ordinal      INTEGER NOT NULL,
  kind         TEXT NOT NULL,
  name         TEXT NOT NULL,
  data         BLOB,
  at_ms        INTEGER,
  UNIQUE (owner, conversation, peer, ordinal)
) STRICT;
