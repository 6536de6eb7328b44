-- +goose Up

-- Where in envelope the blob belongs: a blob holds the content of a large
-- envelope, and envelope what is left of it. Where a blob is a whole envelope,
-- as all were until now, envelope stays NULL and the blob belongs at 0.
ALTER TABLE log ADD COLUMN cut INTEGER NOT NULL DEFAULT 0;
