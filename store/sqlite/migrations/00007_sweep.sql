-- +goose Up

-- What may be forgotten, the oldest first.
CREATE INDEX inbox_expiry   ON inbox (expires_ms)     WHERE status = 'settled';
CREATE INDEX effect_expiry  ON effect (expires_ms)    WHERE status = 'ended';
CREATE INDEX exchange_ended ON exchange (ended_ms, id) WHERE outcome <> '';
CREATE INDEX command_done   ON command (done_ms, id)  WHERE done_ms IS NOT NULL;

-- What leans on a conversation.
CREATE INDEX effect_conversation      ON effect (recipient, conversation);
CREATE INDEX dead_letter_conversation ON dead_letter (owner, conversation);
