-- +goose Up

-- The bodies of large envelopes, named by their sha256, so that entries with
-- the same bytes share one.
CREATE TABLE blob (
  sum  BLOB PRIMARY KEY,
  body BLOB NOT NULL
) STRICT;

-- The blob that holds an entry's envelope; then envelope is NULL.
ALTER TABLE log ADD COLUMN blob BLOB REFERENCES blob (sum);

-- An owner's conversations, newest first.
CREATE INDEX exchange_opened ON exchange (owner, id);
