-- +goose Up

-- The next timer of an exchange, due at due_ms, stands in its row: a step then writes
-- no other table, and two indexes with one entry for each live exchange, where three
-- had one for each timer.
ALTER TABLE exchange ADD COLUMN timer  TEXT    NOT NULL DEFAULT '';
ALTER TABLE exchange ADD COLUMN due_ms INTEGER;
UPDATE exchange SET (timer, due_ms) = (SELECT name, at_ms FROM timer t WHERE t.owner = exchange.owner AND t.conversation = exchange.conversation
  AND t.peer = exchange.peer ORDER BY at_ms, name LIMIT 1) WHERE outcome = '' AND EXISTS (SELECT 1 FROM timer t
  WHERE t.owner = exchange.owner AND t.conversation = exchange.conversation AND t.peer = exchange.peer);
DROP TABLE timer;

DROP INDEX exchange_live;
CREATE INDEX exchange_live ON exchange (owner, due_ms) WHERE outcome = '';
CREATE INDEX exchange_due  ON exchange (due_ms, owner) WHERE due_ms IS NOT NULL;
