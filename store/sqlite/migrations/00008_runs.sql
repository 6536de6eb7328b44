-- +goose Up

-- How many lives of a host ended while they held the lease, and what the end of
-- the lease was when it was taken. A lease of a file of an earlier version says
-- nothing: nobody could give one back.
ALTER TABLE inbox ADD COLUMN runs     INTEGER NOT NULL DEFAULT 0;
ALTER TABLE inbox ADD COLUMN first_ms INTEGER;
UPDATE inbox SET lease_ms = NULL WHERE status = 'in-progress';
