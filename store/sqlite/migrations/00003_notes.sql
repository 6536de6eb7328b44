-- +goose Up

-- What an entry without a message says. No two entries share one, so even a
-- large note stands in its row.
ALTER TABLE log ADD COLUMN note BLOB;
