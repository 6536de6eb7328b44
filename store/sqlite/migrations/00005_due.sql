-- +goose Up

-- Whether a row stands behind an earlier pending one of its line, so that what
-- may leave is found without a look at what may not.
ALTER TABLE outbox ADD COLUMN waits INTEGER NOT NULL DEFAULT 0;
UPDATE outbox SET waits = 1 WHERE status = 'pending' AND overtakes = 0 AND EXISTS (SELECT 1 FROM outbox e
  WHERE e.owner = outbox.owner AND e.conversation = outbox.conversation AND e.receiver = outbox.receiver
  AND e.status = 'pending' AND e.overtakes = 0 AND e.id < outbox.id);

-- What is due, of everybody and of one owner.
DROP INDEX timer_due;
DROP INDEX outbox_due;
CREATE INDEX timer_due    ON timer (at_ms, owner, conversation, peer, name);
CREATE INDEX timer_owner  ON timer (owner, at_ms);
CREATE INDEX outbox_due   ON outbox (next_ms, id) WHERE status = 'pending' AND waits = 0;
CREATE INDEX outbox_owner ON outbox (owner, next_ms, id) WHERE status = 'pending' AND waits = 0;
